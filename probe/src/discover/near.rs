//! A chip with PCIe: all that its Ethernet tiles publish in one batch, its board in two more.

use super::port::{CHANNELS, Port, Words, near_pieces};
use super::{Candidate, Walk, harvested_rows};
use crate::access::Route;
use crate::bus::Bus;
use crate::snapshot::AccessError;
use crate::telemetry::board_id;
use crate::wormhole::{config_id, eth_register, eth_tile, stranger};
use layouts::{Board, wormhole};

/// Devices 0 to 31 exist at most; the simulator ends its process when asked for more.
const DEVICES: u8 = 32;
/// Firmware that was started this very moment has not beaten yet: so many cycles pass before the next
/// look (ttsim's beats every 100 cycles), and so often at most.
const BEAT_CYCLES: u64 = 250;
const BEAT_LOOKS: u32 = 8;
/// How often links that are still training are looked at again, on all chips together, and the time
/// between.
pub(super) const TRAINING_LOOKS: u32 = 50;
const TRAINING_CYCLES: u64 = 200_000;

impl Walk<'_> {
    /// Finds the chips on the bus, up to the first device that is absent. A device that is lost while
    /// it is looked at leaves the others.
    pub(super) fn pcie_chips(&mut self) -> Result<(), AccessError> {
        let mut lost = None;
        for device in 0..DEVICES {
            let id = self.access.bus.batch().config(device, 0).run().word()?;
            if id == u32::MAX {
                break;
            }
            if id != config_id() {
                self.problems.push(format!("device {device} is {}, not a Wormhole", stranger(id)));
                continue;
            }
            match self.near_chip(device) {
                Ok(chip) => self.chips.push(chip),
                Err(error) => {
                    self.problems.push(format!("device {device}: {error}"));
                    lost = lost.or(Some(error));
                }
            }
        }
        match lost {
            Some(error) if self.chips.is_empty() => Err(error),
            _ => Ok(()),
        }
    }

    fn near_chip(&mut self, device: u8) -> Result<Candidate, AccessError> {
        let (ports, mask) = self.settled_ports(device)?;
        // ttsim's tiles without a peer are alive and know nothing of their own chip.
        let alive = || ports.iter().filter(|port| port.alive);
        let own = alive().find(|port| port.own_id != 0).or_else(|| alive().next());
        let (id, coord) = own.map_or((0, None), |port| (port.own_id, Some(port.coord)));
        let rows = harvested_rows(mask);
        if rows.is_none() {
            let why = format!("device {device}: {mask:#x} is no mask of harvested rows");
            self.problems.push(why);
        }
        Ok(Candidate {
            route: Route::Pcie(device),
            id,
            coord: coord.unwrap_or_default().into(),
            placed: coord.is_some(),
            ports: ports.into_iter().map(Some).collect(),
            harvested_rows: rows.unwrap_or_default(),
            gateway: None,
            board: self.board(device),
        })
    }

    /// What the chip's Ethernet tiles say, once firmware has beaten and no link is training any more.
    fn settled_ports(&mut self, device: u8) -> Result<(Vec<Port>, u32), AccessError> {
        let mut looks = 0;
        let mut seen = ports(&mut self.access.bus, device)?;
        loop {
            let alive = seen.0.iter().filter(|port| port.alive).count();
            let all = alive == seen.0.len();
            if !all && looks < BEAT_LOOKS {
                self.access.bus.pass(BEAT_CYCLES)?;
                looks += 1;
            } else if seen.0.iter().any(Port::is_training) && self.training_looks > 0 {
                self.access.bus.pass(TRAINING_CYCLES)?;
                self.training_looks -= 1;
            } else {
                return Ok(seen);
            }
            seen = ports(&mut self.access.bus, device)?;
            let now = seen.0.iter().filter(|port| port.alive).count();
            if !all && alive > 0 && now == alive {
                // The others do not run: a tile in reset is not waited for.
                looks = BEAT_LOOKS;
            }
        }
    }

    fn board(&mut self, device: u8) -> Option<&'static Board> {
        match board_id(&mut self.access.bus, device) {
            Ok(id) => id.and_then(|id| wormhole().arc.board(id)),
            Err(error) => {
                self.problems.push(format!("device {device}: board id unread: {error}"));
                None
            }
        }
    }
}

/// All Ethernet tiles of a device and its mask of closed rows, in one batch.
fn ports(bus: &mut Bus, device: u8) -> Result<(Vec<Port>, u32), AccessError> {
    let pieces = near_pieces();
    let mut batch = bus.batch();
    for channel in 0..CHANNELS {
        for (at, len) in pieces {
            batch = batch.read(device, eth_tile(channel), at, len);
        }
    }
    let closed_rows = eth_register("niu0", wormhole().niu.router_cfg_3.at);
    let mut answer = batch.register(device, eth_tile(0), closed_rows).run();
    let mut ports = Vec::new();
    let mut ones = true;
    for _ in 0..CHANNELS {
        let mut words = Words::default();
        for (at, len) in pieces {
            let bytes = answer.take(len as usize)?;
            ones &= bytes.iter().all(|&byte| byte == 0xFF);
            words.add(at, bytes.to_vec());
        }
        ports.push(Port::decode(&words));
    }
    let mask = answer.word()?;
    if ones {
        return Err(AccessError::DeviceGone("every Ethernet tile answers all ones".into()));
    }
    Ok((ports, mask))
}
