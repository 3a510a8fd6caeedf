//! A snapshot that is read in parts, a few tiles at a time, where the bus is used sparingly.

use super::{Inspected, Session};
use decode::inspect::{ReadSet, plan};
use layouts::{ChipId, NocXy};
use machine::progress::{ChipCount, Progress};
use machine::snapshot::Snapshot;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

type Tile = (ChipId, NocXy);

/// Tiles that are read at first, before it is known what one costs.
const FIRST_TILES: usize = 4;

/// What one part may cost.
#[derive(Clone, Copy, Debug)]
pub struct PartLimits {
    /// Bus transactions.
    pub transactions: u64,
    /// Host time.
    pub time: Duration,
}

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
    /// Bus transactions and time that a tile takes, and the number of tiles that showed that.
    per_tile: (u64, Duration),
    tiles: usize,
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

impl PartLimits {
    /// What is left after so many transactions and so much time.
    fn saturating_sub(self, transactions: u64, time: Duration) -> Self {
        Self {
            transactions: self.transactions.saturating_sub(transactions),
            time: self.time.saturating_sub(time),
        }
    }

    /// How many tiles of this cost are within it; none if the cost is not known.
    fn over(self, (transactions, time): (u64, Duration)) -> Option<usize> {
        let count = self.transactions.checked_div(transactions)?;
        let in_time = self.time.as_nanos().checked_div(time.as_nanos()).unwrap_or(u128::MAX);
        Some(usize::try_from(in_time.min(count.into())).unwrap_or(usize::MAX))
    }
}

impl Session {
    /// Reads the next part of a snapshot within about these limits, one tile at least. A
    /// snapshot begins when the one before is whole, or another read set is given: with the tiles
    /// that are named first; tiles that were not read yet are as they were before.
    pub fn inspect_part(
        &mut self,
        parts: &mut Parts,
        read_set: &ReadSet,
        (before, first): (Option<&Snapshot>, &BTreeSet<Tile>),
        most: PartLimits,
    ) -> Inspected {
        if !parts.goes_on(read_set) {
            let spans = plan(self.target.mesh(), &self.images, read_set).spans;
            let all: BTreeSet<Tile> = spans.iter().map(|it| (it.addr.chip, it.addr.tile)).collect();
            parts.chips = all.iter().map(|(chip, _)| chip).collect::<BTreeSet<_>>().len();
            let (first, rest): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|it| first.contains(it));
            parts.left = first.into_iter().chain(rest).rev().collect();
            (parts.read_set, parts.read) = (read_set.clone(), before.cloned());
        }
        parts.just_read.clear();
        let (start, began) = (self.target.transactions(), Instant::now());
        loop {
            let spent = self.target.transactions().saturating_sub(start);
            let count = most.saturating_sub(spent, began.elapsed()).over(parts.per_tile);
            // Others may take longer: those of chips further away.
            let count = count.unwrap_or(FIRST_TILES).min(parts.tiles.max(FIRST_TILES / 2) * 2);
            let at = parts.left.len().saturating_sub(count.max(1));
            let tiles = parts.left.split_off(at);
            let only = Some(tiles.iter().copied().collect());
            let part = ReadSet { only, ..read_set.clone() };
            let before = parts.read.take();
            let now = Instant::now();
            let inspected = self.inspect_by_chip(&part, before.as_ref(), &mut |_| ());
            let count = u32::try_from(tiles.len()).unwrap_or(u32::MAX).max(1);
            let cost = inspected.state.transactions.div_ceil(count.into()).max(1);
            parts.per_tile = (cost, now.elapsed() / count);
            parts.tiles = tiles.len();
            parts.just_read.extend(tiles);
            let spent = self.target.transactions().saturating_sub(start);
            let rest = most.saturating_sub(spent, began.elapsed());
            if parts.left.is_empty() || rest.over(parts.per_tile) == Some(0) {
                parts.read = Some(inspected.snapshot.clone()).filter(|_| !parts.left.is_empty());
                return inspected;
            }
            parts.read = Some(inspected.snapshot);
        }
    }
}
