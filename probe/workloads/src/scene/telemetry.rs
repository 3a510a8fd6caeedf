//! ARC telemetry of an emulated chip: the values that a card with firmware bundle 18.4 publishes.

use super::SceneError;
use layouts::{ChipLayout, DescribedChip};

/// Bundle 18.4.0, the first with the tag table (wormhole.md 8).
const FIRMWARE_BUNDLE: u32 = 18 << 24 | 4 << 16;
/// Degrees Celsius in the upper half, of a busy card in a warm room (wormhole.md 8, as in the
/// vendor's simulator).
const ASIC_TEMPERATURE: u32 = 40 << 16;
const BOARD_TEMPERATURE: u32 = 35 << 16;
/// Clocks in MHz, from the same source.
const AICLK: u32 = 1000;
const AXICLK: u32 = 900;
const ARCCLK: u32 = 540;
/// Sixteen Ethernet tiles are live. Six DRAM channels are trained: the lower of the two bits of
/// each.
const ETH_LIVE: u32 = 0xFFFF;
const GDDR_STATUS: u32 = 0x555;
/// First bit of the type in a board's id (wormhole.md 8).
const TYPE_SHIFT: u32 = 36;
/// The heartbeat at power on; the emulator increments it.
const FIRST_HEARTBEAT: u32 = 1;

/// Returns the board's id. If the descriptor has only the board's type, the serial number is 0.
fn board_id(layout: &ChipLayout, chip: &DescribedChip) -> u64 {
    let Some(board) = &chip.board else { return 0 };
    let typed = || layout.arc.board_named(board.kind.as_deref()?);
    board.id.or_else(|| Some(u64::from(typed()?.code) << TYPE_SHIFT)).unwrap_or(0)
}

/// Returns the tags and values of a chip's telemetry.
///
/// # Errors
/// If the layout has no tag of a name.
pub(super) fn telemetry(
    layout: &ChipLayout,
    chip: &DescribedChip,
) -> Result<Vec<(u16, u32)>, SceneError> {
    let board = board_id(layout, chip);
    let unique = chip.unique_id.unwrap_or(0);
    let rows = &layout.tiles.harvesting.arc_rows;
    let harvesting = rows.iter().zip(0..).filter(|(row, _)| chip.harvested_rows.contains(row));
    let values = [
        ("board_id_high", (board >> 32) as u32),
        ("board_id_low", board as u32),
        ("harvesting", harvesting.fold(0, |mask, (_, bit)| mask | 1 << bit)),
        ("asic_temperature", ASIC_TEMPERATURE),
        ("board_temperature", BOARD_TEMPERATURE),
        ("aiclk", AICLK),
        ("axiclk", AXICLK),
        ("arcclk", ARCCLK),
        ("eth_live", ETH_LIVE),
        ("gddr_status", GDDR_STATUS),
        ("firmware_bundle", FIRMWARE_BUNDLE),
        ("heartbeat", FIRST_HEARTBEAT),
        ("noc_translation", chip.noc_translation.into()),
        ("asic_location", chip.asic_location.unwrap_or(0) as u32),
        ("asic_id_high", (unique >> 32) as u32),
        ("asic_id_low", unique as u32),
    ];
    let tagged = values.iter().map(|(name, value)| {
        let missing = || SceneError::Mesh(format!("telemetry has no tag {name}"));
        Ok((layout.arc.tag(name).ok_or_else(missing)?, *value))
    });
    tagged.collect()
}
