//! Waiting for the far side, by the target's clock and by ours.

use crate::bus::Bus;
use machine::patience::Patience;
use machine::snapshot::AccessError;
use std::time::Instant;

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
