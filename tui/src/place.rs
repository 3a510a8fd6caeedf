//! Chips on a grid: by x and y within their shelf, shelves in a row, the rest in a row below.

use decode::state::MeshState;
use layouts::{ChipCoord, ChipId};
use std::collections::{BTreeMap, BTreeSet};

/// A chip and its cell of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GridCell {
    pub(crate) chip: ChipId,
    pub(crate) column: usize,
    pub(crate) row: usize,
}

/// All chips on one grid. A chip without coordinates, or with those of another chip, is in the row
/// below.
pub(crate) fn places(mesh: &MeshState) -> Vec<GridCell> {
    let mut shelves: BTreeMap<(u8, u8), Vec<(ChipId, ChipCoord)>> = BTreeMap::new();
    let mut homeless = Vec::new();
    for chip in &mesh.chips {
        match chip.chip.coord {
            Some(at) => shelves.entry((at.rack, at.shelf)).or_default().push((chip.chip.id, at)),
            None => homeless.push(chip.chip.id),
        }
    }
    let mut found = Vec::new();
    let mut taken = BTreeSet::new();
    let mut left = 0;
    for chips in shelves.values() {
        let x0 = chips.iter().map(|(_, at)| at.x).min().unwrap_or(0);
        let y0 = chips.iter().map(|(_, at)| at.y).min().unwrap_or(0);
        let width = chips.iter().map(|(_, at)| usize::from(at.x - x0)).max().unwrap_or(0) + 1;
        for &(chip, at) in chips {
            let (column, row) = (left + usize::from(at.x - x0), usize::from(at.y - y0));
            if taken.insert((column, row)) {
                found.push(GridCell { chip, column, row });
            } else {
                homeless.push(chip);
            }
        }
        left += width;
    }
    let below = found.iter().map(|p| p.row + 1).max().unwrap_or(0);
    let rest = homeless.into_iter().enumerate();
    found.extend(rest.map(|(column, chip)| GridCell { chip, column, row: below }));
    found
}

/// The chip next to `from` in a direction, by the straightest and then the shortest path.
pub(crate) fn neighbour(places: &[GridCell], from: ChipId, dx: i32, dy: i32) -> Option<ChipId> {
    let here = places.iter().find(|p| p.chip == from)?;
    let reach = |p: &GridCell| {
        let x = p.column as i32 - here.column as i32;
        let y = p.row as i32 - here.row as i32;
        let (ahead, aside) = if dx == 0 { (y * dy, x.abs()) } else { (x * dx, y.abs()) };
        (ahead > 0).then_some((aside, ahead))
    };
    let nearest = places.iter().filter_map(|p| Some((reach(p)?, p.chip))).min();
    nearest.map(|(_, chip)| chip)
}
