//! The outcome of a run.

use launch::outcome::RunError;

/// How a run ends.
#[derive(Debug)]
pub(super) enum RunEnd {
    /// Regularly.
    Whole,
    /// Cancelled.
    Cancelled,
    /// Cancelled, but a kernel did not end gracefully.
    Stuck,
    /// With an error.
    Failed(RunError),
}
