//! All ones may be a value or a dead bus: who still answers tells (wormhole.md 1.6).

use crate::bus::Bus;
use crate::snapshot::AccessError;
use crate::wormhole::{node_id_probe, tile_kind};
use layouts::{NocXy, Space, TileKind, wormhole};

/// An answered access never takes as long, in cycles: 100 ms. One that is never answered takes 200
/// to 700 ms until the PCIe controller gives up.
const UNANSWERED_CYCLES: u64 = 100_000_000;

/// What stands behind a suspicious answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The tile lives: all ones were a value.
    Value,
    /// The tile hangs.
    Tile(AccessError),
    /// The chip's NoC hangs, or the chip left the bus.
    Device(AccessError),
}

/// Asks, from the host outwards and no further than the first that does not answer: the ARC's NIU
/// in BAR0, the same register over the NoC, the tile's own NIU. Gives the time as well; `since` is
/// when the accesses in doubt began.
///
/// # Errors
/// When the machine itself is gone.
pub(super) fn confirm(
    bus: &mut Bus,
    device: u8,
    tile: NocXy,
    since: u64,
) -> Result<(Verdict, u64), AccessError> {
    let arc = wormhole().arc_tile();
    let mut batch = bus.batch().now();
    if let Some(probe) = node_id_probe() {
        batch = batch.bar_word(device, probe).end_if_ones(4);
    }
    batch = batch.register(device, arc, niu(arc)).end_if_ones(4);
    batch = batch.register(device, tile, niu(tile)).end_if_ones(4);
    if has_clock_gate(tile) {
        batch = batch.register(device, tile, clock_gate(tile));
    }
    let mut answer = batch.run();
    let now = answer.cycles()?;
    let on_the_bus = answer.word()? != u32::MAX;
    let noc = on_the_bus && answer.word()? != u32::MAX;
    let endpoint = noc && answer.word()? != u32::MAX;
    let clocked = endpoint && (!has_clock_gate(tile) || answer.word()? & CLOCK_OFF == 0);
    let late = now.saturating_sub(since) > UNANSWERED_CYCLES;
    let verdict = match (on_the_bus, noc, endpoint, clocked) {
        (false, ..) => Verdict::Device(AccessError::DeviceGone(format!(
            "device {device} answers all ones, its ARC's node id too"
        ))),
        (_, false, ..) => Verdict::Device(AccessError::Unreachable(format!(
            "the NoC of device {device} hangs: its ARC tile answers all ones over it"
        ))),
        (_, _, false, _) => Verdict::Tile(AccessError::Unreachable(format!(
            "tile {tile} hangs: it answers all ones, its node id too"
        ))),
        (_, _, _, false) => Verdict::Tile(AccessError::Unreachable(format!(
            "the clock of tile {tile} is switched off"
        ))),
        _ if late => Verdict::Tile(AccessError::Unreachable(format!(
            "tile {tile} hangs: it answers all ones, and only after {} ms",
            now.saturating_sub(since) / 1_000_000
        ))),
        _ => Verdict::Value,
    };
    Ok((verdict, now))
}

/// Bit of NIU_CFG_0 that switches the tile's clock off (wormhole.md 3.3).
const CLOCK_OFF: u32 = 1 << 12;

/// The block of NIU 0 of a tile.
fn block(tile: NocXy) -> u64 {
    let kind = tile_kind(tile);
    // Of a DRAM tile the vendor's simulator knows the copies in the tile's own space only.
    let name = if kind == TileKind::Dram { "niu0_copy0" } else { "niu0" };
    wormhole().block(Space::Tile(kind), name).unwrap_or_default()
}

fn niu(tile: NocXy) -> u64 {
    block(tile) + wormhole().niu.node_id.at
}

fn clock_gate(tile: NocXy) -> u64 {
    block(tile) + wormhole().niu.cfg_0.at
}

fn has_clock_gate(tile: NocXy) -> bool {
    matches!(tile_kind(tile), TileKind::Tensix | TileKind::Eth)
}
