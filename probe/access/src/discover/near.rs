//! Discovery of a chip with PCIe: all published words of its Ethernet tiles in one batch, and its board in
//! two more.

use super::port::{CHANNELS, Port, PortWords, near_pieces};
use super::{Candidate, Discovery, no_rows};
use crate::access::Route;
use crate::bus::Bus;
use crate::telemetry::board_id;
use layouts::{Board, ChipCoord, ChipKind};
use machine::bar::all_ones;
use machine::snapshot::AccessError;

/// Cycles before the second heartbeat read, for firmware that has just started (ttsim's beats every
/// 100 cycles). Each further delay is twice as long, with `BEAT_POLLS` delays at most.
const BEAT_CYCLES: u64 = 250;
const BEAT_POLLS: u32 = 3;
/// Number of polls of links that are still training, for all chips together, and the cycles
/// between.
pub(super) const TRAINING_POLLS: u32 = 50;
const TRAINING_CYCLES: u64 = 200_000;

impl Discovery<'_> {
    /// Finds the chips on the bus, up to the first absent device. Losing a device during discovery
    /// does not affect the others.
    pub(super) fn pcie_chips(&mut self) -> Result<(), AccessError> {
        for device in 0..self.access.bus.most_devices() {
            let id = self.access.bus.batch().config(device, 0).run().word()?;
            if id == u32::MAX {
                break;
            }
            let layout = self.access.bus.layout();
            if id != layout.bar.config_id() {
                let what = ChipKind::unknown_device(id);
                self.problems.push(format!("device {device} is {what}"));
                continue;
            }
            match self.near_chip(device) {
                Ok(chip) => self.found(chip),
                Err(error) => {
                    let lost = Candidate::lost(Some(Route::Pcie(device)), error);
                    self.chips.push(Candidate { device: Some(device), ..lost });
                }
            }
        }
        let answers = self.chips.iter().any(|chip| chip.lost.is_none());
        match self.chips.first().and_then(|chip| chip.lost.clone()) {
            Some(error) if !answers => Err(error),
            _ => Ok(()),
        }
    }

    fn near_chip(&mut self, device: u8) -> Result<Candidate, AccessError> {
        let (ports, mask) = self.settled_ports(device)?;
        // ttsim's tiles without a peer are alive but do not publish their own chip.
        let alive = || ports.iter().filter(|port| port.alive);
        let own = alive().find(|port| port.own_id != 0).or_else(|| alive().next());
        let (id, coord) = own.map_or((0, None), |port| (port.own_id, Some(port.coord)));
        let rows = self.access.bus.layout().harvested_rows(mask);
        if rows.is_none() {
            self.problems.push(no_rows(&format!("device {device}"), mask));
        }
        Ok(Candidate {
            device: Some(device),
            route: Some(Route::Pcie(device)),
            id,
            coord: coord.map(ChipCoord::from),
            ports: ports.into_iter().map(Some).collect(),
            harvested_rows: rows,
            gateway: None,
            board: self.board(device),
            lost: None,
        })
    }

    /// Reads the chip's Ethernet ports once firmware has beaten and no link is training, and its mask of
    /// closed rows.
    fn settled_ports(&mut self, device: u8) -> Result<(Vec<Port>, u32), AccessError> {
        let mut ports = self.beating(device)?;
        let bus = &mut self.access.bus;
        while self.training_polls > 0 && ports.iter().any(Port::is_training) {
            bus.pass(TRAINING_CYCLES)?;
            self.training_polls -= 1;
            ports = read_ports(bus, device)?;
        }
        let layout = bus.layout();
        let closed_rows = layout.blocks.eth_niu0 + layout.niu.router_cfg_3.at;
        let mask = bus.batch().register(device, layout.eth_tile(0)?, closed_rows).run().word()?;
        Ok((ports, mask))
    }

    /// Reads the chip's Ethernet ports once the firmware of all has beaten, or that of no further one does.
    fn beating(&mut self, device: u8) -> Result<Vec<Port>, AccessError> {
        let alive = |ports: &[Port]| ports.iter().filter(|port| port.alive).count();
        let bus = &mut self.access.bus;
        let ports = read_ports(bus, device)?;
        let mut before = alive(&ports);
        if before == ports.len() {
            return Ok(ports);
        }
        for poll in 0..BEAT_POLLS {
            bus.pass(BEAT_CYCLES << poll)?;
            let now = alive(&read_ports(bus, device)?);
            // The others do not run: tiles in reset are not waited for.
            if now == ports.len() || before > 0 && now == before {
                break;
            }
            before = now;
        }
        // Firmware that has just started publishes the rest after its first beat.
        read_ports(bus, device)
    }

    fn board(&mut self, device: u8) -> Option<&'static Board> {
        match board_id(&mut self.access.bus, device) {
            Ok(id) => id.and_then(|id| self.access.bus.layout().arc.board(id)),
            Err(error) => {
                self.problems.push(format!("device {device}: board id unread: {error}"));
                None
            }
        }
    }
}

/// Reads the Ethernet ports of a device in one batch; those whose firmware has not beaten have no words.
fn read_ports(bus: &mut Bus, device: u8) -> Result<Vec<Port>, AccessError> {
    let layout = bus.layout();
    let pieces = near_pieces();
    let mut batch = bus.batch();
    for channel in 0..CHANNELS {
        for &(at, len) in &pieces {
            batch = batch.read(device, layout.eth_tile(channel)?, at, len);
        }
    }
    let mut answer = batch.run();
    let mut all_gone = true;
    let mut port = |_| {
        let mut words = PortWords::default();
        for &(at, len) in &pieces {
            let bytes = answer.take(len as usize)?;
            all_gone &= all_ones(bytes);
            words.add(at, bytes.to_vec());
        }
        let port = Port::decode(&words);
        Ok(if port.alive { port } else { Port::default() })
    };
    let ports = (0..CHANNELS).map(&mut port).collect::<Result<_, AccessError>>()?;
    if all_gone {
        return Err(AccessError::DeviceGone("every Ethernet tile answers all ones".into()));
    }
    Ok(ports)
}
