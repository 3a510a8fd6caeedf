//! A scene: a mesh, what runs on it, what goes wrong, and a seed; built here and handed to the emulator.
//!
//! What flash and ARC do on silicon happens at power on: base firmware, its boot parameters and its
//! routing table are in the Ethernet tiles. Everything after that goes through the bus, by the same
//! control code as on any machine.

mod describe;
pub mod firmware;
pub mod power_on;
mod telemetry;

use access::bar_target::BarTarget;
use decode::images::ImageMap;
pub use describe::described;
use fabric::random::{Draw, RandomTraffic, TrafficPattern};
use fabric::{Fabric, FabricError, FabricPlan, FabricRequest, FabricSettings};
use firmware::Given;
use launch::outcome::RunError;
use launch::{
    self, ControlError, Firmware, Operation, Pattern, RingPing, RingPingSettings, boot_tensix,
    launch_worker,
};
use layouts::{ChipKind, ClusterDescriptor, DescriptorError};
use machine::bar::Bar;
use machine::fabric::FabricTopology;
use machine::fault::{Fault, FaultError};
use machine::patience::Patience;
use machine::place::Place;
use machine::snapshot::AccessError;
use machine::target::{Abilities, Allow, Mesh, Target};
use std::fmt;
use std::path::PathBuf;
use transport::emulator_bar::{self, EmulatorBar};
use transport::hosts::HostBar;

/// What runs on the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Base firmware and Tensix firmware only.
    Idle,
    /// A payload goes round a ring of links for ever, and compute tiles write patterns.
    RingPing,
    /// Routers of a fabric, ready for traffic; compute tiles are free.
    Fabric,
}

/// How fast emulated time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As fast as the host can.
    Max,
    /// So many cycles in each host second.
    CyclesPerSecond(u64),
}

/// An idle chip takes about 14 MB of the host: with more of them a host without much memory is in danger.
const MOST_EMULATED_CHIPS: usize = 128;

/// A person can follow a hop of the default ring ping at this pace: it rests half a second.
pub const DEFAULT_PACE: Pace = Pace::CyclesPerSecond(10_000_000);
/// A scene that is not told when to start starts at 10 ms, which leaves room for the boot of a small
/// mesh, so that what one-shot verbs print does not hang on how long booting takes.
pub const HANDOVER_CYCLES: u64 = 10_000_000;
/// Firmware for 2,560 compute tiles, most of it through queues several hops long, would keep a person
/// waiting for minutes: a mesh of more chips than this starts a few tiles of each, the others stay in reset.
const SMALL_MESH_CHIPS: usize = 8;
/// Compute tiles that run of each chip of a larger mesh: two, and one where everything goes through queues.
const LARGE_MESH_TILES: usize = 2;
const LARGE_MESH_FAR_TILES: usize = 1;
/// The same moment on a larger mesh, whose cycles cost the host much more: it is not kept waiting.
const LARGE_HANDOVER_CYCLES: u64 = 1_000_000;
/// Rest at each hop, in cycles.
const DELAY_CYCLES: u32 = 5_000_000;
/// Rest of the worker between two patterns, in cycles.
const WORKER_REST_CYCLES: u32 = 2_000_000;
/// How long a fabric is let alone between two looks at how far it is, in cycles.
const FABRIC_STEP_CYCLES: u64 = 2_000;
/// Where the worker's pattern goes and how many words it has.
const PATTERN: Pattern =
    Pattern { address: 0x2_0000, words: 16, interval_cycles: WORKER_REST_CYCLES };

/// A scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// Name of a shipped mesh, or the path of a cluster descriptor or of a system specification.
    pub mesh: String,
    /// How it is cabled, as its system specification calls it; plainly if not told.
    pub cabling: Option<String>,
    /// The host whose PCIe devices are there, by its number; those of all hosts if not told.
    pub host: Option<u16>,
    /// What runs; if not told, the ring ping where the mesh has a ring and runs firmware of this house, else
    /// nothing but firmware.
    pub run: Option<Workload>,
    /// What fabric runs, if one does.
    pub fabric: FabricRequest,
    /// Cycles between two reports of its rate by each router of the fabric; 0: none.
    pub fabric_rate_cycles: u32,
    /// Packets that workers send each other at random over the fabric, by the seed.
    pub traffic: u64,
    /// Between whom.
    pub pattern: TrafficPattern,
    /// Compute tiles of each chip that run firmware, at most; as many as the mesh is small enough for if not told.
    pub tiles: Option<usize>,
    /// A folder with tt-metal's firmware, which runs instead of this house's own over its base firmware.
    pub firmware: Option<PathBuf>,
    /// Emulated time at which the scene is handed over; the first whole multiple of
    /// [`HANDOVER_CYCLES`] at which it runs if not told.
    pub at_cycles: Option<u64>,
    /// How fast time passes for those who watch.
    pub pace: Pace,
    /// Seed of everything that a real machine does not promise.
    pub seed: u64,
    /// What goes wrong, by the emulated time since power on as `at_cycles`; from the hand-over on where no time is told.
    pub faults: Vec<Fault>,
}

impl Scene {
    /// The default scene on a mesh.
    pub fn new(mesh: impl Into<String>) -> Self {
        Self {
            mesh: mesh.into(),
            cabling: None,
            host: None,
            run: None,
            fabric: FabricRequest::new(FabricTopology::Mesh),
            fabric_rate_cycles: 0,
            traffic: 0,
            pattern: TrafficPattern::default(),
            tiles: None,
            firmware: None,
            at_cycles: None,
            pace: DEFAULT_PACE,
            seed: 0,
            faults: Vec::new(),
        }
    }

    /// Builds the mesh, powers it on, and launches the workload through the bus.
    ///
    /// # Errors
    /// What kept the scene from being built.
    pub fn build(&self, images: &mut ImageMap) -> Result<BarTarget, SceneError> {
        let bar = Box::new(EmulatorBar::new(self.power_on(images)?));
        self.start(bar, images)
    }

    /// Boots the firmware and launches the workload over the bus of a mesh at power on.
    ///
    /// # Errors
    /// What kept the scene from starting.
    pub fn start(&self, bar: Box<dyn Bar>, images: &mut ImageMap) -> Result<BarTarget, SceneError> {
        // A mesh of this very process costs nobody else anything.
        let abilities = Abilities { allow: Allow::ALL, budget: None, ..emulator_bar::abilities() };
        let name = format!("emulator:{}", self.mesh);
        let host = self.host.map(|host| self.descriptor().map(|mesh| (host, mesh))).transpose()?;
        if let Some((host, mesh)) = &host {
            describe::checked(*host, &name, mesh)?;
        }
        let patience = Patience::default();
        let mut target = BarTarget::open(&name, bar, abilities.clone(), patience)?;
        if host.is_none() {
            self.faults.iter().try_for_each(|fault| target.mesh().check_fault(fault))?;
        }
        self.boot(&mut target, images)?;
        if let Some((host, mesh)) = &host {
            // Every host has booted its own chips; from here on there is one of them.
            let bar = Box::new(HostBar::of(mesh, *host, target.into_bar()));
            target = BarTarget::open(&name, bar, abilities, patience)?;
            self.faults.iter().try_for_each(|fault| target.mesh().check_fault(fault))?;
        }
        let ready = target.now()?;
        let left = time_left(self.at_cycles, ready, &target)?;
        for fault in &self.faults {
            target.disrupt(&fault.of_scene(ready, ready + left)?)?;
        }
        target.pass(left)?;
        Ok(target)
    }

    /// The mesh at the moment of power on.
    ///
    /// # Errors
    /// What is wrong with the mesh or its description.
    pub fn power_on(&self, images: &ImageMap) -> Result<emulator::Mesh, SceneError> {
        emulator::Mesh::new(self.config(images)?).map_err(|e| SceneError::Mesh(e.to_string()))
    }

    /// What the emulator is told of the mesh.
    ///
    /// # Errors
    /// What is wrong with the mesh or its description.
    pub fn config(&self, images: &ImageMap) -> Result<emulator::MeshConfig, SceneError> {
        power_on::config(&self.descriptor()?, images, self.seed)
    }

    /// The descriptor of the whole mesh, all its hosts together.
    ///
    /// # Errors
    /// What is wrong with the mesh or its description.
    pub fn descriptor(&self) -> Result<ClusterDescriptor, SceneError> {
        let called = format!("emulator:{}", self.mesh);
        let described = describe::cabled(&self.mesh, self.cabling.as_deref(), &called)?;
        match described.chips.len() {
            0..=MOST_EMULATED_CHIPS => Ok(described),
            chips => Err(SceneError::Mesh(format!(
                "{called} has {chips} chips; at most {MOST_EMULATED_CHIPS} are emulated"
            ))),
        }
    }

    /// Firmware on every compute tile; for a workload also the kernels.
    fn boot(&self, target: &mut BarTarget, images: &mut ImageMap) -> Result<(), SceneError> {
        let ring = self.ring(target.mesh())?;
        let fabric = (self.run == Some(Workload::Fabric))
            .then(|| FabricPlan::new(target.mesh(), &self.fabric).map_err(SceneError::Fabric));
        let fabric = fabric.transpose()?;
        let kind = target.mesh().kind;
        let given = self.firmware.as_deref().map(|folder| Given::read(kind, folder)).transpose()?;
        let given = given.map(|given| given.add_to(images));
        let few = target.mesh().chips.len() > SMALL_MESH_CHIPS;
        let tiles = compute_tiles(target, few, self.tiles.unwrap_or(usize::MAX));
        if let Some(firmware) = given {
            firmware::boot(firmware, &tiles, target, images)?;
        } else {
            let boots = tiles.iter().map(|&place| boot_tensix(images, Firmware::OURS, place));
            Operation::finish_all(boots.collect::<Result<_, _>>()?, target)?;
        }
        if let Some(plan) = fabric {
            let settings = FabricSettings {
                rate_interval_cycles: self.fabric_rate_cycles,
                ..FabricSettings::default()
            };
            let mut fabric = Fabric::new(plan.clone(), settings);
            fabric
                .finish(target, images, FABRIC_STEP_CYCLES)
                .map_err(SceneError::of_run(target))?;
            self.send_at_random(&plan, target, images)?;
        }
        let Some(ring) = ring else { return Ok(()) };
        let workers = (1..)
            .zip(&tiles)
            .map(|(seed, &place)| launch_worker(images, Firmware::OURS, place, PATTERN, seed));
        Operation::finish_all(workers.collect::<Result<_, _>>()?, target)?;
        ring.prepare(images)?.finish(target)?;
        let settings =
            RingPingSettings { delay_cycles: DELAY_CYCLES, ..RingPingSettings::default() };
        ring.launch(images, &settings)?.finish(target)?;
        Ok(())
    }

    /// Workers that send each other packets over the fabric.
    fn send_at_random(
        &self,
        plan: &FabricPlan,
        target: &mut BarTarget,
        images: &mut ImageMap,
    ) -> Result<(), SceneError> {
        if self.traffic == 0 {
            return Ok(());
        }
        let random = RandomTraffic::new(target.mesh(), plan)?;
        let Self { seed, traffic: packets, pattern, .. } = *self;
        let draw = Draw { seed, packets, pattern, mux_percent: 0 };
        let load = random.draw(images, draw)?;
        for stage in random.launch(images, &load, 1)? {
            Operation::finish_all(stage, target)?;
        }
        Ok(())
    }

    /// Where the ring ping runs, if it does: a person who asked for it hears that there is no ring.
    fn ring(&self, mesh: &Mesh) -> Result<Option<RingPing>, SceneError> {
        if let Some(folder) = &self.firmware {
            return match self.run {
                Some(run @ (Workload::RingPing | Workload::Fabric)) => {
                    Err(SceneError::Firmware(format!(
                        "{}: run={} is for firmware of this house: tt-metal's runs kernels out of instruction RAM, \
                     for which ours are not linked",
                        folder.display(),
                        if run == Workload::Fabric { "fabric" } else { "ring-ping" }
                    )))
                }
                _ => Ok(None),
            };
        }
        if let Some(Workload::Idle | Workload::Fabric) = self.run {
            return Ok(None);
        }
        match RingPing::on(mesh) {
            Ok(ring) => Ok(Some(ring)),
            Err(ControlError::NoRing) if self.run.is_none() => Ok(None),
            Err(ControlError::NoRing) => Err(SceneError::NoRing(self.mesh.clone())),
            Err(other) => Err(other.into()),
        }
    }
}

/// Boots given firmware on a machine that is not this program's own, and lets time pass up to the moment
/// that was asked for.
///
/// # Errors
/// What did not come up.
pub fn boot_given(
    given: Given,
    at_cycles: Option<u64>,
    target: &mut dyn Target,
    images: &mut ImageMap,
) -> Result<(), SceneError> {
    let given = given.add_to(images);
    // A simulator of others is slow for every core that runs.
    let tiles = compute_tiles(target, true, usize::MAX);
    firmware::boot(given, &tiles, target, images)?;
    if at_cycles.is_some() {
        let now = target.now()?;
        let left = time_left(at_cycles, now, target)?;
        target.pass(left)?;
    }
    Ok(())
}

/// How long it is from now to the hand-over: to the moment that was asked for, or to the next round one.
fn time_left(at_cycles: Option<u64>, now: u64, target: &dyn Target) -> Result<u64, SceneError> {
    let large = target.mesh().chips.len() > SMALL_MESH_CHIPS;
    let round = if large { LARGE_HANDOVER_CYCLES } else { HANDOVER_CYCLES };
    let at_cycles = at_cycles.unwrap_or_else(|| now.next_multiple_of(round));
    at_cycles.checked_sub(now).ok_or(SceneError::TooEarly { at_cycles, earliest_cycles: now })
}

/// The compute tiles that run: those that are not fused off, or only a few of each chip, and no more than so many.
fn compute_tiles(target: &dyn Target, few: bool, most: usize) -> Vec<Place> {
    let of_chip = |chip: &machine::target::Chip| {
        let room = match (few, chip.pcie) {
            (false, _) => usize::MAX,
            (true, true) => LARGE_MESH_TILES,
            (true, false) => LARGE_MESH_FAR_TILES,
        };
        target.mesh().compute_tiles(chip.id).take(most.min(room))
    };
    target.mesh().chips.iter().flat_map(of_chip).collect()
}

/// Why a scene cannot be built.
#[derive(Debug)]
pub enum SceneError {
    /// No shipped mesh has this name; the names that there are.
    NoMesh(String, String),
    /// The mesh cannot be cabled so, or has no such host.
    NoWord(String),
    /// The descriptor's file cannot be read.
    File(String),
    /// The descriptor is wrong.
    Descriptor(DescriptorError),
    /// The emulator refuses the mesh.
    Mesh(String),
    /// The image of base firmware is missing or lacks something.
    Image(String),
    /// The folder of firmware that a person named, or a file in it, cannot be used.
    Firmware(String),
    /// The workload could not be launched.
    Control(ControlError),
    /// A collective of a study was not finished, or a fabric did not come up, on chips of this kind.
    Run(ChipKind, RunError),
    /// Something that a study moved did not arrive as it was sent, in one sentence.
    Wrong(String),
    /// The mesh has no such fabric.
    Fabric(FabricError),
    /// The mesh, by its name, has no ring of links for the workload.
    NoRing(String),
    /// The scene was asked for at a moment at which it is not ready yet.
    TooEarly {
        /// The moment that was asked for, in cycles.
        at_cycles: u64,
        /// The first moment that can be had, in cycles.
        earliest_cycles: u64,
    },
    /// A fault on a link or core that is not there.
    Fault(FaultError),
    /// The machine did not answer.
    Access(AccessError),
}

impl SceneError {
    /// What a run on this target ended with.
    pub(crate) fn of_run(target: &dyn Target) -> impl FnOnce(RunError) -> Self + use<> {
        let kind = target.mesh().kind;
        move |error| Self::Run(kind, error)
    }
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMesh(name, known) => write!(f, "no mesh is called {name}; there is {known}"),
            Self::NoWord(why)
            | Self::File(why)
            | Self::Mesh(why)
            | Self::Image(why)
            | Self::Firmware(why)
            | Self::Wrong(why) => f.write_str(why),
            Self::Descriptor(error) => write!(f, "{error}"),
            Self::Control(error) => write!(f, "{error}"),
            Self::Fabric(error) => write!(f, "{error}"),
            Self::NoRing(mesh) => {
                write!(f, "{mesh} has no ring of links for ring-ping; run=idle shows it without")
            }
            Self::TooEarly { at_cycles, earliest_cycles } => {
                // Rounded up, so that the answer can be given back as it stands.
                let (at, first) = (at_cycles / 1_000, earliest_cycles.div_ceil(1_000));
                write!(f, "at: {at}us is too early: the scene is ready at {first}us")
            }
            Self::Fault(error) => write!(f, "{error}"),
            Self::Access(error) => write!(f, "{error}"),
            Self::Run(kind, error) => f.write_str(&error.sentence(kind.layout())),
        }
    }
}

impl std::error::Error for SceneError {}

impl From<DescriptorError> for SceneError {
    fn from(error: DescriptorError) -> Self {
        Self::Descriptor(error)
    }
}

impl From<ControlError> for SceneError {
    fn from(error: ControlError) -> Self {
        Self::Control(error)
    }
}

impl From<FaultError> for SceneError {
    fn from(error: FaultError) -> Self {
        Self::Fault(error)
    }
}

impl From<AccessError> for SceneError {
    fn from(error: AccessError) -> Self {
        Self::Access(error)
    }
}

#[cfg(test)]
mod tests;
