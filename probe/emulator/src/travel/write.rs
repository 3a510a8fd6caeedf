//! The search for the last write to a range of memory, back from checkpoint to checkpoint.
//!
//! Each piece of the past runs again with a watch on the range, and the last write that it sees is
//! the answer. Most pieces need not run: checkpoints know when the lines of the range were written.

use super::{TravelError, Watcher};
use crate::chip::saved::SavedUnit;
use crate::devices::passive::Backend;
use crate::mesh::Mesh;
use crate::mesh::watched::TileRange;
use crate::past::checkpoint::Checkpoint;
use crate::past::journal::HostAction;
use crate::past::{History, Moment};
use crate::watch::{Counts, Write, Writer, Writes};

/// Most changes of a range that are kept of a piece of the past: the others are asked for next.
const MOST_CHANGES: usize = 1 << 16;

/// Changes of ranges of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastChanges {
    /// The first cycle whose changes are complete.
    pub from: u64,
    /// The changes since, the oldest first, each with the number of its range.
    pub changes: Vec<(usize, Write)>,
    /// The bytes of each range after the last of them.
    pub bytes: Vec<Vec<u8>>,
}

impl History {
    /// Returns the last write to a range in a cycle before `before`; `None` if there was none since
    /// [`History::first`]. With `History::end() + 1` as `before` the host's writes of the present
    /// cycle count too.
    ///
    /// What is loaded before time begins is no write.
    ///
    /// # Errors
    /// `before` is not in the history, there is no such memory, or `watcher` returned false.
    pub fn last_write(
        &mut self,
        range: TileRange,
        counts: Counts,
        before: u64,
        watcher: &mut Watcher<'_>,
    ) -> Result<Option<Write>, TravelError> {
        let mut end = before;
        loop {
            let which = self.moment(end.saturating_sub(1))?;
            let Moment { checkpoint, entry, .. } = self.moments[which].clone();
            if !self.untouched_until_next(which, &[range], counts) {
                let mut writes = self.writes_since(which, end, &[range], (counts, 1), watcher)?;
                let last = writes.pop().and_then(|mut writes| writes.kept.pop());
                if let Some(write) = last.filter(|write| write.cycle >= checkpoint.now) {
                    return Ok(Some(self.with_dma(write, entry)));
                }
            }
            if which == 0 {
                return Ok(None);
            }
            end = checkpoint.now;
        }
    }

    /// Whether no write that counts can have been made to ranges between a checkpoint and the next.
    fn untouched_until_next(&self, which: usize, ranges: &[TileRange], counts: Counts) -> bool {
        let [from, to, ..] = &self.moments[which..] else { return false };
        ranges.iter().all(|range| untouched(&from.checkpoint, &to.checkpoint, range, counts))
    }

    /// Returns the last changes of ranges in cycles before `before`, of one piece of the past, whose
    /// beginning is asked for next.
    ///
    /// # Errors
    /// As [`History::last_write`].
    pub fn last_changes(
        &mut self,
        ranges: &[TileRange],
        before: u64,
        watcher: &mut Watcher<'_>,
    ) -> Result<LastChanges, TravelError> {
        let (mut which, mut end) = (self.moment(before.saturating_sub(1))?, before);
        while which > 0 && self.untouched_until_next(which, ranges, Counts::Changes) {
            end = self.moments[which].checkpoint.now;
            which -= 1;
        }
        let Moment { checkpoint, entry, .. } = self.moments[which].clone();
        let kept = (Counts::Changes, MOST_CHANGES);
        let all = self.writes_since(which, end, ranges, kept, watcher)?;
        let dropped = all.iter().filter(|writes| writes.dropped);
        let oldest = dropped.filter_map(|writes| writes.kept.first()).map(|write| write.cycle + 1);
        let from = oldest.max().unwrap_or(0).max(checkpoint.now);
        let mut changes = Vec::new();
        for (range, writes) in all.iter().enumerate() {
            let since = writes.kept.iter().filter(|write| write.cycle >= from);
            changes.extend(since.map(|write| (range, self.with_dma(write.clone(), entry))));
        }
        changes.sort_by_key(|(_, write)| write.cycle);
        let bytes = all.into_iter().map(|writes| writes.bytes).collect();
        Ok(LastChanges { from, changes, bytes })
    }

    /// Runs on from a checkpoint with a watch on ranges; returns the writes to each in cycles before
    /// `end`.
    fn writes_since(
        &mut self,
        which: usize,
        end: u64,
        ranges: &[TileRange],
        (counts, most): (Counts, usize),
        watcher: &mut Watcher<'_>,
    ) -> Result<Vec<Writes>, TravelError> {
        let watch = |mesh: &mut Mesh| {
            let watched = mesh.watch_writes(ranges, counts, most);
            watched.then_some(()).ok_or(TravelError::NoSuchPlace)
        };
        let to = (end.min(self.end), end > self.end);
        let mut mesh = self.run_on(which, to, watch, watcher)?;
        let seen = ranges.iter().map(|range| mesh.seen_writes(range));
        seen.collect::<Option<_>>().ok_or(TravelError::NoSuchPlace)
    }

    /// Says that a host's write was its DMA engine's, if a doorbell rang then, by an action of the host
    /// from number `since` on.
    fn with_dma(&self, mut write: Write, since: u64) -> Write {
        if let Writer::Host { device } = write.by {
            let entries = self.journal.since(since);
            let mut then = entries
                .skip_while(|entry| entry.cycle < write.cycle)
                .take_while(|entry| entry.cycle == write.cycle);
            if then.any(|entry| matches!(entry.action, HostAction::Write { bar: 2, .. })) {
                write.by = Writer::Dma { device };
            }
        }
        write
    }
}

/// Whether no write that counts can have been made to a range between two checkpoints.
fn untouched(from: &Checkpoint, to: &Checkpoint, range: &TileRange, counts: Counts) -> bool {
    match (from.unit(range.chip, range.tile), to.unit(range.chip, range.tile)) {
        (Some(SavedUnit::Core(a)), Some(SavedUnit::Core(b))) => {
            let addresses = range.addr as usize..range.addr as usize + range.len;
            // A hart that falls asleep after the first checkpoint has executed its loop since: the lines
            // that the loop stores into are marked.
            let asleep = a.harts.iter().any(|hart| match counts {
                Counts::AllWrites => hart.stores_asleep(),
                Counts::Changes => hart.changes_asleep(&addresses),
            });
            // There must be such memory.
            addresses.end <= b.memory.len()
                && !asleep
                && b.memory.pages.untouched(&a.memory.pages, from.now, &addresses)
        }
        (Some(SavedUnit::Passive(a)), Some(SavedUnit::Passive(b))) => {
            match (&a.backend, &b.backend) {
                (Backend::Dram(a), Backend::Dram(b)) => a.same(b, range.addr, range.len),
                _ => false,
            }
        }
        _ => false,
    }
}
