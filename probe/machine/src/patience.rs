//! Deadlines for access to a machine.

use crate::snapshot::AccessError;
use std::time::Duration;

/// Deadlines for access to remote chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// In the target's own time, per command.
    pub deadline_cycles: u64,
    /// In the target's own time, for all reads of one chip in one snapshot.
    pub chip_cycles: u64,
    /// In the target's own time: when to retry a gateway that did not lead to a chip. A link may
    /// have come back, and a refused request costs a millisecond.
    pub retry_cycles: u64,
    /// In host time; only to detect a dead driver or child process.
    pub watchdog: Duration,
}

impl Default for Deadlines {
    /// An application that yields answers within its yield period; 4 ms are ten times the slowest
    /// answer seen.
    fn default() -> Self {
        // Reading all of a chip's L1 word by word through a queue takes less than a second.
        Self {
            deadline_cycles: 4_000_000,
            chip_cycles: 1_000_000_000,
            retry_cycles: 1_000_000_000,
            watchdog: Duration::from_mins(1),
        }
    }
}

impl Deadlines {
    /// Returns the error of a command that passed its deadline.
    pub fn timed_out(&self) -> AccessError {
        AccessError::TimedOut { deadline_cycles: self.deadline_cycles }
    }
}
