//! A run as a file keeps it: the actions of the host, which a mesh that starts alike executes again.

use crate::history::{History, HistoryLimits};
use crate::journal::Journal;
use crate::mesh::Mesh;
use crate::passive::Backend;
use crate::saved::SavedUnit;
use crate::travel::{Rerun, TravelError, Watcher};

impl History {
    /// Returns all actions of the host since the mesh began to keep its past; `None` if some were
    /// forgotten, or the mesh read memory of the host, which no journal has.
    pub fn whole_journal(&self) -> Option<&Journal> {
        let first = self.moments.first()?;
        let read_host = |unit: &SavedUnit| match unit {
            SavedUnit::Passive(unit) => match &unit.backend {
                Backend::Pcie(endpoint) => endpoint.tape.as_ref().is_some_and(|it| !it.is_empty()),
                _ => false,
            },
            SavedUnit::Core(_) => false,
        };
        let units = || first.checkpoint.chips.iter().flat_map(|chip| chip.units.iter());
        (first.entry == 0 && !units().any(read_host)).then_some(&self.journal)
    }

    /// Returns the past of a mesh that starts as this one did, executes these actions of the host,
    /// each at its cycle, and runs to `end`.
    ///
    /// # Errors
    /// `watcher` returned false.
    pub fn execute(
        &self,
        journal: &Journal,
        end: u64,
        limits: HistoryLimits,
        watcher: &mut Watcher<'_>,
    ) -> Result<Self, TravelError> {
        let outside = TravelError::Outside { first: self.first(), last: self.end() };
        let first = self.moments.first().filter(|_| end >= self.first()).ok_or(outside)?;
        let mut mesh = Mesh::from_checkpoint(&first.checkpoint);
        mesh.keep_history(Some(limits));
        let mut rerun = Rerun::new(mesh, journal.entries());
        rerun.run(end, true, watcher)?;
        rerun.mesh.history().ok_or(outside)
    }

    /// Returns a checksum of the L1 of all tiles at the end.
    ///
    /// # Errors
    /// `watcher` returned false.
    pub fn checksum(&self, watcher: &mut Watcher<'_>) -> Result<u32, TravelError> {
        let mut mesh = self.at(self.end(), watcher)?;
        let mut sum = crc32fast::Hasher::new();
        for chip in mesh.checkpoint().chips {
            for unit in chip.units.iter() {
                let SavedUnit::Core(tile) = unit else { continue };
                let pages = &tile.memory.pages;
                for (number, page) in pages.present().filter_map(|it| Some((it, pages.get(it)?))) {
                    sum.update(&(number as u64).to_le_bytes());
                    sum.update(page);
                }
            }
        }
        Ok(sum.finalize())
    }
}
