//! All ones may be a value or a dead bus: who still answers tells (wormhole.md 1.6).

use crate::bus::Bus;
use crate::planner::MergedRange;
use layouts::{ChipLayout, NocXy, Space, TileKind};
use machine::snapshot::AccessError;

/// An answered access never takes as long, in cycles: 100 ms. One that is never answered takes 200
/// to 700 ms until the PCIe controller gives up.
const UNANSWERED_CYCLES: u64 = 100_000_000;

/// What stands behind a suspicious answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HangVerdict {
    /// The tile lives: all ones were a value.
    Value,
    /// The tile hangs.
    Tile(AccessError),
    /// The chip's NoC hangs, or the chip left the bus.
    Device(AccessError),
}

/// Asks, from the host outwards and no further than the first that does not answer: the ARC's NIU
/// in BAR0, the same register over the NoC, the tile's own NIU. Gives the time as well. `run` is
/// what was answered in ones, in a batch that began at `since`.
///
/// # Errors
/// When the machine itself is gone.
pub(super) fn confirm(
    bus: &mut Bus,
    device: u8,
    run: &MergedRange,
    since: u64,
) -> Result<(HangVerdict, u64), AccessError> {
    let tile = run.tile;
    let layout = bus.layout();
    let arc = layout.arc_tile();
    let mut batch = bus.batch().now();
    batch = batch.bar_word(device, layout.arc_node_id()).end_if_ones(4);
    batch = batch.register(device, arc, node_id(layout, arc)?).end_if_ones(4);
    batch = batch.register(device, tile, node_id(layout, tile)?).end_if_ones(4);
    if has_clock_gate(layout, tile) {
        batch = batch.register(device, tile, clock_gate(layout, tile)?);
    }
    let mut answer = batch.run();
    let now = answer.cycles()?;
    let on_the_bus = answer.word()? != u32::MAX;
    let noc = on_the_bus && answer.word()? != u32::MAX;
    let endpoint = noc && answer.word()? != u32::MAX;
    let clocked = endpoint && (!has_clock_gate(layout, tile) || answer.word()? & CLOCK_OFF == 0);
    let verdict = match (on_the_bus, noc, endpoint, clocked) {
        (false, ..) => HangVerdict::Device(AccessError::DeviceGone(format!(
            "device {device} answers all ones, its ARC's node id too"
        ))),
        (_, false, ..) => HangVerdict::Device(AccessError::Unreachable(format!(
            "the NoC of device {device} hangs: its ARC tile answers all ones over it"
        ))),
        (_, _, false, _) => HangVerdict::Tile(AccessError::Unreachable(format!(
            "tile {tile} hangs: it answers all ones, its node id too"
        ))),
        (_, _, _, false) => HangVerdict::Tile(AccessError::Unreachable(format!(
            "the clock of tile {tile} is switched off"
        ))),
        _ if now.saturating_sub(since) > UNANSWERED_CYCLES => alone(bus, device, run)?,
        _ => HangVerdict::Value,
    };
    Ok((verdict, now))
}

/// The batch took very long: did this word take so long by itself?
fn alone(bus: &mut Bus, device: u8, run: &MergedRange) -> Result<HangVerdict, AccessError> {
    let mut answer = run.read(bus.batch().now(), device, 4).now().run();
    let (began, word, ended) = (answer.cycles()?, answer.word()?, answer.cycles()?);
    let took = ended.saturating_sub(began);
    if word != u32::MAX || took <= UNANSWERED_CYCLES {
        return Ok(HangVerdict::Value);
    }
    let (tile, took) = (run.tile, took / 1_000_000);
    let why = format!("tile {tile} hangs: it answers all ones, and only after {took} ms");
    Ok(HangVerdict::Tile(AccessError::Unreachable(why)))
}

/// Bit of NIU_CFG_0 that switches the tile's clock off (wormhole.md 3.3).
const CLOCK_OFF: u32 = 1 << 12;

/// The block of NIU 0 of a tile.
fn block(layout: &ChipLayout, tile: NocXy) -> Result<u64, AccessError> {
    let kind = layout.kind_at(tile);
    // Of a DRAM tile the vendor's simulator knows the copies in the tile's own space only.
    let name = if kind == TileKind::Dram { "niu0_copy0" } else { "niu0" };
    let none = || AccessError::Refused(format!("tile {tile} has no NIU that can be read"));
    layout.block(Space::Tile(kind), name).ok_or_else(none)
}

/// The register in which a tile says where it stands.
///
/// # Errors
/// A tile without a NIU.
pub(super) fn node_id(layout: &ChipLayout, tile: NocXy) -> Result<u64, AccessError> {
    Ok(block(layout, tile)? + layout.niu.node_id.at)
}

fn clock_gate(layout: &ChipLayout, tile: NocXy) -> Result<u64, AccessError> {
    Ok(block(layout, tile)? + layout.niu.cfg_0.at)
}

fn has_clock_gate(layout: &ChipLayout, tile: NocXy) -> bool {
    matches!(layout.kind_at(tile), TileKind::Tensix | TileKind::Eth)
}
