//! How large a chip is drawn.

use crate::geometry::GRID;
use std::ops::Range;

/// How large a chip is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale {
    /// Columns of a chip.
    pub(super) columns: u16,
    /// Rows of its tiles.
    pub(super) rows: u16,
    /// Whether a row has two rows of tiles, one in either half of a cell.
    pub(super) halves: bool,
    /// Most rows of facts above the tiles.
    pub(super) facts: u16,
    /// Least columns between two chips.
    gutter: u16,
}

/// The largest first. At the last ones, a half of a cell stands for several tiles.
const SCALES: [Scale; 10] = [
    Scale { columns: 50, rows: 24, halves: false, facts: 2, gutter: 8 },
    Scale { columns: 50, rows: 12, halves: false, facts: 2, gutter: 8 },
    Scale { columns: 20, rows: 12, halves: false, facts: 3, gutter: 6 },
    Scale { columns: 10, rows: 6, halves: true, facts: 3, gutter: 3 },
    Scale { columns: 10, rows: 3, halves: true, facts: 1, gutter: 3 },
    Scale { columns: 5, rows: 3, halves: true, facts: 0, gutter: 3 },
    Scale { columns: 10, rows: 2, halves: true, facts: 0, gutter: 3 },
    SMALLEST,
    // One row of tiles leaves the links beside it one row.
    Scale { columns: 10, rows: 1, halves: true, facts: 0, gutter: 7 },
    Scale { columns: 5, rows: 1, halves: true, facts: 0, gutter: 7 },
];
/// A map that fits at no scale scrolls at this one.
const SMALLEST: Scale = Scale { columns: 5, rows: 2, halves: true, facts: 0, gutter: 3 };
/// More columns between two chips show nothing more.
const MOST_GUTTER: u16 = 30;

impl Scale {
    /// The largest scale at which so many columns and rows of chips fit; where none does, the map
    /// scrolls.
    pub(super) fn of_mesh(grid: (u16, u16), room: (u16, u16)) -> Self {
        let all = |count: u16, size: u16, gap: u16| {
            u32::from(count) * u32::from(size) + u32::from(count - 1) * u32::from(gap)
        };
        let fits = |it: &Self| {
            all(grid.0, it.columns, it.gutter) <= room.0.into()
                && all(grid.1, 1 + it.rows, 1) <= room.1.into()
        };
        SCALES.into_iter().find(fits).unwrap_or(SMALLEST)
    }

    /// The largest scale at which one chip fits, where each tile has at least a cell.
    pub(super) fn of_chip(room: (u16, u16)) -> Self {
        let [_, _, square, ..] = SCALES;
        let fits = |it: &Self| it.columns <= room.0 && it.rows < room.1;
        SCALES.into_iter().find(fits).filter(|it| it.columns >= square.columns).unwrap_or(square)
    }

    /// Columns between two chips, where so many are beside each other.
    pub(super) fn gutter(self, grid: (u16, u16), width: u16) -> u16 {
        let left = width.saturating_sub(grid.0.saturating_mul(self.columns));
        (left / (grid.0 - 1).max(1)).clamp(self.gutter, MOST_GUTTER)
    }

    /// Columns of a tile; none if several tiles share one.
    pub(super) fn tile_columns(self) -> u16 {
        self.columns / u16::from(GRID.0)
    }

    /// The columns of tiles that a column shows.
    pub(super) fn tiles_across(self, column: u16) -> Range<u8> {
        share(column, self.columns, GRID.0)
    }

    /// The rows of tiles that the upper and the lower half of a row show.
    pub(super) fn tiles_down(self, row: u16) -> [Range<u8>; 2] {
        let of = |part: u16, parts: u16| share(part, parts, GRID.1);
        if self.halves {
            [of(2 * row, 2 * self.rows), of(2 * row + 1, 2 * self.rows)]
        } else {
            [of(row, self.rows), of(row, self.rows)]
        }
    }
}

/// What one of several parts has of a number of tiles: at least one.
fn share(part: u16, parts: u16, tiles: u8) -> Range<u8> {
    let at = |part: u16| (part * u16::from(tiles) / parts.max(1)) as u8;
    at(part)..at(part + 1).max(at(part) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tile_is_in_some_cell() {
        for scale in SCALES {
            let across: Vec<_> = (0..scale.columns).flat_map(|x| scale.tiles_across(x)).collect();
            let down = |row| scale.tiles_down(row).into_iter().flatten();
            let down: Vec<_> = (0..scale.rows).flat_map(down).collect();
            assert!((0..GRID.0).all(|x| across.contains(&x)), "{scale:?}");
            assert!((0..GRID.1).all(|y| down.contains(&y)), "{scale:?}");
            assert!(across.iter().all(|x| *x < GRID.0) && down.iter().all(|y| *y < GRID.1));
        }
    }

    #[test]
    fn the_tiles_of_a_galaxy_fit_120_by_40() {
        let galaxy = Scale::of_mesh((8, 4), (120, 31));
        assert_eq!((galaxy.columns, galaxy.rows, galaxy.halves), (10, 6, true));
    }
}
