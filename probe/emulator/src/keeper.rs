//! When a running mesh takes its checkpoints.

use crate::checkpoint::Checkpoint;
use crate::history::{History, HistoryLimits};
use std::time::{Duration, Instant};

/// Longest run, in cycles, between two looks at the host's clock.
const PIECE_CYCLES: u64 = 1 << 16;

/// The history of a running mesh.
#[derive(Debug)]
pub(crate) struct Keeper {
    pub(crate) history: History,
    limits: HistoryLimits,
    /// The cycle of the last checkpoint.
    last: u64,
    /// Host time of running since.
    ran: Duration,
}

impl Keeper {
    /// Begins with a history of one checkpoint.
    pub(crate) fn new(first: Checkpoint, limits: HistoryLimits) -> Self {
        let last = first.cycle();
        Self { history: History::new(first), limits, last, ran: Duration::ZERO }
    }

    /// Returns the cycle, at most `until`, at which to look whether a checkpoint is due.
    pub(crate) fn look_at(now: u64, until: u64) -> u64 {
        until.min(now.saturating_add(PIECE_CYCLES))
    }

    /// Takes note of running up to a cycle; returns whether a checkpoint is due there. The choice
    /// has no effect on results.
    pub(crate) fn is_due(&mut self, now: u64, started: Instant) -> bool {
        self.ran += started.elapsed();
        self.ran >= self.limits.interval && now - self.last >= self.limits.interval_cycles
    }

    /// Takes the checkpoint.
    pub(crate) fn keep(&mut self, checkpoint: Checkpoint) {
        (self.last, self.ran) = (checkpoint.cycle(), Duration::ZERO);
        self.history.push(checkpoint);
        self.history.thin(&self.limits);
    }
}
