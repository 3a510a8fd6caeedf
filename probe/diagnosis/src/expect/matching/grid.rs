//! Lays meshes that only count links on the grids of a machine's coordinates.

use layouts::{ChipCoord, ChipId, ClusterDescriptor, DescribedChip};
use machine::target::{Chip, Mesh};
use std::collections::BTreeMap;

/// Chips by row and column.
type Cells = BTreeMap<(i16, i16), ChipId>;
type Pairs = BTreeMap<ChipId, ChipId>;
/// The number of links between two chips, the lower one first.
type Counts = BTreeMap<(ChipId, ChipId), usize>;

/// Neighbours in a mesh, or all chips of two meshes, which any of their chips may join.
pub(in super::super) struct Edge {
    parties: [Vec<ChipId>; 2],
    /// The number of links that are described.
    pub(in super::super) links: usize,
}

/// Returns the edges of a description.
pub(in super::super) fn edges(expected: &ClusterDescriptor) -> Vec<Edge> {
    let shelf = |id: ChipId| {
        let coord = expected.chip(id).and_then(|chip| chip.coord);
        coord.map(|coord| (coord.rack, coord.shelf))
    };
    let party = |id: ChipId, alone: bool| -> Vec<ChipId> {
        let all = expected.chips.iter().map(|chip| chip.id);
        if alone { vec![id] } else { all.filter(|other| shelf(*other) == shelf(id)).collect() }
    };
    let mut edges: BTreeMap<_, Edge> = BTreeMap::new();
    for (a, b) in &expected.links {
        let alone = shelf(a.chip) == shelf(b.chip);
        let key = if alone {
            (Some((a.chip, b.chip)), None)
        } else {
            (None, Some((shelf(a.chip), shelf(b.chip))))
        };
        let new = || Edge { parties: [party(a.chip, alone), party(b.chip, alone)], links: 0 };
        edges.entry(key).or_insert_with(new).links += 1;
    }
    edges.into_values().collect()
}

/// Returns the number of links between each two chips of a machine.
pub(in super::super) fn counts(found: &Mesh) -> Counts {
    let mut counts = Counts::new();
    for link in &found.links {
        let pair = (link.a.chip.min(link.b.chip), link.a.chip.max(link.b.chip));
        *counts.entry(pair).or_insert(0) += 1;
    }
    counts
}

impl Edge {
    /// Returns the chips of its parties that were found.
    pub(in super::super) fn found(
        &self,
        of: impl Fn(ChipId) -> Option<ChipId>,
    ) -> [Vec<ChipId>; 2] {
        [0, 1].map(|party| self.parties[party].iter().filter_map(|chip| of(*chip)).collect())
    }
}

/// Returns the number of links between chips.
pub(in super::super) fn between([a, b]: &[Vec<ChipId>; 2], there: &Counts) -> usize {
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (*a.min(b), *a.max(b))));
    pairs.filter_map(|pair| there.get(&pair)).sum()
}

/// Most ways to lay the meshes that are tried. The best fit of each mesh alone is tried first.
const MOST_TRIED: usize = 2000;

/// The described links that are there, the chips, and those that stand where they are pinned.
type Score = (usize, usize, usize);

struct Search<'a> {
    meshes: Vec<Cells>,
    shelves: Vec<Cells>,
    wanted: Vec<Edge>,
    there: &'a Counts,
    /// The pinned chips, each with those that stand where it is to stand.
    pinned: Vec<(ChipId, Vec<ChipId>)>,
    best: (Score, Pairs),
    tried: usize,
}

/// Returns the found chip of each described one.
pub(super) fn by_grid(found: &Mesh, expected: &ClusterDescriptor) -> Pairs {
    let mut meshes = shelves(expected.chips.iter().map(|chip| (chip.id, chip.coord)));
    meshes.sort_by_key(|mesh| std::cmp::Reverse(mesh.len()));
    let shelves = shelves(found.chips.iter().map(|chip| (chip.id, chip.coord)));
    let (wanted, there) = (edges(expected), counts(found));
    let pinned = expected.chips.iter().filter(|chip| !chip.pinned.is_empty());
    let stand = |chip: &DescribedChip| {
        let there = |it: &&Chip| it.seat.as_ref().is_some_and(|seat| chip.fits_pin(seat));
        (chip.id, found.chips.iter().filter(there).map(|it| it.id).collect())
    };
    let pinned = pinned.map(stand).collect();
    let best = (Score::default(), Pairs::new());
    let mut search = Search { meshes, shelves, wanted, there: &there, pinned, best, tried: 0 };
    search.lay(0, &Pairs::new());
    search.best.1
}

/// Returns the chips of each rack and shelf.
fn shelves(chips: impl Iterator<Item = (ChipId, Option<ChipCoord>)>) -> Vec<Cells> {
    let mut shelves: BTreeMap<_, Cells> = BTreeMap::new();
    for (id, coord) in chips {
        // A chip without coordinates is a grid of its own.
        let (rack, shelf, cell) = match coord {
            Some(at) => (Some(at.rack), at.shelf.into(), (at.y.into(), at.x.into())),
            None => (None, id.0, (0, 0)),
        };
        shelves.entry((rack, shelf)).or_default().insert(cell, id);
    }
    shelves.into_values().collect()
}

impl Search<'_> {
    /// Lays the meshes from the `index`th on, beside those that lie already.
    fn lay(&mut self, index: usize, laid: &Pairs) {
        let Some(mesh) = self.meshes.get(index) else {
            let score = self.score(laid);
            if score > self.best.0 {
                self.best = (score, laid.clone());
            }
            self.tried += 1;
            return;
        };
        let mut ways: Vec<Pairs> = Vec::new();
        for shelf in &self.shelves {
            for turn in 0..8 {
                for (down, right) in offsets(mesh, shelf, turn) {
                    let mut pairs = laid.clone();
                    for (cell, chip) in mesh {
                        let (row, column) = turned(*cell, turn);
                        let found = shelf.get(&(row + down, column + right));
                        let free = |id: &&ChipId| !laid.values().any(|chip| chip == *id);
                        pairs.extend(found.filter(free).map(|found| (*chip, *found)));
                    }
                    ways.push(pairs);
                }
            }
        }
        ways.push(laid.clone());
        ways.sort_by_cached_key(|pairs| std::cmp::Reverse(self.score(pairs)));
        ways.dedup();
        for way in ways {
            if self.tried >= MOST_TRIED {
                return;
            }
            self.lay(index + 1, &way);
        }
    }

    fn score(&self, pairs: &Pairs) -> Score {
        let links = self.wanted.iter().map(|edge| {
            between(&edge.found(|chip| pairs.get(&chip).copied()), self.there).min(edge.links)
        });
        let stands = |(chip, there): &&(ChipId, Vec<ChipId>)| {
            pairs.get(chip).is_some_and(|found| there.contains(found))
        };
        (links.sum(), pairs.len(), self.pinned.iter().filter(stands).count())
    }
}

/// Turns a cell about the corner, and mirrors it.
fn turned((row, column): (i16, i16), turn: u8) -> (i16, i16) {
    let (row, column) = if turn & 4 == 0 { (row, column) } else { (column, row) };
    (if turn & 1 == 0 { row } else { -row }, if turn & 2 == 0 { column } else { -column })
}

/// Returns how far a turned mesh may be moved, so that it lies within a shelf as far as it can.
fn offsets(mesh: &Cells, shelf: &Cells, turn: u8) -> Vec<(i16, i16)> {
    let corners = |cells: &mut dyn Iterator<Item = (i16, i16)>| {
        let mut corners = (i16::MAX, i16::MAX, i16::MIN, i16::MIN);
        for (row, column) in cells {
            let (top, left, bottom, right) = corners;
            corners = (top.min(row), left.min(column), bottom.max(row), right.max(column));
        }
        corners
    };
    let (top, left, bottom, right) = corners(&mut mesh.keys().map(|cell| turned(*cell, turn)));
    let (first_row, first_column, last_row, last_column) = corners(&mut shelf.keys().copied());
    let moves =
        |first: i16, last: i16, low: i16, high: i16| first - low..=(last - high).max(first - low);
    let rows = moves(first_row, last_row, top, bottom);
    rows.flat_map(|row| {
        moves(first_column, last_column, left, right).map(move |column| (row, column))
    })
    .collect()
}
