//! A snapshot that is read in parts, a few tiles at a time, where the bus is used sparingly.

use super::{Inspected, Session};
use decode::inspect::{ReadSet, plan};
use layouts::{ChipId, NocXy};
use machine::progress::{ChipCount, Progress};
use machine::snapshot::Snapshot;
use std::collections::BTreeSet;

type Tile = (ChipId, NocXy);

/// Tiles that are read at first, before it is known what one costs.
const FIRST_TILES: u64 = 4;

/// How far a snapshot has come that is read in parts.
#[derive(Debug, Default)]
pub struct Parts {
    /// What is read as a whole.
    read_set: ReadSet,
    /// What was read so far, over the snapshot before.
    read: Option<Snapshot>,
    /// The tiles that are not read yet, the next one last.
    left: Vec<Tile>,
    /// Those that were read by the last call.
    just_read: Vec<Tile>,
    /// The chips that are read.
    chips: usize,
    /// Bus transactions that a tile takes.
    per_tile: u64,
}

impl Parts {
    /// Whether tiles are left to read of a read set.
    pub fn goes_on(&self, read_set: &ReadSet) -> bool {
        !self.left.is_empty() && self.read_set == *read_set
    }

    /// The tiles that were read by the last call.
    pub fn just_read(&self) -> &[Tile] {
        &self.just_read
    }

    /// How far it has come; none if it is whole.
    pub fn progress(&self) -> Option<Progress> {
        let left: BTreeSet<_> = self.left.iter().map(|(chip, _)| chip).collect();
        let count = ChipCount { done: self.chips.saturating_sub(left.len()), of: self.chips };
        (!left.is_empty()).then_some(Progress::Snapshot(count))
    }
}

impl Session {
    /// Reads the next part of a snapshot for about so many bus transactions, one tile at least. A
    /// snapshot begins when the one before is whole, or another read set is given: with the tiles
    /// that are named first; tiles that were not read yet are as they were before.
    pub fn inspect_part(
        &mut self,
        parts: &mut Parts,
        read_set: &ReadSet,
        (before, first): (Option<&Snapshot>, &BTreeSet<Tile>),
        most: u64,
    ) -> Inspected {
        if !parts.goes_on(read_set) {
            let spans = plan(self.target.mesh(), &self.images, read_set).spans;
            let all: BTreeSet<Tile> = spans.iter().map(|it| (it.addr.chip, it.addr.tile)).collect();
            parts.chips = all.iter().map(|(chip, _)| chip).collect::<BTreeSet<_>>().len();
            let (first, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| first.contains(it));
            parts.left = first.into_iter().chain(rest).rev().collect();
            (parts.read_set, parts.read) = (read_set.clone(), before.cloned());
        }
        parts.just_read.clear();
        let start = self.target.transactions();
        loop {
            let spent = self.target.transactions().saturating_sub(start);
            let room = most.saturating_sub(spent);
            let count = room.checked_div(parts.per_tile).unwrap_or(FIRST_TILES).max(1);
            let at = parts.left.len().saturating_sub(count as usize);
            let tiles = parts.left.split_off(at);
            let only = Some(tiles.iter().copied().collect());
            let part = ReadSet { only, ..read_set.clone() };
            let before = parts.read.take();
            let inspected = self.inspect_by_chip(&part, before.as_ref(), &mut |_| ());
            let cost = inspected.state.transactions;
            parts.per_tile = cost.div_ceil((tiles.len() as u64).max(1)).max(1);
            parts.just_read.extend(tiles);
            if parts.left.is_empty() || spent + cost + parts.per_tile > most {
                parts.read = Some(inspected.snapshot.clone()).filter(|_| !parts.left.is_empty());
                return inspected;
            }
            parts.read = Some(inspected.snapshot);
        }
    }
}
