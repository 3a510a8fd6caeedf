//! Bare chips and boards for tests and benches. Scenes take tiles and links from the layouts
//! instead.

use crate::config::{ChipConfig, LinkConfig, MeshConfig, TileConfig, TileKind};

/// Columns of E0 to E7, and again of E8 to E15 (wormhole.md 3.1).
const ETH_COLUMNS: [u8; 8] = [9, 1, 8, 2, 7, 3, 6, 4];
/// Rows of the three ports of each DRAM channel; the first two channels are in column 0, the others
/// in column 5.
const DRAM_ROWS: [[u8; 3]; 6] =
    [[0, 1, 11], [5, 6, 7], [0, 1, 11], [2, 9, 10], [3, 4, 8], [5, 6, 7]];

impl ChipConfig {
    /// Creates a whole Wormhole B0 without memory contents: 80 Tensix tiles, 16 Ethernet tiles, 6
    /// DRAM channels, all harts in reset.
    pub fn wormhole(pcie: bool) -> Self {
        let mut tiles = Vec::new();
        let mut add = |x, y, kind| tiles.push(TileConfig { x, y, kind, harvested: false });
        for y in [1, 2, 3, 4, 5, 7, 8, 9, 10, 11] {
            for x in [1, 2, 3, 4, 6, 7, 8, 9] {
                add(x, y, TileKind::Tensix);
            }
        }
        for channel in 0..16 {
            let x = ETH_COLUMNS[usize::from(channel % 8)];
            add(x, if channel < 8 { 0 } else { 6 }, TileKind::Eth { channel });
        }
        for (channel, rows) in (0..6).zip(DRAM_ROWS) {
            for (port, y) in (0..3).zip(rows) {
                add(if channel < 2 { 0 } else { 5 }, y, TileKind::Dram { channel, port });
            }
        }
        add(0, 10, TileKind::Arc);
        add(0, 3, TileKind::Pcie);
        for y in [2, 4, 8, 9] {
            add(0, y, TileKind::Router);
        }
        Self { pcie, tiles, ..Self::default() }
    }

    /// Fuses off the Tensix tiles of a row.
    pub fn harvest_row(&mut self, row: u8) {
        for tile in self.tiles.iter_mut().filter(|t| t.y == row && t.kind == TileKind::Tensix) {
            tile.harvested = true;
        }
    }

    /// Returns the coordinates of an Ethernet channel on NOC 0.
    pub fn eth_tile(&self, channel: u8) -> Option<(u8, u8)> {
        let tile = self.tiles.iter().find(|t| t.kind == TileKind::Eth { channel })?;
        Some((tile.x, tile.y))
    }
}

impl MeshConfig {
    /// Creates two bare chips linked like an n300: E8 and E9 of the first to E0 and E1 of the
    /// second (wormhole.md 5.1).
    pub fn n300() -> Self {
        Self {
            chips: vec![ChipConfig::wormhole(true), ChipConfig::wormhole(false)],
            links: vec![LinkConfig::new((0, 8), (1, 0)), LinkConfig::new((0, 9), (1, 1))],
            ..Self::default()
        }
    }
}
