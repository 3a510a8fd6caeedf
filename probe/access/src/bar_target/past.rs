//! The past of a target over a BAR: a copy of the machine at a moment, read like the machine itself.

use super::BarTarget;
use super::checked::CheckedPlans;
use crate::access::{Access, Route};
use crate::bus::Bus;
use crate::guard::Guard;
use layouts::ChipId;
use machine::bar::{Bar, BarPast, TileBytes};
use machine::fault::ChipAddress;
use machine::past::{
    PastChanges, PastError, PastPacket, PastWatcher, PastWrite, RecordedRun, WriteSearch,
};
use machine::patience::Deadlines;
use machine::snapshot::Span;
use machine::target::{Abilities, Allow, Mesh, Past, Target};
use std::collections::BTreeMap;

/// A [`Past`] over the past of a bus.
pub(super) struct TargetPast {
    pub(super) name: String,
    pub(super) abilities: Abilities,
    pub(super) mesh: Mesh,
    pub(super) routes: BTreeMap<ChipId, Route>,
    pub(super) patience: Deadlines,
    pub(super) past: Box<dyn BarPast>,
}

impl TargetPast {
    fn range(&self, span: &Span) -> Result<TileBytes, PastError> {
        let chip = self.routes.get(&span.addr.chip).map(address).ok_or(PastError::NoMemory)?;
        Ok(TileBytes { chip, tile: span.addr.tile, offset: span.addr.offset, len: span.len })
    }

    fn chip(&self, at: ChipAddress) -> Option<ChipId> {
        self.routes.iter().find(|(_, it)| address(it) == at).map(|(id, _)| *id)
    }

    /// Returns a target over a copy of the machine. What discovery found is the machine's, so that
    /// no access precedes the caller's.
    fn over(&self, bar: Box<dyn Bar>) -> BarTarget {
        let abilities = Abilities { allow: Allow::default(), ..self.abilities.clone() };
        BarTarget {
            name: self.name.clone(),
            guard: Guard::new(&abilities, &self.mesh),
            abilities,
            mesh: self.mesh.clone(),
            routes: self.routes.clone(),
            access: Access::new(Bus::new(bar), self.patience),
            known: CheckedPlans::default(),
            audit: None,
            late: None,
            notes: Vec::new(),
            boot: None,
        }
    }
}

impl Past for TargetPast {
    fn cycles(&self) -> (u64, u64) {
        self.past.cycles()
    }

    fn at(&self, cycles: u64, watcher: &mut PastWatcher<'_>) -> Result<Box<dyn Target>, PastError> {
        Ok(Box::new(self.over(self.past.at(cycles, watcher)?)))
    }

    fn last_write(
        &self,
        span: Span,
        search: WriteSearch,
        watcher: &mut PastWatcher<'_>,
    ) -> Result<Option<PastWrite<ChipId>>, PastError> {
        let found = self.past.last_write(&self.range(&span)?, search, watcher)?;
        Ok(found.map(|write| write.named(|at| self.chip(at))))
    }

    fn last_changes(
        &self,
        spans: &[Span],
        before_cycles: u64,
        watcher: &mut PastWatcher<'_>,
    ) -> Result<PastChanges<ChipId>, PastError> {
        let ranges = spans.iter().map(|span| self.range(span)).collect::<Result<Vec<_>, _>>()?;
        let found = self.past.last_changes(&ranges, before_cycles, watcher)?;
        let named =
            |(which, write): (usize, PastWrite<_>)| (which, write.named(|at| self.chip(at)));
        let changes = found.changes.into_iter().map(named).collect();
        Ok(PastChanges { from_cycles: found.from_cycles, changes, bytes: found.bytes })
    }

    fn eth_packets(
        &self,
        cycles: (u64, u64),
        watcher: &mut PastWatcher<'_>,
    ) -> Result<Vec<PastPacket<ChipId>>, PastError> {
        let packets = self.past.eth_packets(cycles, watcher)?.into_iter();
        Ok(packets.filter_map(|packet| packet.named(|at| self.chip(at))).collect())
    }

    fn rerun(
        &self,
        run: &RecordedRun,
        watcher: &mut PastWatcher<'_>,
    ) -> Result<Box<dyn Past>, PastError> {
        let past = self.past.rerun(run, watcher)?;
        Ok(Box::new(Self {
            name: self.name.clone(),
            abilities: self.abilities.clone(),
            mesh: self.mesh.clone(),
            routes: self.routes.clone(),
            patience: self.patience,
            past,
        }))
    }
}

/// Returns how the machine knows the chip that a route leads to.
pub(super) fn address(route: &Route) -> ChipAddress {
    match route {
        Route::Pcie(device) => ChipAddress::Device(*device),
        Route::Queue { coord, .. } => ChipAddress::at(*coord),
    }
}
