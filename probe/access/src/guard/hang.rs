//! Distinguishes a value of all ones from a hung tile or a dead bus (wormhole.md 1.6).

use crate::bus::Bus;
use crate::planner::MergedRange;
use layouts::{ChipLayout, NocXy, Space, TileKind};
use machine::snapshot::AccessError;

/// Longest time of an answered access, in cycles: 100 ms. For an unanswered access the PCIe
/// controller gives up after 200 to 700 ms.
const UNANSWERED_CYCLES: u64 = 100_000_000;

/// The cause of a suspicious answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HangVerdict {
    /// The tile is alive: all ones were a value.
    Value,
    /// The tile hangs.
    Tile(AccessError),
    /// The chip's NoC hangs, or the chip left the bus.
    Device(AccessError),
}

/// Reads registers, from the host outwards and up to the first that does not answer: the ARC's NIU
/// in BAR0, the same register over the NoC, the tile's own NIU. Returns the time as well. `run` is
/// the range that read as ones, in a batch that began at `since`.
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
            "device {device} answers all ones, including its ARC's node id"
        ))),
        (_, false, ..) => HangVerdict::Device(AccessError::Unreachable(format!(
            "the NoC of device {device} hangs: its ARC tile answers all ones over it"
        ))),
        (_, _, false, _) => HangVerdict::Tile(AccessError::Hung(format!(
            "tile {tile} hangs: it answers all ones, including its node id"
        ))),
        (_, _, _, false) => HangVerdict::Tile(AccessError::Unreachable(format!(
            "the clock of tile {tile} is switched off"
        ))),
        _ if now.saturating_sub(since) > UNANSWERED_CYCLES => time_alone(bus, device, run)?,
        _ => HangVerdict::Value,
    };
    Ok((verdict, now))
}

/// Repeats a slow read alone, to find whether this word was slow.
fn time_alone(bus: &mut Bus, device: u8, run: &MergedRange) -> Result<HangVerdict, AccessError> {
    let mut answer = run.read(bus.batch().now(), device, 4).now().run();
    let (began, word, ended) = (answer.cycles()?, answer.word()?, answer.cycles()?);
    let took = ended.saturating_sub(began);
    if word != u32::MAX || took <= UNANSWERED_CYCLES {
        return Ok(HangVerdict::Value);
    }
    let (tile, took) = (run.tile, took / 1_000_000);
    let why = format!("tile {tile} hangs: it answers all ones after {took} ms");
    Ok(HangVerdict::Tile(AccessError::Hung(why)))
}

/// Bit of NIU_CFG_0 that switches the tile's clock off (wormhole.md 3.3).
const CLOCK_OFF: u32 = 1 << 12;

/// Returns the block of NIU 0 of a tile.
fn block(layout: &ChipLayout, tile: NocXy) -> Result<u64, AccessError> {
    let kind = layout.kind_at(tile);
    // The vendor's simulator knows only the copies in a DRAM tile's own address space.
    let name = if kind == TileKind::Dram { "niu0_copy0" } else { "niu0" };
    let none = || AccessError::Refused(format!("tile {tile} has no readable NIU"));
    layout.block(Space::Tile(kind), name).ok_or_else(none)
}

/// Returns the address of the register with a tile's coordinates.
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
