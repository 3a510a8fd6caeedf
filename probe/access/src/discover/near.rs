//! Discovery of a chip with PCIe: the heartbeats of its Ethernet tiles, then all published words of
//! the live tiles in one batch, and its board in two more.

use super::port::{CHANNELS, Port, PortWords, beat_pieces, near_pieces, training_pieces};
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

    /// Reads the chip's Ethernet ports once firmware has beaten and no link is training. While
    /// waiting, only the words needed for that are read.
    fn settled_ports(&mut self, device: u8) -> Result<(Vec<Port>, u32), AccessError> {
        let first = beats(&mut self.access.bus, device)?;
        let mut alive = if first.len() == usize::from(CHANNELS) {
            // It did not start just now: all is published, unless a link is trained again.
            let (ports, mask) = ports(&mut self.access.bus, device, &first)?;
            if !ports.iter().any(Port::is_training) {
                return Ok((ports, mask));
            }
            first
        } else {
            self.beating(device, first)?
        };
        while self.training_polls > 0 && self.any_is_training(device, &alive)? {
            self.access.bus.pass(TRAINING_CYCLES)?;
            self.training_polls -= 1;
            alive = beats(&mut self.access.bus, device)?;
        }
        ports(&mut self.access.bus, device, &alive)
    }

    /// Returns the channels whose firmware has beaten, once all have or none does beyond these.
    fn beating(&mut self, device: u8, mut alive: Vec<u8>) -> Result<Vec<u8>, AccessError> {
        for poll in 0..BEAT_POLLS {
            if alive.len() == usize::from(CHANNELS) {
                break;
            }
            self.access.bus.pass(BEAT_CYCLES << poll)?;
            let now = beats(&mut self.access.bus, device)?;
            // The others do not run: tiles in reset are not waited for.
            let complete = !alive.is_empty() && now.len() == alive.len();
            alive = now;
            if complete {
                break;
            }
        }
        Ok(alive)
    }

    fn any_is_training(&mut self, device: u8, alive: &[u8]) -> Result<bool, AccessError> {
        let pieces = training_pieces();
        let ports = read_ports(&mut self.access.bus, device, alive, &pieces)?;
        Ok(ports.iter().any(|(_, port)| port.is_training()))
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

/// Returns the channels whose firmware has beaten by now.
fn beats(bus: &mut Bus, device: u8) -> Result<Vec<u8>, AccessError> {
    let all: Vec<u8> = (0..CHANNELS).collect();
    let ports = read_ports(bus, device, &all, &beat_pieces())?;
    if ports.iter().all(|(ones, _)| *ones) {
        return Err(AccessError::DeviceGone("every Ethernet tile answers all ones".into()));
    }
    let alive = ports.iter().zip(all).filter(|((_, port), _)| port.alive);
    Ok(alive.map(|(_, channel)| channel).collect())
}

/// Reads the Ethernet ports of a device, the live ones completely, and its mask of closed rows.
fn ports(bus: &mut Bus, device: u8, alive: &[u8]) -> Result<(Vec<Port>, u32), AccessError> {
    let layout = bus.layout();
    let closed_rows = layout.blocks.eth_niu0 + layout.niu.router_cfg_3.at;
    let mask = bus.batch().register(device, layout.eth_tile(0)?, closed_rows).run().word()?;
    let mut ports = vec![Port::default(); usize::from(CHANNELS)];
    let read = read_ports(bus, device, alive, &near_pieces())?;
    for (&channel, (_, port)) in alive.iter().zip(read) {
        ports[usize::from(channel)] = port;
    }
    Ok((ports, mask))
}

/// Reads these pieces of each channel's tile in one batch; returns whether they are all ones, and
/// the port.
fn read_ports(
    bus: &mut Bus,
    device: u8,
    channels: &[u8],
    pieces: &[(u64, u32)],
) -> Result<Vec<(bool, Port)>, AccessError> {
    let layout = bus.layout();
    let mut batch = bus.batch();
    for &channel in channels {
        for &(at, len) in pieces {
            batch = batch.read(device, layout.eth_tile(channel)?, at, len);
        }
    }
    let mut answer = batch.run();
    let mut port = || {
        let (mut words, mut ones) = (PortWords::default(), true);
        for &(at, len) in pieces {
            let bytes = answer.take(len as usize)?;
            ones &= all_ones(bytes);
            words.add(at, bytes.to_vec());
        }
        Ok((ones, Port::decode(&words)))
    };
    channels.iter().map(|_| port()).collect()
}
