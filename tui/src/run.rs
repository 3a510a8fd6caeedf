//! A collective on the command line: from the words of a person to a sweep of sizes, and to the table of what it took.

mod amount;
mod board;
mod job;
mod sweep;
pub(crate) mod table;

pub(crate) use amount::shown;
pub use board::{Board, Sheet, SheetState};
pub use job::Going;
pub(crate) use job::{Job, Turn, may_change};
pub use sweep::Sweep;
pub(crate) use sweep::fault;
pub use table::{ChipMeasured, Measured};

use machine::fault::Fault;
use workloads::scene::Pace;

/// What a person orders the probe thread to do to the machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Run a collective.
    Run(Box<Sweep>),
    /// Stop the run that is under way; without one, the ring ping and its workers.
    Stop,
    /// Disturb the mesh.
    Fault(Fault),
    /// Let time pass at this pace.
    Pace(Pace),
}
