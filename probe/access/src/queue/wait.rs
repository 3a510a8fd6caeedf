//! Waiting for the far side with a deadline and a watchdog.

use crate::bus::Bus;
use machine::patience::Deadlines;
use machine::snapshot::AccessError;
use std::time::Instant;

/// A wait with two clocks: the target's for the deadline, the host's for the watchdog.
pub(super) struct Wait {
    patience: Deadlines,
    first_cycles: Option<u64>,
    started: Instant,
}

impl Wait {
    /// Shortest time between two polls, in cycles; it grows with the wait.
    const LEAST_STEP: u64 = 50;

    pub(super) fn start(patience: Deadlines) -> Self {
        Self { patience, first_cycles: None, started: Instant::now() }
    }

    /// Lets time pass, or returns an error at the deadline.
    pub(super) fn pause(&mut self, bus: &mut Bus, cycles: u64) -> Result<(), AccessError> {
        let waited = cycles.saturating_sub(*self.first_cycles.get_or_insert(cycles));
        let late = self.started.elapsed() > self.patience.watchdog;
        if late || waited > self.patience.deadline_cycles {
            return Err(self.patience.timed_out());
        }
        let left = self.patience.deadline_cycles.saturating_sub(waited);
        bus.pass((waited / 4).min(left).max(Self::LEAST_STEP))
    }
}
