//! Collectives of the command line: from options to a sweep of sizes, and to the table of results.

mod board;
mod job;
pub mod pausing;
pub mod replay;
pub mod schedule;
mod step_order;
pub mod stepping;
mod sweep;
pub mod table;

pub use board::{Board, Bundle, Logged, Sheet, SheetState};
pub use job::Going;
pub use job::{Job, SweepTurn, may_change};
pub use schedule::Scheduled;
pub use step_order::{StepOrder, Stepped};
pub use stepping::KernelStages;
pub use sweep::{SizeStep, Sweep};
pub use table::{ChipMeasured, Measured};

use crate::halted::CoreCommand;
use crate::launching;
use crate::player::PlayOrder;
use collectives::CleanSettings;
use layouts::CoreId;
use machine::fault::Fault;
use replay::ReplayOrder;
use std::path::{Path, PathBuf};
use workloads::scene::Pace;

/// What a user orders the probe thread to do to the machine.
#[derive(Clone, Debug, PartialEq)]
pub enum MachineOrder {
    /// Run a collective.
    Run(Box<Sweep>),
    /// Show what its ranks would hand to each other, and when.
    Schedule(Box<Sweep>),
    /// Send the packets of a trace.
    Replay(Box<ReplayOrder>),
    /// Launch a person's own kernel.
    Launch(Box<launching::Order>),
    /// Stop the run or the launched kernel; without one, the ring ping and its workers.
    Stop,
    /// Pause the kernels that run.
    Pause,
    /// Let paused kernels run on.
    Resume,
    /// Let paused kernels begin their next stage.
    Step(StepOrder),
    /// Tear down whatever stands on the mesh.
    Clean(CleanSettings),
    /// Disturb the mesh.
    Fault(Fault),
    /// Show another moment of a recording.
    Play(PlayOrder),
    /// Advance the target's time at this pace.
    Pace(Pace),
    /// Record to this file or a new one, or end the recording.
    Record(Option<PathBuf>),
    /// Write what an archive to hand over is made of, for the screens to make it.
    Bundle(PathBuf),
    /// Control a core.
    Core(CoreId, CoreCommand),
}

impl MachineOrder {
    /// What a recording notes of it; nothing if it changes nothing on the mesh.
    pub fn words(&self) -> Option<String> {
        Some(match self {
            Self::Run(sweep) => format!("run {}", sweep.request().op.name()),
            Self::Replay(order) => format!("run --from {}", order.file.display()),
            Self::Launch(order) => {
                let kernel = order.elf.as_deref().map(Path::display);
                let kernel = kernel.map_or_else(String::new, |kernel| kernel.to_string());
                format!("launch {kernel} --on {}", order.on)
            }
            Self::Stop => "stop".into(),
            Self::Pause => "pause".into(),
            Self::Resume => "resume".into(),
            Self::Step(order) => format!("step {}", order.words).trim_end().to_owned(),
            Self::Clean(_) => "clean".into(),
            Self::Fault(fault) => format!("fault {fault}"),
            Self::Core(core, command) => format!("{command} on {core}"),
            Self::Schedule(_)
            | Self::Play(_)
            | Self::Pace(_)
            | Self::Record(_)
            | Self::Bundle(_) => return None,
        })
    }
}
