//! A run as a file keeps it: the actions of the host, which a mesh that starts alike executes again.

use super::{Rerun, TravelError, Watcher};
use crate::chip::Unit;
use crate::devices::tape::HostTape;
use crate::memory::pages::PAGE_BYTES;
use crate::mesh::Mesh;
use crate::mesh::threads::Threads;
use crate::past::journal::Journal;
use crate::past::{History, HistoryLimits};
use std::sync::Arc;

/// Why a run cannot be executed again: what the host did at first, or what its memory answered, was
/// forgotten, since it needs too much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLost;

impl std::fmt::Display for RunLost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("what the host did at first was forgotten, as it needs too much memory")
    }
}

impl Mesh {
    /// Returns all actions of the host that had an effect since the mesh began to keep its past, and what
    /// its memory answered devices; `None` if the mesh does not keep its past. A read of L1 has no effect.
    pub fn whole_journal(&self) -> Option<Result<(&Journal, &HostTape), RunLost>> {
        let keeper = self.keeper.as_ref()?;
        let whole = keeper.history.moments.first().is_some_and(|first| first.entry == 0);
        let kept = whole && !keeper.is_full();
        Some(if kept { Ok((&keeper.history.journal, &keeper.tape)) } else { Err(RunLost) })
    }

    /// Returns a checksum of the L1 of all tiles, as a debugger sees it at the present cycle.
    pub fn l1_checksum(&mut self) -> u32 {
        let mut sum = crc32fast::Hasher::new();
        let (now, written_by) = (self.now, self.written_by());
        for chip in &mut self.chips {
            // A sleeping core stores nothing until its tile is accessed.
            for unit in 0..chip.units.len() {
                chip.catch_up(unit, now);
            }
            // The pages that were ever written are known afterwards.
            chip.save(written_by);
            for unit in &chip.units {
                let Unit::Core(tile) = unit else { continue };
                for (addr, page) in tile.memory.written_pages() {
                    if page.iter().any(|&byte| byte != 0) {
                        sum.update(&((addr / PAGE_BYTES) as u64).to_le_bytes());
                        sum.update(page);
                    }
                }
            }
        }
        sum.finalize()
    }
}

impl History {
    /// Returns the past of a mesh that starts as this one did, executes these actions of the host,
    /// each at its cycle, with these answers of its memory, and runs to `end`, and the checksum of its
    /// L1 there.
    ///
    /// # Errors
    /// `watcher` returned false.
    pub fn execute(
        &self,
        (journal, tape): (&Journal, HostTape),
        end: u64,
        limits: HistoryLimits,
        watcher: &mut Watcher<'_>,
    ) -> Result<(Self, u32), TravelError> {
        let outside = TravelError::Outside { first: self.first(), last: self.end() };
        let first = self.moments.first().filter(|_| end >= self.first()).ok_or(outside)?;
        let mut mesh = Mesh::from_checkpoint(&first.checkpoint);
        mesh.threads = Threads::new(mesh.config.threads, mesh.chips.len());
        mesh.keep_history_with(Some((limits, Arc::new(tape))));
        let mut rerun = Rerun::new(mesh, journal.entries());
        rerun.run(end, true, watcher)?;
        let checksum = rerun.mesh.l1_checksum();
        Ok((rerun.mesh.history().ok_or(outside)?, checksum))
    }
}
