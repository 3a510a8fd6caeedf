//! The `soc_descriptor.yaml` that UMD reads beside a simulator's library: the tiles of the first
//! device.

use crate::error::MachineError;
use crate::machine::power_on;
use emulator::memory::{ETH_L1_BYTES, TENSIX_L1_BYTES};
use emulator::{ChipConfig, GRID_HEIGHT, GRID_WIDTH, TileKind};

/// Bytes behind the three ports of a DRAM channel.
const DRAM_BYTES: u64 = 2 << 30;
const DRAM_CHANNELS: u8 = 6;

/// Returns the descriptor of the first device of the mesh that `words` names, in the form of a
/// target after `emulator:`. Harvested rows are omitted: UMD does not query a simulator for
/// harvesting.
///
/// # Errors
/// The error in the words.
pub fn soc_descriptor(words: &str) -> Result<String, MachineError> {
    let mesh = power_on(words)?.mesh;
    let chip = mesh.config().chips.iter().find(|chip| chip.pcie);
    chip.map(text).ok_or(MachineError::NoPcie)
}

fn text(chip: &ChipConfig) -> String {
    let list = |wanted: &dyn Fn(TileKind) -> bool| {
        let tiles = chip.tiles.iter().filter(|tile| wanted(tile.kind) && !tile.harvested);
        let mut places: Vec<_> = tiles.map(|tile| (order(tile.kind), tile.y, tile.x)).collect();
        places.sort_unstable();
        let names: Vec<String> = places.iter().map(|(_, y, x)| format!("{x}-{y}")).collect();
        format!("[{}]", names.join(", "))
    };
    let dram = (0..DRAM_CHANNELS).map(|number| {
        list(&|kind| matches!(kind, TileKind::Dram { channel, .. } if channel == number))
    });
    let mirror = |size: u8| (0..size).rev().map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    format!(
        "arch_name: WORMHOLE_B0\n\
         grid: {{x_size: {GRID_WIDTH}, y_size: {GRID_HEIGHT}}}\n\
         arc: {}\n\
         pcie: {}\n\
         dram: [{}]\n\
         eth: {}\n\
         functional_workers: {}\n\
         router_only: {}\n\
         noc0_x_to_noc1_x: [{}]\n\
         noc0_y_to_noc1_y: [{}]\n\
         worker_l1_size: {TENSIX_L1_BYTES}\n\
         eth_l1_size: {ETH_L1_BYTES}\n\
         dram_bank_size: {DRAM_BYTES}\n",
        list(&|kind| kind == TileKind::Arc),
        list(&|kind| kind == TileKind::Pcie),
        dram.collect::<Vec<_>>().join(", "),
        list(&|kind| matches!(kind, TileKind::Eth { .. })),
        list(&|kind| kind == TileKind::Tensix),
        list(&|kind| kind == TileKind::Router),
        mirror(GRID_WIDTH),
        mirror(GRID_HEIGHT),
    )
}

/// Returns the sort key before row and column: the number of tiles that have one.
fn order(kind: TileKind) -> u8 {
    match kind {
        TileKind::Eth { channel } => channel,
        TileKind::Dram { port, .. } => port,
        _ => 0,
    }
}
