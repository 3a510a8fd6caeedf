//! When a running mesh takes its checkpoints.

use super::checkpoint::Checkpoint;
use super::journal::{Journal, JournalEntry};
use super::{History, HistoryLimits, HistorySize, WORTH_CHECKPOINT};
use crate::devices::tape::HostTape;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest run, in cycles, between two looks at the host's clock.
const PIECE_CYCLES: u64 = 1 << 16;
/// Checkpoints take at most one part in this many of the host's time.
const PART: u32 = 5;

/// The history of a running mesh.
#[derive(Debug)]
pub(crate) struct Keeper {
    pub(crate) history: History,
    /// The answers of host memory since its first moment.
    pub(crate) tape: Arc<HostTape>,
    /// The cycle of the last checkpoint.
    last: u64,
    /// The cycle of the host's last action.
    acted: Option<u64>,
    /// Host time of running since, and what the last checkpoint took.
    ran: Duration,
    took: Duration,
    full: bool,
}

impl Keeper {
    /// Begins with a history of one checkpoint.
    pub(crate) fn new(first: Checkpoint, tape: Arc<HostTape>, limits: HistoryLimits) -> Self {
        let last = first.cycle();
        let zero = Duration::ZERO;
        let history = History::new(first, limits);
        Self { history, tape, last, acted: None, ran: zero, took: zero, full: false }
    }

    /// Returns the cycle, at most `until`, at which to look whether a checkpoint is due.
    pub(crate) fn look_at(now: u64, until: u64) -> u64 {
        until.min(now.saturating_add(PIECE_CYCLES))
    }

    /// Takes note of running up to a cycle; returns whether a checkpoint is due there. The choice
    /// has no effect on results.
    pub(crate) fn is_due(&mut self, now: u64, started: Instant) -> bool {
        self.ran += started.elapsed();
        let interval = self.history.limits.interval.max(self.took * PART);
        self.ran >= interval && now - self.last >= self.history.limits.interval_cycles
    }

    /// Whether the present deserves a checkpoint although none is due: that is far from the last, and
    /// before the host's actions of its cycle.
    pub(crate) fn has_room(&self, now: u64) -> bool {
        !self.full && now >= self.last + WORTH_CHECKPOINT && self.acted != Some(now)
    }

    /// Whether it was given up, as the journal after the first checkpoint alone needs too much memory, or
    /// what host memory answered.
    pub(crate) fn is_full(&self) -> bool {
        self.full || self.tape.is_full()
    }

    /// Returns how much is kept up to a present.
    pub(crate) fn size(&self, end: u64) -> HistorySize {
        let size = self.history.size(end);
        HistorySize { bytes: size.bytes + self.tape.bytes(), ..size }
    }

    /// Keeps an action of the host.
    pub(crate) fn note(&mut self, entry: &JournalEntry) {
        if self.full {
            return;
        }
        self.acted = Some(entry.cycle);
        let history = &mut self.history;
        history.journal.push(entry);
        if history.moments.len() == 1 && history.journal.bytes() > history.limits.bytes {
            (self.full, history.journal) = (true, Journal::default());
        } else if history.is_too_large() {
            history.thin();
        }
    }

    /// Keeps a checkpoint; `started` is when the host began to take it.
    pub(crate) fn keep(&mut self, checkpoint: Checkpoint, started: Instant) {
        (self.last, self.ran) = (checkpoint.cycle(), Duration::ZERO);
        self.history.push(checkpoint);
        self.history.thin();
        // Without a limit of time the host's speed has no effect.
        self.took =
            if self.history.limits.interval.is_zero() { Duration::ZERO } else { started.elapsed() };
    }
}
