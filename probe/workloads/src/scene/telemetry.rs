//! What the ARC of an emulated chip tells of it: values that a card of firmware bundle 18.4 publishes.

use layouts::{ChipKind, DescribedChip};

/// Bundle 18.4.0, the first with the table of tags (wormhole.md 8).
const FIRMWARE_BUNDLE: u32 = 18 << 24 | 4 << 16;
/// Degrees in the upper half: those of a card at work in a warm room (wormhole.md 8, as the vendor's simulator has it).
const ASIC_TEMPERATURE: u32 = 40 << 16;
const BOARD_TEMPERATURE: u32 = 35 << 16;
/// Clocks in MHz, same source.
const AICLK: u32 = 1000;
const AXICLK: u32 = 900;
const ARCCLK: u32 = 540;
/// Sixteen Ethernet tiles alive; six DRAM channels trained, each with two bits of which the lower says so.
const ETH_LIVE: u32 = 0xFFFF;
const GDDR_STATUS: u32 = 0x555;
/// Where in a board's id its type begins (wormhole.md 8).
const TYPE_SHIFT: u32 = 36;
/// The count goes on as time passes.
const FIRST_HEARTBEAT: u32 = 1;

/// The board's id. Where only its type is told it has no serial number, and its type all the same.
fn board_id(chip: &DescribedChip) -> u64 {
    let Some(board) = &chip.board else { return 0 };
    let typed = || ChipKind::Wormhole.layout().arc.board_called(board.kind.as_deref()?);
    board.id.or_else(|| Some(u64::from(typed()?.code) << TYPE_SHIFT)).unwrap_or_default()
}

/// Tags and values of a chip's telemetry.
pub(super) fn telemetry(chip: &DescribedChip) -> Vec<(u16, u32)> {
    let board = board_id(chip);
    let unique = chip.unique_id.unwrap_or_default();
    let rows = &ChipKind::Wormhole.layout().tiles.harvesting.arc_rows;
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
        ("asic_location", chip.asic_location.unwrap_or_default() as u32),
        ("asic_id_high", (unique >> 32) as u32),
        ("asic_id_low", unique as u32),
    ];
    let tagged = values
        .iter()
        .filter_map(|(name, value)| Some((ChipKind::Wormhole.layout().arc.tag(name)?, *value)));
    tagged.collect()
}
