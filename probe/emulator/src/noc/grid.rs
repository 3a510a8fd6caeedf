//! Coordinates: NOC 0, NOC 1 and translated, and packet routes between them (wormhole.md 3 and
//! wormhole.md 3.2).

use crate::config::{GRID_HEIGHT, GRID_WIDTH, TileConfig, TileKind};

/// A place on NOC 0: column, row.
pub(crate) type Xy = (u8, u8);

/// The coordinate tables of a NIU, 32 four-bit entries each, as read at NIU_CFG offsets 0x118 and
/// 0x128.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tables {
    pub(crate) x: [u32; 4],
    pub(crate) y: [u32; 4],
}

/// Packs 32 entries of 4 bits.
fn pack(entries: [u8; 32]) -> [u32; 4] {
    let mut words = [0u32; 4];
    for (i, entry) in entries.into_iter().enumerate() {
        words[i / 8] |= u32::from(entry & 15) << (4 * (i % 8));
    }
    words
}

/// Looks a coordinate up in a table of 32 four-bit entries.
pub(crate) fn look_up(table: &[u32], coordinate: u8) -> u8 {
    let i = usize::from(coordinate & 31);
    table.get(i / 8).map_or(0, |word| (word >> (4 * (i % 8)) & 15) as u8)
}

/// Returns the Tensix rows in ascending order, those with a harvested tile last: the meaning of y
/// 18 to 27.
fn rows(tiles: &[TileConfig]) -> [u8; 10] {
    let dead =
        |row: u8| tiles.iter().any(|t| t.kind == TileKind::Tensix && t.y == row && t.harvested);
    let mut rows = [1, 2, 3, 4, 5, 7, 8, 9, 10, 11];
    rows.sort_by_key(|row| dead(*row));
    rows
}

/// Returns the tables that ARC firmware writes for one NoC.
pub(crate) fn tables(tiles: &[TileConfig], noc: usize) -> Tables {
    let mut x = [0; 32];
    let mut y = [0; 32];
    for i in 0..16 {
        (x[usize::from(i)], y[usize::from(i)]) = (i, i);
    }
    let columns = [0, 5, 1, 2, 3, 4, 6, 7, 8, 9];
    for (slot, column) in x[16..].iter_mut().zip(columns) {
        *slot = if noc == 0 { column } else { GRID_WIDTH - 1 - column };
    }
    let all_rows = [0, 6].into_iter().chain(rows(tiles));
    for (slot, row) in y[16..].iter_mut().zip(all_rows) {
        *slot = if noc == 0 { row } else { GRID_HEIGHT - 1 - row };
    }
    Tables { x: pack(x), y: pack(y) }
}

/// Returns the translated coordinates of a tile: the inverse of the tables.
pub(crate) fn logical(tiles: &[TileConfig], at: Xy) -> Xy {
    let tables = tables(tiles, 0);
    let find = |table: &[u32], value: u8| (16..28).find(|i| look_up(table, *i) == value);
    (find(&tables.x, at.0).unwrap_or(at.0), find(&tables.y, at.1).unwrap_or(at.1))
}

/// Converts a tile's coordinates between NOC 0 and this NoC; its own inverse.
pub(crate) fn flip(noc: usize, (x, y): Xy) -> Xy {
    if noc == 0 { (x, y) } else { (GRID_WIDTH - 1 - x, GRID_HEIGHT - 1 - y) }
}

/// Converts coordinates from software to those of NOC 0; coordinates off the grid stay off it.
pub(crate) fn flip_checked(noc: usize, at: Xy) -> Xy {
    if on_grid(at) { flip(noc, at) } else { (u8::MAX, u8::MAX) }
}

/// Whether this is a place of the grid.
pub(crate) fn on_grid((x, y): Xy) -> bool {
    x < GRID_WIDTH && y < GRID_HEIGHT
}

/// Returns the router-to-router hops of a packet on this NoC, which goes in one direction on both
/// axes.
pub(crate) fn hops(noc: usize, from: Xy, to: Xy) -> u64 {
    let ((fx, fy), (tx, ty)) = (flip(noc, from), flip(noc, to));
    let dx = (tx + GRID_WIDTH - fx) % GRID_WIDTH;
    let dy = (ty + GRID_HEIGHT - fy) % GRID_HEIGHT;
    u64::from(dx) + u64::from(dy)
}

/// Whether `at` is within the span of a multicast axis, which wraps if it starts after its end.
pub(crate) fn in_span(start: u8, end: u8, at: u8) -> bool {
    if start <= end { (start..=end).contains(&at) } else { at <= end || at >= start }
}

/// Returns masks of the columns and rows that take no multicasts: those without live Tensix tiles.
/// Both NoCs have the same masks, numbered as on NOC 0, as in the vendor's simulator.
pub(crate) fn opt_out(tiles: &[TileConfig]) -> (u32, u32) {
    let (mut columns, mut dead_rows) = ((1 << GRID_WIDTH) - 1, (1 << GRID_HEIGHT) - 1);
    let live = |t: &&TileConfig| t.kind == TileKind::Tensix && !t.harvested;
    for tile in tiles.iter().filter(live) {
        columns &= !(1 << tile.x);
        dead_rows &= !(1 << tile.y);
    }
    (columns, dead_rows)
}

#[cfg(test)]
mod tests {
    use super::{hops, in_span, logical, look_up, tables};
    use crate::config::{TileConfig, TileKind};

    #[test]
    fn harvested_rows_move_to_the_end() {
        let tile = |y, harvested| TileConfig { x: 1, y, kind: TileKind::Tensix, harvested };
        let tiles = [tile(7, true), tile(10, true), tile(1, false)];
        let noc0 = tables(&tiles, 0);
        let rows: Vec<u8> = (18..28).map(|y| look_up(&noc0.y, y)).collect();
        assert_eq!(rows, [1, 2, 3, 4, 5, 8, 9, 11, 7, 10]);
        let noc1 = tables(&tiles, 1);
        assert_eq!((look_up(&noc1.x, 25), look_up(&noc1.y, 26)), (0, 4));
        assert_eq!(logical(&tiles, (9, 6)), (25, 17));
        assert_eq!(logical(&tiles, (4, 11)), (21, 25));
    }

    #[test]
    fn packets_go_one_way_round() {
        assert_eq!(hops(0, (1, 1), (2, 1)), 1);
        assert_eq!(hops(0, (2, 1), (1, 1)), 9);
        assert_eq!(hops(1, (2, 1), (1, 1)), 1);
        assert_eq!(hops(0, (0, 11), (0, 0)), 1);
        assert!(in_span(8, 1, 9) && in_span(8, 1, 0) && !in_span(8, 1, 5));
    }
}
