//! How fast each tile moves data over the NoC, by two snapshots of its counts.

use crate::lens::UNREAD;
use crate::lens::entries::traffic;
use decode::requests::{FLIT_BYTES, Interface};
use layouts::{ChipId, NocXy};
use machine::snapshot::{Snapshot, Span};
use machine::target::Mesh;
use std::collections::BTreeMap;

/// The counts of a tile when they were read last, and what they tell.
#[derive(Clone, Debug)]
struct Tile {
    cycles: u64,
    flits: Vec<u32>,
    /// Bytes per second; none before the second snapshot.
    rate: Option<u64>,
}

/// How fast each tile moves data over the NoC.
#[derive(Clone, Debug, Default)]
pub(crate) struct NocPulse(BTreeMap<(ChipId, NocXy), Tile>);

/// Returns the counts of each tile with cores of a chip.
fn counts(mesh: &Mesh, chip: ChipId) -> impl Iterator<Item = (NocXy, Vec<Span>)> {
    let data = |it: &Interface| it.data(mesh.layout());
    Interface::of_chip(mesh, chip)
        .map(move |(place, interfaces)| (place.tile, interfaces.iter().flat_map(data).collect()))
}

impl NocPulse {
    /// Returns the counts of the chip that was read longest ago.
    pub(crate) fn due(&self, mesh: &Mesh) -> Vec<Span> {
        let read = |chip: ChipId| {
            let tiles = self.0.range((chip, NocXy { x: 0, y: 0 })..);
            let own = tiles.take_while(|((of, _), _)| *of == chip);
            own.map(|(_, tile)| tile.cycles).max()
        };
        let due = mesh.chips.iter().map(|chip| chip.id).min_by_key(|chip| read(*chip));
        due.into_iter().flat_map(|chip| counts(mesh, chip)).flat_map(|(_, spans)| spans).collect()
    }

    /// Takes over the counts that a snapshot has.
    pub(crate) fn take(&mut self, mesh: &Mesh, snapshot: &Snapshot) {
        for chip in &mesh.chips {
            for (tile, spans) in counts(mesh, chip.id) {
                let flits = spans.iter().map(|span| snapshot.word(span.addr).ok());
                let Some(flits) = flits.collect::<Option<Vec<_>>>() else { continue };
                let read = spans.first().and_then(|span| snapshot.read_at(span.addr));
                let Some(cycles) = read else { continue };
                let at = (chip.id, tile);
                let before = self.0.remove(&at);
                self.0.insert(at, Tile::new(before, cycles, flits));
            }
        }
    }

    /// Returns what each tile shows on the map.
    pub(crate) fn shades(&self) -> BTreeMap<(ChipId, NocXy), u8> {
        let rates = self.0.values().filter_map(|tile| tile.rate);
        let fastest = rates.max().unwrap_or(0);
        let shade = |tile: &Tile| tile.rate.map_or(UNREAD, |rate| traffic::of(rate, fastest));
        self.0.iter().map(|(at, tile)| (*at, shade(tile))).collect()
    }
}

impl Tile {
    /// Returns a tile with its counts at this time, given what it was before.
    fn new(before: Option<Self>, cycles: u64, flits: Vec<u32>) -> Self {
        let Some(before) = before.filter(|it| it.cycles <= cycles) else {
            return Self { cycles, flits, rate: None };
        };
        let moved = flits.iter().zip(&before.flits);
        // A count has 32 bits and begins again at 0.
        let moved: u64 = moved.map(|(now, then)| u64::from(now.wrapping_sub(*then))).sum();
        let bytes = u128::from(moved * FLIT_BYTES) * 1_000_000_000;
        let rate = bytes.checked_div((cycles - before.cycles).into());
        // The same moment again tells nothing new.
        let rate = rate.map_or(before.rate, |rate| u64::try_from(rate).ok());
        Self { cycles, flits, rate }
    }
}

#[cfg(test)]
mod tests {
    use super::Tile;

    #[test]
    fn rates_count_bytes_per_second_of_the_target() {
        let first = Tile::new(None, 1_000_000, vec![u32::MAX, 5]);
        assert_eq!(first.rate, None, "it was read once");
        let second = Tile::new(Some(first), 2_000_000, vec![9, 5]);
        assert_eq!(second.rate, Some(320_000), "ten flits in a millisecond");
        let again = Tile::new(Some(second), 2_000_000, vec![9, 5]);
        assert_eq!(again.rate, Some(320_000));
        let earlier = Tile::new(Some(again), 1_500_000, vec![7, 5]);
        assert_eq!(earlier.rate, None, "an earlier moment begins anew");
    }
}
