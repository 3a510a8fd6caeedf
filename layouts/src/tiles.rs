//! The grid of tiles: the tile at each NOC 0 coordinate, and the Ethernet and DRAM channels.

use crate::address::{NocXy, TileKind};
use serde::Deserialize;

/// `tiles.toml`: kinds and coordinates of all tiles.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiles {
    /// Columns of the grid.
    pub columns: u8,
    /// Rows of the grid.
    pub rows: u8,
    /// Compute tiles.
    pub tensix: TensixGrid,
    /// Ethernet tiles.
    pub eth: EthTiles,
    /// DRAM ports.
    pub dram: DramTiles,
    /// ARC, PCIe and router tiles.
    pub other: OtherTiles,
    /// Translated coordinates.
    pub translation: Translation,
    /// Encodings of the fused-off rows.
    pub harvesting: Harvesting,
}

/// Compute tiles: one at every crossing.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensixGrid {
    /// Columns, ascending.
    pub columns: Vec<u8>,
    /// Rows, ascending.
    pub rows: Vec<u8>,
}

/// Ethernet tiles in channel order.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EthTiles {
    /// (x, y) of each channel.
    pub channels: Vec<(u8, u8)>,
}

/// DRAM channels and their ports.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DramTiles {
    /// Memory of one channel in bytes.
    pub channel_bytes: u64,
    /// (x, y) of the ports of each channel.
    pub channels: Vec<Vec<(u8, u8)>>,
}

/// ARC, PCIe and tiles that only route.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherTiles {
    /// The management processor.
    pub arc: (u8, u8),
    /// The PCIe endpoint.
    pub pcie: (u8, u8),
    /// Tiles with a router only.
    pub router: Vec<(u8, u8)>,
}

/// The numbering of translated coordinates.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Translation {
    /// Translated x of `columns[0]`.
    pub first_x: u8,
    /// Columns in the order of translated x.
    pub columns: Vec<u8>,
    /// Translated y of `rows[0]`.
    pub first_y: u8,
    /// Rows without compute tiles in the order of translated y.
    pub rows: Vec<u8>,
    /// Translated y of the first live Tensix row.
    pub first_tensix_y: u8,
}

/// Encodings of harvested rows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Harvesting {
    /// The row of each bit of ARC's mask.
    pub arc_rows: Vec<u8>,
    /// Bits of ROUTER_CFG_3 that are always set.
    pub router_cfg_always: Vec<u8>,
}

/// One tile of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tile {
    /// Its coordinates on NOC 0.
    pub xy: NocXy,
    /// Its kind.
    pub kind: TileKind,
    /// Ethernet or DRAM channel.
    pub channel: Option<u8>,
    /// Port of the DRAM channel, 0 to 2.
    pub port: Option<u8>,
}

impl Tiles {
    /// Returns every tile in the file, sorted by row and then column.
    pub fn all(&self) -> Vec<Tile> {
        let plain =
            |kind, &(x, y): &(u8, u8)| Tile { xy: NocXy { x, y }, kind, channel: None, port: None };
        let mut tiles: Vec<Tile> = Vec::new();
        for y in &self.tensix.rows {
            tiles.extend(self.tensix.columns.iter().map(|x| plain(TileKind::Tensix, &(*x, *y))));
        }
        for (channel, xy) in (0..).zip(&self.eth.channels) {
            tiles.push(Tile { channel: Some(channel), ..plain(TileKind::Eth, xy) });
        }
        for (channel, ports) in (0..).zip(&self.dram.channels) {
            for (port, xy) in (0..).zip(ports) {
                tiles.push(Tile {
                    channel: Some(channel),
                    port: Some(port),
                    ..plain(TileKind::Dram, xy)
                });
            }
        }
        tiles.push(plain(TileKind::Arc, &self.other.arc));
        tiles.push(plain(TileKind::Pcie, &self.other.pcie));
        tiles.extend(self.other.router.iter().map(|xy| plain(TileKind::Router, xy)));
        tiles.sort_by_key(|tile| (tile.xy.y, tile.xy.x));
        tiles
    }
}
