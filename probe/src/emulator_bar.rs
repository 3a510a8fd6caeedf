//! The emulated mesh in this very process, behind the same trait as every other machine.

use crate::bar::{Bar, BarOp};
use crate::fault::{CoreFault, Fault, LinkFault, Station, What};
use crate::snapshot::AccessError;
use crate::windows;
use emulator::{Disruption, HartId, Mesh, MeshConfig};
use layouts::{NocXy, wormhole};

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

    fn disrupt(&mut self, at: Station, fault: &Fault) -> Result<(), AccessError> {
        let absent = || AccessError::Refused(format!("{fault}: this mesh has no such place"));
        let chips = || self.mesh.config().chips.iter();
        let chip = match at {
            Station::Device(device) => {
                (0..).zip(chips()).filter(|(_, chip)| chip.pcie).nth(usize::from(device))
            }
            Station::At(place) => (0..).zip(chips()).find(|(_, chip)| chip.place == Some(place)),
        };
        let (chip, _) = chip.ok_or_else(absent)?;
        let what = disruption(self.mesh.config(), chip, fault).ok_or_else(absent)?;
        if self.mesh.disrupt(what, fault.from_cycles, fault.until_cycles) {
            Ok(())
        } else {
            Err(absent())
        }
    }

    fn most_devices(&self) -> u8 {
        self.mesh.config().chips.iter().filter(|chip| chip.pcie).count() as u8
    }

    fn remarks(&mut self) -> Vec<String> {
        self.mesh.conditions().iter().take(MOST_REMARKS).map(ToString::to_string).collect()
    }
}

/// The emulator's words for a fault at one of its chips.
fn disruption(config: &MeshConfig, chip: usize, fault: &Fault) -> Option<Disruption> {
    Some(match fault.what {
        What::Link(end, what) => {
            let end = (chip, end.channel);
            let link = config.links.iter().position(|link| link.a == end || link.b == end)?;
            match what {
                LinkFault::Down => Disruption::LinkDown { link },
                LinkFault::Flap { period_cycles } => Disruption::LinkFlap { link, period_cycles },
                LinkFault::Slow { factor } => Disruption::LinkSlow { link, factor },
                LinkFault::BitErrors { per_terabit } => Disruption::BitErrors { link, per_terabit },
                LinkFault::SlowAck { delay_cycles } => {
                    let end = usize::from(config.links.get(link)?.b == end);
                    Disruption::SlowAck { link, end, delay_cycles }
                }
                LinkFault::Up => Disruption::LinkMended { link },
            }
        }
        What::Core(core, what) => {
            let kind = wormhole().tile_at(core.tile)?.kind;
            let hart = kind.cores().iter().position(|other| *other == core.core)? as u8;
            let hart = HartId { chip, x: core.tile.x, y: core.tile.y, hart };
            match what {
                CoreFault::Stuck => Disruption::StuckCore(hart),
                CoreFault::Released => Disruption::CoreReleased(hart),
            }
        }
    })
}
