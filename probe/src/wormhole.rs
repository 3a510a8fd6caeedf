//! Short questions to the layouts that the access layer asks all the time.

use layouts::{NocXy, Space, Stand, TileKind, wormhole};

/// What stands at a place of the grid, harvesting aside; a router where nothing else does.
pub(crate) fn tile_kind(tile: NocXy) -> TileKind {
    wormhole().tile_at(tile).map_or(TileKind::Router, |tile| tile.kind)
}

/// The tile of an Ethernet channel; channels that a Wormhole lacks share the first one's.
pub(crate) fn eth_tile(channel: u8) -> NocXy {
    wormhole().eth_channel(channel).unwrap_or(NocXy { x: 9, y: 0 })
}

/// Is this range plain memory, where alignment and neighbours do not matter?
pub(crate) fn is_memory(tile: NocXy, offset: u64, len: u64) -> bool {
    wormhole().stand(Space::Tile(tile_kind(tile)), offset, len) == Some(Stand::Memory)
}

/// PCI config word 0 of a Wormhole: device and vendor.
pub(crate) fn config_id() -> u32 {
    let bar = &wormhole().bar;
    u32::from(bar.device_id) << 16 | u32::from(bar.vendor_id)
}

/// What a device with this config word 0 is, where that is no Wormhole.
pub(crate) fn stranger(id: u32) -> String {
    let bar = &wormhole().bar;
    let vendors = id as u16 == bar.vendor_id;
    let name = bar.other_devices.get(&((id >> 16) as u16)).filter(|_| vendors);
    name.map_or_else(|| format!("PCI id {id:#010x}"), |name| format!("a {name}"))
}

/// BAR0 offset of the ARC's NIU node id: all ones when the chip left the bus (wormhole.md 1.6).
pub(crate) fn node_id_probe() -> Option<u64> {
    Some(wormhole().block(Space::Bar0, "arc_niu0")? + wormhole().niu.node_id.at)
}

/// A register of an Ethernet tile by block and offset in it.
pub(crate) fn eth_register(block: &str, at: u64) -> u64 {
    wormhole().block(Space::Tile(TileKind::Eth), block).unwrap_or_default() + at
}
