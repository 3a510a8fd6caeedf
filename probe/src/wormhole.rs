//! The few numbers of the chip that the access layer itself lives by (sources: wormhole.md).

use layouts::{NocXy, TileKind};

/// PCI vendor and device of a Wormhole, as config word 0 shows them (wormhole.md 1.1).
pub(crate) const CONFIG_ID: u32 = 0x401E_1E52;

/// BAR0 offset of the window configuration array, 8 bytes a window (wormhole.md 1.2).
pub(crate) const WINDOW_CONFIG: u64 = 0x1FC0_0000;

/// A class of TLB windows: first index, how many, log2 of the size, BAR0 offset of the first.
pub(crate) struct WindowClass {
    pub(crate) first: u16,
    pub(crate) count: u16,
    pub(crate) size_log2: u32,
    pub(crate) bar_offset: u64,
}

/// All windows but 185, which belongs to tt-kmd (wormhole.md 1.2).
pub(crate) const WINDOW_CLASSES: [WindowClass; 3] = [
    WindowClass { first: 0, count: 156, size_log2: 20, bar_offset: 0 },
    WindowClass { first: 156, count: 10, size_log2: 21, bar_offset: 0x09C0_0000 },
    WindowClass { first: 166, count: 19, size_log2: 24, bar_offset: 0x0B00_0000 },
];

/// BAR0 offset of the ARC's NIU node id: all ones when the chip left the bus (wormhole.md 1.6).
pub(crate) const NODE_ID_PROBE: u64 = 0x1FF5_002C;

/// Columns of the Ethernet channels 0 to 7 at row 0 and 8 to 15 at row 6 (wormhole.md 3.1).
const ETH_COLUMNS: [u8; 8] = [9, 1, 8, 2, 7, 3, 6, 4];

/// The tile of an Ethernet channel.
pub(crate) fn eth_tile(channel: u8) -> NocXy {
    NocXy { x: ETH_COLUMNS[usize::from(channel % 8)], y: if channel < 8 { 0 } else { 6 } }
}

/// What stands at a place of the grid, harvesting aside (wormhole.md 3.1).
pub(crate) fn tile_kind(tile: NocXy) -> TileKind {
    match (tile.x, tile.y) {
        (0, 10) => TileKind::Arc,
        (0, 3) => TileKind::Pcie,
        (0, 2 | 4 | 8 | 9) => TileKind::Router,
        (0 | 5, _) => TileKind::Dram,
        (_, 0 | 6) => TileKind::Eth,
        _ => TileKind::Tensix,
    }
}

/// First byte after the memory that starts at offset 0 of a tile (wormhole.md 4.1, 5.1).
pub(crate) fn memory_bytes(kind: TileKind) -> u64 {
    match kind {
        TileKind::Tensix => 0x16_E000,
        TileKind::Eth => 0x4_0000,
        TileKind::Dram => 0x8000_0000,
        TileKind::Arc | TileKind::Pcie | TileKind::Router => 0,
    }
}
