//! Waiting for the far side, by the target's clock and by ours.

use crate::bus::Bus;
use crate::snapshot::AccessError;
use std::time::{Duration, Instant};

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
    pub(super) fn timed_out(&self) -> AccessError {
        AccessError::TimedOut { deadline_cycles: self.deadline_cycles }
    }
}

/// Waiting with two clocks: the target's own for the deadline, ours for the watchdog.
pub(super) struct Wait {
    patience: Patience,
    first_cycles: Option<u64>,
    started: Instant,
}

impl Wait {
    /// Shortest and longest time between two looks, in cycles.
    const STEPS: (u64, u64) = (50, 2000);

    pub(super) fn start(patience: Patience) -> Self {
        Self { patience, first_cycles: None, started: Instant::now() }
    }

    /// Lets time pass, or says that there is none left.
    pub(super) fn go_on(&mut self, bus: &mut Bus, cycles: u64) -> Result<(), AccessError> {
        let waited = cycles.saturating_sub(*self.first_cycles.get_or_insert(cycles));
        let late = self.started.elapsed() > self.patience.watchdog;
        if late || waited > self.patience.deadline_cycles {
            return Err(self.patience.timed_out());
        }
        bus.pass((waited / 4).clamp(Self::STEPS.0, Self::STEPS.1))
    }
}
