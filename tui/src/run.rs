//! A collective on the command line: from the words of a person to a sweep of sizes, and to the table of what it took.

mod amount;
mod job;
mod sweep;
pub(crate) mod table;

pub use job::Going;
pub(crate) use job::{Job, Turn};
pub use sweep::Sweep;
pub use table::{ChipMeasured, Measured};
