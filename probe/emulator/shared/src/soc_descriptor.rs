//! The `soc_descriptor.yaml` that UMD reads beside a simulator's library: the tiles of the first
//! device.

use crate::error::MachineError;
use crate::machine::power_on;
use emulator::TileKind;
use machine::fault::EMULATED;

/// Returns the descriptor of the first device of the mesh that `words` names, in the form of a
/// target after `emulator:`.
///
/// # Errors
/// The error in the words.
pub fn soc_descriptor(words: &str) -> Result<String, MachineError> {
    let mesh = power_on(words)?.mesh;
    let chip = mesh.config().chips.iter().find(|chip| chip.pcie).ok_or(MachineError::NoPcie)?;
    let harvested =
        chip.tiles.iter().filter(|tile| tile.kind == TileKind::Tensix && tile.harvested);
    let rows: Vec<u8> = harvested.map(|tile| tile.y).collect();
    Ok(EMULATED.layout().soc_descriptor(&rows))
}
