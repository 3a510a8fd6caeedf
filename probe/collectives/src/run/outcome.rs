//! What comes of a run.

use launch::outcome::RunError;

/// How a run ends.
#[derive(Debug)]
pub(super) enum RunEnd {
    /// As it was meant to.
    Whole,
    /// A person wanted it to end.
    Cancelled,
    /// A person wanted it to end, and some kernel did not end gracefully.
    Stuck,
    /// Something went wrong.
    Failed(RunError),
}
