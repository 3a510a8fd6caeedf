//! A sweep: one collective in several sizes, as stated on the command line, and its programs on a
//! mesh.

use super::pausing::PauseAt;
use super::schedule::Scheduled;
use crate::words;
use collectives::{Program, Request, RunSettings, Transport, compile_over};
use fabric::{FabricPlan, running_fabric};
use images::ImageMap;
use machine::target::Target;

/// The step from one size to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeStep {
    /// Multiplied by this.
    Factor(u64),
    /// This many bytes more.
    Bytes(u64),
}

/// A sweep as requested, before the mesh is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// All but the size.
    pub request: Request,
    /// The sizes, in bytes, the smallest first.
    pub sizes: Vec<u64>,
    /// From one size to the next.
    pub step: SizeStep,
    /// How each size is carried out.
    pub settings: RunSettings,
    /// Where the first size is paused.
    pub pause_at: Option<PauseAt>,
}

impl Sweep {
    /// One program for each size.
    ///
    /// # Errors
    /// Why this mesh cannot carry it out, in one sentence.
    pub fn compile(
        &self,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<Vec<Program>, String> {
        let running = self.running(target, images)?;
        let mesh = target.mesh();
        for fault in &self.settings.faults {
            mesh.check_fault(fault).map_err(|error| error.to_string())?;
        }
        let compiled = |&bytes: &u64| {
            compile_over(mesh, &Request { bytes, ..self.request.clone() }, running.as_ref())
        };
        self.sizes.iter().map(compiled).collect::<Result<_, _>>().map_err(|error| error.to_string())
    }

    /// The schedule of its smallest size.
    ///
    /// # Errors
    /// Why this mesh cannot carry it out, in one sentence.
    pub fn scheduled(
        &self,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<Option<Scheduled>, String> {
        let programs = self.compile(target, images)?;
        let first = programs.first();
        Ok(first.map(|program| Scheduled::new(self.title(program), program, target.mesh())))
    }

    /// The fabric that runs on the mesh, if packets are to use it.
    fn running(
        &self,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<Option<FabricPlan>, String> {
        let Transport::Fabric(options) = self.request.transport else { return Ok(None) };
        let running = running_fabric(target, images).map_err(|error| error.to_string())?;
        if let Some(plan) = &running {
            plan.check_whole()?;
        }
        match (running, options.topology) {
            (Some(plan), Some(wanted)) if plan.topology != wanted => {
                Err(format!("--fabric {wanted}: a {} runs on the mesh", plan.topology))
            }
            (Some(plan), _) if self.pause_at == Some(PauseAt::Handshake) => Err(format!(
                "--pause-at handshake: a {} runs on the mesh, and its routers have met",
                plan.topology
            )),
            (running, _) => Ok(running),
        }
    }

    /// The sweep in one line.
    pub fn title(&self, program: &Program) -> String {
        let request = &self.request;
        let (least, most) = self.ends();
        let sizes = if least == most {
            words::bytes(least)
        } else {
            format!("{} to {}", words::bytes(least), words::bytes(most))
        };
        let ranks: Vec<_> = program.ranks.iter().map(ToString::to_string).collect();
        let (op, topology) = (request.op.name(), program.topology);
        let data_type = request.data_type.name();
        let over = match &program.crossing {
            None => String::new(),
            Some(crossing) => {
                let (muxes, fabric) = (crossing.muxes.len(), crossing.plan.topology.name());
                let plural = if muxes == 1 { "" } else { "es" };
                format!(" over a {fabric} fabric, {muxes} mux{plural}")
            }
        };
        format!("{op} {topology} {} {sizes} {data_type}{over}", ranks.join(","))
    }

    /// The request without its size.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// How each size is carried out.
    pub fn settings(&self) -> &RunSettings {
        &self.settings
    }

    /// Where the first size is paused.
    pub fn pause_at(&self) -> Option<PauseAt> {
        self.pause_at
    }

    /// The smallest and the largest size.
    pub fn ends(&self) -> (u64, u64) {
        let first = self.sizes.first().copied().unwrap_or_default();
        (first, self.sizes.last().copied().unwrap_or(first))
    }

    /// The step as nccl-tests prints it.
    pub fn step(&self) -> String {
        match self.step {
            SizeStep::Factor(factor) => format!("{factor}(factor)"),
            SizeStep::Bytes(bytes) => format!("{bytes}(bytes)"),
        }
    }
}
