//! What is to be sent again, and over which fabric.

use super::{Replay, ReplayTask};
use crate::exit::Failure;
use crate::run::job::may_change;
use fabric::random::RandomTraffic;
use fabric::trace::{Trace, TraceHead};
use fabric::{Division, Fabric, FabricPlan, FabricRequest, FabricSettings, running_fabric};
use files::Kind;
use images::ImageMap;
use launch::{ControlError, Operation};
use layouts::ChipId;
use machine::fabric::FabricTopology;
use machine::fault::Fault;
use machine::target::Target;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// What is to be sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayOrder {
    /// The file with its packets.
    pub file: PathBuf,
    /// The chips of the fabric that is brought up; empty: all.
    pub chips: Vec<ChipId>,
    /// What its routers are built for; none: as those of the trace.
    pub topology: Option<FabricTopology>,
    /// Its routing planes; none: as many as every edge has links.
    pub planes: Option<u32>,
    /// Faults, in cycles from the first packet.
    pub faults: Vec<Fault>,
    /// Without progress for so long it fails, in cycles.
    pub deadline_cycles: u64,
}

/// Reads a trace.
///
/// # Errors
/// `Usage` with the file and the line that is none of a trace.
pub fn read_trace_file(path: &Path) -> Result<Trace, Failure> {
    let text = files::read_text(path, Kind::TRACE);
    let text = text.map_err(|error| Failure::Usage(error.to_string()))?;
    Trace::parse(&text).map_err(|why| Failure::Usage(format!("{}: {why}", path.display())))
}

impl Replay {
    /// Checks what can be checked without the machine's words, but for those of a running fabric.
    ///
    /// # Errors
    /// `Usage` for what this mesh cannot do, `Refused` for a target that cannot be changed.
    pub fn new(
        order: &ReplayOrder,
        trace: &Trace,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<Self, Failure> {
        may_change(target)?;
        for fault in &order.faults {
            target.mesh().check_fault(fault).map_err(|error| Failure::Usage(error.to_string()))?;
        }
        let name = target.name().to_owned();
        let failed = |error: &ControlError| Failure::of_control(&name, error);
        let running = running_fabric(target, images).map_err(|error| failed(&error))?;
        if let Some(plan) = &running {
            plan.check_whole().map_err(Failure::Usage)?;
        }
        let is_found = running.is_some();
        let plan =
            running.map_or_else(|| order.plan(&trace.head, target), |plan| order.fits(plan))?;
        let random = RandomTraffic::new(target.mesh(), &plan).map_err(|error| failed(&error))?;
        let file = order.file.display().to_string();
        let load = random.replay(images, &trace.packets);
        let load = load.map_err(|error| Failure::of_control(&file, &error))?;
        let settings = FabricSettings::default();
        let fabric =
            if is_found { Fabric::found(plan, settings) } else { Fabric::new(plan, settings) };
        let mut tasks = VecDeque::from([ReplayTask::Survey]);
        if !is_found {
            tasks.push_back(ReplayTask::Up((0, 1)));
        }
        let watch = ReplayTask::Watch(super::Watch::default());
        tasks.extend([ReplayTask::Launch, watch, ReplayTask::Count]);
        if !is_found {
            tasks.push_back(ReplayTask::Down((0, 1)));
        }
        Ok(Self {
            random,
            load,
            fabric,
            is_found,
            faults: order.faults.clone(),
            deadline_cycles: order.deadline_cycles,
            tasks,
            is_ours: false,
            error: None,
            senders: Vec::new(),
            outcomes: Vec::new(),
        })
    }

    /// Packets that were added behind those of the trace, so that receivers check them.
    pub fn added(&self, trace: &Trace) -> u64 {
        self.load.packets.saturating_sub(trace.packets.len() as u64)
    }

    /// The operations of its launch, if no tile runs anything yet. Accesses nothing.
    ///
    /// # Errors
    /// When an image is missing or something does not fit.
    pub fn operations(&self, images: &ImageMap) -> Result<Vec<Operation>, ControlError> {
        // Records changes in a copy, since nothing is carried out.
        let mut images = images.clone();
        let boots = self.tiles().into_iter();
        let boots =
            boots.map(|it| launch::boot_tensix(&mut images, launch::Firmware::BUILT_IN, it));
        let mut all = boots.collect::<Result<Vec<_>, _>>()?;
        if !self.is_found {
            all.extend(self.fabric.writes(&mut images)?);
        }
        all.extend(self.random.launch(&mut images, &self.load, 1)?.into_iter().flatten());
        Ok(all)
    }
}

impl ReplayOrder {
    /// Plans a fabric of the trace's shape.
    fn plan(&self, head: &TraceHead, target: &dyn Target) -> Result<FabricPlan, Failure> {
        let topology = self.topology.unwrap_or(head.topology);
        let meshes = head.meshes.len();
        let request = FabricRequest {
            chips: self.chips.clone(),
            planes: self.planes,
            division: if meshes > 1 { Division::Parts(meshes) } else { Division::Whole },
            dateline: head.dateline.unwrap_or(true),
            ..FabricRequest::new(topology)
        };
        FabricPlan::new(target.mesh(), &request)
            .map_err(|error| Failure::Usage(format!("{}: {error}", target.name())))
    }

    /// Returns the fabric that runs, if it is the one that is asked for.
    fn fits(&self, plan: FabricPlan) -> Result<FabricPlan, Failure> {
        let given = [("--chips", !self.chips.is_empty()), ("--planes", self.planes.is_some())];
        if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
            let why = format!("{option}: a {} runs on the mesh", plan.topology);
            return Err(Failure::Usage(why));
        }
        match self.topology {
            Some(wanted) if wanted != plan.topology => Err(Failure::Usage(format!(
                "--fabric {wanted}: a {} runs on the mesh",
                plan.topology
            ))),
            _ => Ok(plan),
        }
    }
}
