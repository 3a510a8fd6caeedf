//! Discovery of a chip without PCIe, through the queues of the chip that leads to it, with few
//! reads.
//!
//! A command through a queue costs hundreds of cycles for each hop. A far port is first read one
//! word, and not at all if the other end of its link has been read.

use super::port::{CHANNELS, Peer, Port, PortPlace, PortWords, can_have_a_peer};
use super::{Candidate, Discovery, no_rows};
use crate::access::Route;
use crate::eth_firmware::routing;
use layouts::ChipLayout;
use layouts::{ChipCoord, NocXy};
use machine::snapshot::AccessError;

/// Ethernet tiles without a link that are tried in addition to linked ones.
const SPARE_TILES: usize = 2;
/// A block of this size costs hardly more than a word; its address needs this alignment.
const BLOCK: u64 = 32;

/// The gateway of a far chip: the PCIe chip, and its channels in order of preference.
pub(super) type Gateway = (usize, Vec<u8>);

impl Discovery<'_> {
    /// Discovers the chip at the other end of a link.
    pub(super) fn far_chip(&mut self, from: usize, channel: u8, port: &Port) -> Option<usize> {
        let place = port.peer.coord;
        let coord: ChipCoord = place.into();
        let (base, device) = self.base(from)?;
        if self.given_up.iter().any(|(by, at, _)| (*by, *at) == (device, coord)) {
            return None;
        }
        let name = format!("chip at {place} behind device {device} e{channel}");
        let discovered = self.check_position(base, device, coord).and_then(|()| {
            let (gateway, direct, mask) = self.gateway_channels(from, place)?;
            let tiles = tiles_of(self.access.bus.layout(), &gateway)?;
            let route = Route::Queue { device, tiles, direct, coord };
            self.ask_far(&name, route, (base, gateway), port, mask)
        });
        match discovered {
            Ok(chip) => {
                self.found(chip);
                Some(self.chips.len() - 1)
            }
            Err(error) => {
                self.given_up.push((device, coord, error));
                None
            }
        }
    }

    /// Returns the PCIe chip through which a chip is reached, or itself, and its device.
    pub(super) fn base(&self, from: usize) -> Option<(usize, u8)> {
        let base = self.chips[from].gateway.as_ref().map_or(from, |(base, _)| *base);
        match self.chips[base].route {
            Some(Route::Pcie(device)) => Some((base, device)),
            _ => None,
        }
    }

    /// Checks that no other chip has the position. Queues route by position: the chip already there
    /// would answer, and the walk would never end.
    pub(super) fn check_position(
        &self,
        base: usize,
        device: u8,
        coord: ChipCoord,
    ) -> Result<(), AccessError> {
        let same_device = |chip: &Candidate| matches!(chip.route, Some(Route::Queue { device: other, .. }) if other == device);
        let behind = self.chips.iter().any(|chip| same_device(chip) && chip.coord == Some(coord));
        let own = &self.chips[base];
        if behind || own.id != 0 && own.coord == Some(coord) {
            return Err(AccessError::Unreachable("another chip has the same coordinates".into()));
        }
        Ok(())
    }

    /// Returns the channels of the PCIe chip through which the position is reached, the number of
    /// them, from the first, that are linked to it, and the first word read from it: its mask of
    /// closed rows.
    fn gateway_channels(
        &mut self,
        from: usize,
        place: PortPlace,
    ) -> Result<(Vec<u8>, usize, u32), AccessError> {
        if let Some((base, channels)) = self.chips[from].gateway.clone() {
            let mask = self.closed_rows(base, &channels, place)?;
            return Ok((channels, 0, mask));
        }
        // Each link is tried; a link whose far end hangs is recorded and passed over.
        let mut good = Vec::new();
        let mut mask = 0;
        let mut silent = Vec::new();
        for channel in self.leading_to(from, place) {
            match self.closed_rows(from, &[channel], place) {
                Ok(rows) => {
                    mask = rows;
                    good.push(channel);
                }
                Err(gone @ AccessError::DeviceGone(_)) => return Err(gone),
                Err(error) => silent.push((channel, error)),
            }
        }
        let spare = self.spare(from);
        if good.is_empty() {
            // The queue of a linked tile may be stuck while its firmware still relays for others.
            let last = silent.pop().map(|(_, error)| error);
            let found = self.closed_rows(from, &spare, place);
            return match last {
                Some(AccessError::TimedOut { .. }) | None => found.map(|mask| (spare, 0, mask)),
                Some(error) => Err(error),
            };
        }
        for (channel, error) in silent {
            self.silent.push((from, channel, error));
        }
        let direct = good.len();
        good.extend(spare);
        Ok((good, direct, mask))
    }

    fn closed_rows(
        &mut self,
        base: usize,
        channels: &[u8],
        place: PortPlace,
    ) -> Result<u32, AccessError> {
        let Some((_, device)) = self.base(base) else {
            return Err(AccessError::Unreachable("its gateway has no PCIe".into()));
        };
        let tiles = tiles_of(self.access.bus.layout(), channels)?;
        let route = Route::Queue { device, tiles, direct: 0, coord: place.into() };
        let layout = self.access.bus.layout();
        let at = layout.blocks.eth_niu0 + layout.niu.router_cfg_3.at;
        self.access.word(&route, layout.eth_tile(0)?, at)
    }

    /// Returns the channels of a chip whose links lead to this position.
    fn leading_to(&self, from: usize, place: PortPlace) -> Vec<u8> {
        let ports = self.live_ports(from).into_iter();
        ports.filter(|(_, port)| port.peer.coord == place).map(|(channel, _)| channel).collect()
    }

    /// Returns channels without a link, whose queues have no other user.
    pub(super) fn spare(&self, from: usize) -> Vec<u8> {
        let ports = self.chips[from].ports.iter().zip(0..);
        let idle = |port: &Port| port.alive && !port.is_up() && !port.routing_off;
        let idle = ports.filter(|(port, _)| port.as_ref().is_some_and(idle));
        idle.map(|(_, channel)| channel).take(SPARE_TILES).collect()
    }

    fn ask_far(
        &mut self,
        name: &str,
        route: Route,
        gateway: Gateway,
        near: &Port,
        mask: u32,
    ) -> Result<Candidate, AccessError> {
        let coord: ChipCoord = near.peer.coord.into();
        let id = self.far_id(&route, &near.peer)?;
        let mut ports = Vec::new();
        for channel in 0..CHANNELS {
            ports.push(match self.far_port(&route, &near.peer, channel) {
                Ok(port) => port,
                Err(error) if concerns_chip(&error) => return Err(error),
                Err(error) => {
                    self.problems.push(format!("{name}, e{channel}: {error}"));
                    None
                }
            });
        }
        let rows = self.access.bus.layout().harvested_rows(mask);
        if rows.is_none() {
            self.problems.push(no_rows(name, mask));
        }
        Ok(Candidate {
            device: None,
            route: Some(route),
            id,
            coord: Some(coord),
            ports,
            harvested_rows: rows,
            gateway: Some(gateway),
            board: None,
            lost: None,
        })
    }

    /// Returns the id that the far end of the link publishes, which must match the id known at the
    /// near end.
    fn far_id(&mut self, route: &Route, peer: &Peer) -> Result<u64, AccessError> {
        let layout = self.access.bus.layout();
        let l1 = &layout.eth.l1;
        let words = self.block(route, layout.eth_tile(peer.channel)?, l1.local_board_id_low.at)?;
        let published = Port::decode(&words).own_id;
        if published != 0 && peer.id != 0 && published != peer.id {
            let expected = peer.id;
            let why = format!("chip {published:#x} answers instead of {expected:#x}");
            return Err(AccessError::Unreachable(why));
        }
        Ok(if published == 0 { peer.id } else { published })
    }

    /// Reads a port of the far chip, unless it is not connected or its link is known from the peer.
    fn far_port(
        &mut self,
        route: &Route,
        own: &Peer,
        channel: u8,
    ) -> Result<Option<Port>, AccessError> {
        if self.is_known_link(own, channel) {
            return Ok(None);
        }
        let layout = self.access.bus.layout();
        let l1 = &layout.eth.l1;
        let tile = layout.eth_tile(channel)?;
        let train = self.access.word(route, tile, l1.train_status.at)?;
        if !can_have_a_peer(train) {
            return Ok(None);
        }
        let mut words = self.block(route, tile, l1.remote_coord.at)?;
        let results = self.access.read(route, tile, l1.remote_board_id_low.at, BLOCK as u32)?;
        words.add(l1.remote_board_id_low.at, results.bytes);
        for at in [l1.heartbeat.at, l1.firmware_version.at] {
            words.add(at, self.access.read(route, tile, at, 4)?.bytes);
        }
        words.add(l1.train_status.at, train.to_le_bytes().to_vec());
        Ok(Some(Port::decode(&words)))
    }

    /// Whether a known chip has an active link to this channel.
    fn is_known_link(&self, own: &Peer, channel: u8) -> bool {
        let leads = |port: &Port| {
            let same =
                if own.id == 0 { port.peer.coord == own.coord } else { port.peer.id == own.id };
            same && port.is_up() && port.peer.channel == channel
        };
        self.chips.iter().flat_map(|chip| chip.ports.iter().flatten()).any(leads)
    }

    fn block(
        &mut self,
        route: &Route,
        tile: layouts::NocXy,
        around: u64,
    ) -> Result<PortWords, AccessError> {
        let start = around / BLOCK * BLOCK;
        let mut words = PortWords::default();
        words.add(start, self.access.read(route, tile, start, BLOCK as u32)?.bytes);
        Ok(words)
    }
}

/// Whether every other read of the chip would fail as well.
fn concerns_chip(error: &AccessError) -> bool {
    match error {
        AccessError::TimedOut { .. } | AccessError::DeviceGone(_) => true,
        AccessError::QueueError { flags } => flags & routing().unreachable != 0,
        _ => false,
    }
}

pub(super) fn tiles_of(layout: &ChipLayout, channels: &[u8]) -> Result<Vec<NocXy>, AccessError> {
    channels.iter().map(|&channel| Ok(layout.eth_tile(channel)?)).collect()
}
