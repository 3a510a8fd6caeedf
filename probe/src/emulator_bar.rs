//! The emulated mesh in this very process, behind the same trait as every other machine.

use crate::bar::{Bar, BarOp};
use crate::snapshot::AccessError;
use crate::windows;
use emulator::Mesh;
use layouts::NocXy;

/// A [`Bar`] over an emulated mesh.
pub struct EmulatorBar {
    mesh: Mesh,
}

/// Name of the list of refusals that goes with the emulator: none, it answers whatever silicon does.
pub const PROFILE: &str = "emulator";

/// A machine that goes wrong goes wrong often; the first conditions tell why.
const MOST_REMARKS: usize = 16;

impl EmulatorBar {
    /// Takes the mesh.
    pub fn new(mesh: Mesh) -> Self {
        Self { mesh }
    }

    /// The mesh, for what no bus shows: its conditions and its journal.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The mesh, for what no bus does: links that fail, resets.
    pub fn mesh_mut(&mut self) -> &mut Mesh {
        &mut self.mesh
    }
}

impl Bar for EmulatorBar {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        for op in batch {
            match op {
                BarOp::ConfigRead { device, offset } => {
                    let word = self.mesh.config_read(usize::from(*device), u32::from(*offset));
                    answer.extend(word.to_le_bytes());
                }
                BarOp::Read { device, bar, offset, len, .. } => {
                    let start = answer.len();
                    answer.resize(start + *len as usize, 0);
                    let out = &mut answer[start..];
                    self.mesh.bar_read(usize::from(*device), *bar, *offset, out);
                }
                BarOp::Write { device, bar, offset, bytes } => {
                    self.mesh.bar_write(usize::from(*device), *bar, *offset, bytes);
                }
                BarOp::Point { device, window, x, y, page, order } => {
                    let tile = NocXy { x: *x, y: *y };
                    if let Some((offset, entry)) = windows::entry(*window, tile, *page, *order) {
                        let bytes = entry.to_le_bytes();
                        self.mesh.bar_write(usize::from(*device), 0, offset, &bytes);
                    }
                }
                BarOp::Pass { cycles } => self.mesh.clock(*cycles),
                BarOp::Now => answer.extend(self.mesh.now().to_le_bytes()),
            }
            if op.ends(answer) {
                break;
            }
        }
        Ok(())
    }

    fn remarks(&mut self) -> Vec<String> {
        self.mesh.conditions().iter().take(MOST_REMARKS).map(ToString::to_string).collect()
    }
}
