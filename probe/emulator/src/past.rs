//! The past of a mesh: checkpoints, and the journal of host actions between them.

pub(crate) mod checkpoint;
pub(crate) mod journal;
pub(crate) mod keeper;

use crate::heap::of_vec;
use checkpoint::Checkpoint;
use journal::Journal;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// How much of the past is kept, and how soon any of it can be shown again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryLimits {
    /// Memory in bytes, as an allocator counts it, for checkpoints, those of visits and searches
    /// too, and journal. Beyond it, old checkpoints are dropped until only few are left; then the
    /// oldest moments are forgotten with their host actions. If the first checkpoint is the only
    /// one, the whole past is given up. It is also given up where the answers of host memory need more
    /// than half as much.
    pub bytes: usize,
    /// Most checkpoints.
    pub checkpoints: usize,
    /// Host time of running between two checkpoints: what one step back takes. With
    /// [`Duration::MAX`] the first one is the only one, and the journal leads on from it.
    pub interval: Duration,
    /// Fewest cycles between two checkpoints.
    pub interval_cycles: u64,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self {
            bytes: 1 << 30,
            checkpoints: 256,
            interval: Duration::from_millis(200),
            interval_cycles: 20_000,
        }
    }
}

/// How much of its past a mesh keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistorySize {
    /// The first cycle that can be shown again.
    pub first: u64,
    /// The present.
    pub end: u64,
    /// The memory in bytes.
    pub bytes: usize,
    /// Its limit.
    pub most_bytes: usize,
}

/// A checkpoint, and the number of the first journal entry after it.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) checkpoint: Arc<Checkpoint>,
    pub(crate) entry: u64,
    /// Memory of what the moment before it has not in common with it.
    pub(crate) bytes: usize,
}

/// The past of a mesh, up to the cycle at which [`crate::Mesh::history`] returned it. A copy is
/// cheap.
#[derive(Clone, Debug)]
pub struct History {
    /// In the order of cycles; never empty.
    pub(crate) moments: Vec<Moment>,
    pub(crate) journal: Journal,
    pub(crate) end: u64,
    pub(crate) limits: HistoryLimits,
    bytes: usize,
    /// The cycles of the checkpoints that visits and searches added, the oldest first.
    pub(crate) visited: VecDeque<u64>,
}

/// Cycles from a checkpoint after which another one is worth its memory where nothing demands it.
pub(crate) const WORTH_CHECKPOINT: u64 = 1 << 16;

/// One part in this of the memory is left for the checkpoints of visits, and as much for those of a
/// search, which has a copy of the history.
const VISITS_PART: usize = 16;

/// Fewest checkpoints that are kept whatever their size: the first, one between, the last.
const FEWEST: usize = 3;

impl History {
    /// Begins a history with a checkpoint.
    pub(crate) fn new(checkpoint: Checkpoint, limits: HistoryLimits) -> Self {
        let (end, visited) = (checkpoint.now, VecDeque::new());
        let (moments, journal) = (Vec::new(), Journal::default());
        let mut history = Self { moments, journal, end, limits, bytes: 0, visited };
        history.push(checkpoint);
        history
    }

    /// Returns the first cycle that can be shown again.
    pub fn first(&self) -> u64 {
        self.moments.first().map_or(self.end, |moment| moment.checkpoint.now)
    }

    /// Returns the last cycle that can be shown again: the present of the mesh when it returned
    /// this history.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Returns the cycles of the checkpoints.
    pub fn checkpoints(&self) -> impl Iterator<Item = u64> {
        self.moments.iter().map(|moment| moment.checkpoint.now)
    }

    /// Returns the journal of host actions since [`History::first`], without reads of L1, which
    /// have no effect.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Returns the approximate memory of checkpoints and journal in bytes.
    pub fn bytes(&self) -> usize {
        of_vec(&self.moments) + self.bytes + self.journal.bytes()
    }

    /// Returns how much is kept up to a present.
    pub(crate) fn size(&self, end: u64) -> HistorySize {
        let (bytes, most_bytes) = (self.bytes(), self.limits.bytes);
        HistorySize { first: self.first(), end, bytes, most_bytes }
    }

    /// Whether the checkpoints of visits and searches take more than their part of the memory.
    pub(crate) fn visits_too_much(&self) -> bool {
        let moment = |cycle: &u64| self.moments.get(self.find(*cycle).ok()?);
        let bytes = self.visited.iter().filter_map(moment).map(|moment| moment.bytes);
        bytes.sum::<usize>() > self.limits.bytes / VISITS_PART
    }

    /// Whether checkpoints and journal take more than visits and searches leave of the memory.
    pub(crate) fn is_too_large(&self) -> bool {
        self.bytes() > self.limits.bytes - 2 * (self.limits.bytes / VISITS_PART)
    }

    /// Returns a copy whose present is this cycle.
    #[must_use]
    pub fn up_to(&self, end: u64) -> Self {
        Self { end, ..self.clone() }
    }

    /// Adds a checkpoint of the present.
    pub(crate) fn push(&mut self, checkpoint: Checkpoint) {
        self.journal.end_chunk();
        let last = self.moments.last().map(|moment| moment.checkpoint.as_ref());
        let bytes = checkpoint.bytes_beyond(last);
        self.bytes += bytes;
        let entry = self.journal.len();
        self.moments.push(Moment { checkpoint: Arc::new(checkpoint), entry, bytes });
    }

    /// Drops checkpoints, and then the oldest past, until the limits are kept.
    pub(crate) fn thin(&mut self) {
        // Host actions cannot be thinned out: at most half of the memory is theirs.
        while self.journal.bytes() > self.limits.bytes / 2 && self.moments.len() > FEWEST {
            self.forget_first();
        }
        while self.moments.len() > self.limits.checkpoints.max(FEWEST) || self.is_too_large() {
            let Some(which) = self.least_needed() else { return self.forget() };
            self.drop_moment(which);
        }
    }

    /// Returns the checkpoint without which the time to run again to any moment stays shortest,
    /// compared with how long ago that moment is.
    fn least_needed(&self) -> Option<usize> {
        if self.moments.len() <= FEWEST {
            return None;
        }
        let cycle = |index: usize| self.moments[index].checkpoint.now;
        let last = self.moments.len() - 1;
        let cost = |index: &usize| {
            let gap = cycle(index + 1) - cycle(index - 1);
            let age = cycle(last) - cycle(index - 1);
            // Gap in thousandths of the age.
            u128::from(gap) * 1000 / u128::from(age.max(1))
        };
        (1..last).min_by_key(cost)
    }

    pub(crate) fn drop_moment(&mut self, which: usize) {
        self.bytes -= self.moments.remove(which).bytes;
        self.count(which);
    }

    pub(crate) fn insert_moment(&mut self, which: usize, checkpoint: Arc<Checkpoint>, entry: u64) {
        self.moments.insert(which, Moment { checkpoint, entry, bytes: 0 });
        self.count(which);
        self.count(which + 1);
    }

    /// Counts the memory of a moment again, after there is another one before it.
    fn count(&mut self, which: usize) {
        let before =
            which.checked_sub(1).map(|before| Arc::clone(&self.moments[before].checkpoint));
        if let Some(moment) = self.moments.get_mut(which) {
            self.bytes -= moment.bytes;
            moment.bytes = moment.checkpoint.bytes_beyond(before.as_deref());
            self.bytes += moment.bytes;
        }
    }

    /// Forgets the oldest past while more than two checkpoints are left.
    fn forget(&mut self) {
        while self.is_too_large() && self.moments.len() > 2 {
            self.forget_first();
        }
    }

    /// Forgets the first checkpoint, and the host's actions up to the next.
    fn forget_first(&mut self) {
        self.drop_moment(0);
        let first = self.moments.first().map_or(0, |moment| moment.entry);
        self.journal.forget(first);
    }
}

#[cfg(test)]
mod tests {
    use super::{History, HistoryLimits};
    use crate::{Mesh, MeshConfig};
    use std::time::Duration;

    #[test]
    fn gaps_grow_with_age() {
        let limits = HistoryLimits {
            bytes: usize::MAX,
            checkpoints: 24,
            interval: Duration::ZERO,
            interval_cycles: 1,
        };
        let Ok(mut mesh) = Mesh::new(MeshConfig::default()) else { return };
        let mut history = History::new(mesh.checkpoint(), limits);
        for _ in 0..5000 {
            mesh.clock(100);
            history.push(mesh.checkpoint());
            history.thin();
        }
        let cycles: Vec<u64> = history.checkpoints().collect();
        assert_eq!((cycles.len(), cycles[0], cycles[23]), (24, 0, 500_000));
        for pair in cycles.windows(2) {
            let (gap, age) = (pair[1] - pair[0], 500_000 - pair[0]);
            assert!(gap == 100 || gap * 2 <= age, "{gap} cycles, {age} ago: {cycles:?}");
        }
    }
}
