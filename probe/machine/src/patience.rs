//! How long to wait for a machine.

use crate::snapshot::AccessError;
use std::time::Duration;

/// How long to wait for the far side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// In the target's own time, per command.
    pub deadline_cycles: u64,
    /// In the target's own time, for all of one chip in one look.
    pub chip_cycles: u64,
    /// In the target's own time: after so long a gateway that did not lead to a chip is asked for it again. A link may have
    /// come back, and a question that is refused costs a millisecond.
    pub retry_cycles: u64,
    /// In host time: only to catch a dead driver or child.
    pub watchdog: Duration,
}

impl Default for Patience {
    /// A yielding application answers within its yield period; 4 ms are ten times the slowest seen.
    fn default() -> Self {
        // All of a chip's L1 in words through a queue takes less than a second.
        Self {
            deadline_cycles: 4_000_000,
            chip_cycles: 1_000_000_000,
            retry_cycles: 1_000_000_000,
            watchdog: Duration::from_mins(1),
        }
    }
}

impl Patience {
    /// The error of a command that ran out of time.
    pub fn timed_out(&self) -> AccessError {
        AccessError::TimedOut { deadline_cycles: self.deadline_cycles }
    }
}
