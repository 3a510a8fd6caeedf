//! Finding the mesh: PCI config space first, then every link that Ethernet firmware publishes.
//!
//! Chips are never told. What cannot be learned becomes a sentence in `Mesh::problems`, and the rest
//! of the mesh stays usable (words and rules: wormhole.md 5.3 and 6.8).

mod port;

use crate::access::{Access, Route};
use crate::snapshot::AccessError;
use crate::target::{Chip, Link, Mesh};
use crate::telemetry::board_id;
use crate::wormhole::{config_id, eth_register, eth_tile};
use layouts::{Board, ChipCoord, ChipId, EthId, NocXy, wormhole};
use port::{CHANNELS, Peer, Port, Words};
use std::collections::{BTreeMap, VecDeque};

/// Devices 0 to 31 exist at most; the simulator ends its process when asked for more.
const DEVICES: u8 = 32;
/// ttsim's firmware beats within so many cycles of its start, silicon's has long since.
const FIRST_BEAT_CYCLES: u64 = 2_000;
/// How often a machine whose links are still training is looked at again, and the time between.
const TRAINING_LOOKS: u32 = 50;
const TRAINING_CYCLES: u64 = 200_000;

/// The mesh and the way to each of its chips.
pub(crate) struct Found {
    pub(crate) mesh: Mesh,
    pub(crate) routes: BTreeMap<ChipId, Route>,
}

/// A chip on the way to getting its number.
struct Candidate {
    route: Route,
    id: u64,
    coord: ChipCoord,
    ports: Vec<Option<Port>>,
    harvested_rows: Vec<u8>,
    gateway: Option<(usize, Vec<u8>)>,
    board: Option<&'static Board>,
}

/// Walks the machine.
///
/// # Errors
/// Only when the machine itself is gone or shows no Wormhole at all.
pub(crate) fn discover(access: &mut Access) -> Result<Found, AccessError> {
    let mut walk = Walk { access, chips: Vec::new(), problems: Vec::new(), given_up: Vec::new() };
    // Firmware that was started this very moment has not beaten yet.
    walk.access.bus.pass(FIRST_BEAT_CYCLES)?;
    walk.pcie_chips()?;
    if walk.chips.is_empty() {
        return Err(AccessError::Unreachable("no Wormhole on the bus".into()));
    }
    walk.follow_links();
    let found = walk.number();
    access.finish()?;
    Ok(found)
}

/// The chip, if it is the one that the link's near end calls its peer.
fn expected(chip: Candidate, peer: &Peer) -> Result<Candidate, AccessError> {
    if chip.id == 0 || peer.id == 0 || chip.id == peer.id {
        return Ok(chip);
    }
    let (there, wanted) = (chip.id, peer.id);
    Err(AccessError::Unreachable(format!("chip {there:#x} answers there instead of {wanted:#x}")))
}

struct Walk<'a> {
    access: &'a mut Access,
    chips: Vec<Candidate>,
    problems: Vec<String>,
    /// Far chips, by device and place, that are not asked again over another link: the first try has
    /// gone through every gateway already, and each costs a deadline.
    given_up: Vec<(u8, ChipCoord)>,
}

impl Walk<'_> {
    fn pcie_chips(&mut self) -> Result<(), AccessError> {
        for device in 0..DEVICES {
            let id = self.access.bus.batch().config(device, 0).run().word()?;
            if id == u32::MAX {
                break;
            }
            if id != config_id() {
                self.problems.push(format!("device {device} is {id:#010x}, not a Wormhole"));
                continue;
            }
            let name = format!("device {device}");
            match self.look(Route::Pcie(device), &name) {
                Ok(chip) => self.chips.push(chip),
                Err(gone @ AccessError::DeviceGone(_)) => return Err(gone),
                Err(error) => self.problems.push(format!("{name}: {error}")),
            }
        }
        Ok(())
    }

    /// Reads what the chip's Ethernet tiles say, once no link is training any more.
    fn look(&mut self, route: Route, name: &str) -> Result<Candidate, AccessError> {
        let mut looks = 0;
        let mut ports = self.ports(&route, name)?;
        let training = |ports: &[Option<Port>]| ports.iter().flatten().any(Port::is_training);
        while training(&ports) && looks < TRAINING_LOOKS {
            self.access.bus.pass(TRAINING_CYCLES)?;
            ports = self.ports(&route, name)?;
            looks += 1;
        }
        // ttsim's tiles without a peer are alive and know nothing of their own chip.
        let alive = || ports.iter().flatten().filter(|port| port.is_alive());
        let own = alive().find(|port| port.own_id != 0).or_else(|| alive().next());
        let id = own.map_or(0, |port| port.own_id);
        let coord = own.map(|port| port.coord).unwrap_or_default().into();
        let harvested_rows = self.harvested_rows(&route, name);
        let board = self.board(&route, name);
        Ok(Candidate { route, id, coord, ports, harvested_rows, gateway: None, board })
    }

    fn ports(&mut self, route: &Route, name: &str) -> Result<Vec<Option<Port>>, AccessError> {
        let mut ports = Vec::new();
        for channel in 0..CHANNELS {
            ports.push(match self.port(route, eth_tile(channel)) {
                Ok(port) => Some(port),
                Err(gone @ AccessError::DeviceGone(_)) => return Err(gone),
                Err(error @ AccessError::TimedOut { .. }) => return Err(error),
                Err(error) => {
                    self.problems.push(format!("{name} e{channel}: {error}"));
                    None
                }
            });
        }
        Ok(ports)
    }

    fn port(&mut self, route: &Route, tile: NocXy) -> Result<Port, AccessError> {
        let l1 = &wormhole().eth.l1;
        let mut words = Words::default();
        for at in [l1.heartbeat.at, l1.firmware_version.at, l1.link_error.at] {
            words.add(at, self.access.read(route, tile, at, 4)?.bytes);
        }
        for (first, last) in [
            (&l1.port_disable_mask, &l1.remote_rack),
            (&l1.local_board_id_low, &l1.remote_board_type),
        ] {
            let len = (last.end() - first.at) as u32;
            words.add(first.at, self.access.read(route, tile, first.at, len)?.bytes);
        }
        Ok(Port::decode(&words))
    }

    /// What telemetry says of the board. A far chip is on the board whose id it publishes, so that
    /// its own telemetry need not be read through a queue.
    fn board(&mut self, route: &Route, name: &str) -> Option<&'static Board> {
        let Route::Pcie(_) = route else { return None };
        match board_id(self.access, route) {
            Ok(id) => id.and_then(|id| wormhole().arc.board(id)),
            Err(error) => {
                self.problems.push(format!("{name}: board id unread: {error}"));
                None
            }
        }
    }

    /// Rows of compute tiles that are fused off.
    fn harvested_rows(&mut self, route: &Route, name: &str) -> Vec<u8> {
        let always = &wormhole().tiles.harvesting.router_cfg_always;
        let always = always.iter().fold(0, |mask, row| mask | 1_u32 << row);
        let closed_rows = eth_register("niu0", wormhole().niu.router_cfg_3.at);
        match self.access.word(route, eth_tile(0), closed_rows) {
            Ok(mask) if mask & always == always && mask < 1 << wormhole().tiles.rows => {
                (0..32).filter(|row| (mask & !always) >> row & 1 == 1).collect()
            }
            Ok(mask) => {
                self.problems.push(format!("{name}: {mask:#x} is no mask of harvested rows"));
                Vec::new()
            }
            Err(error) => {
                self.problems.push(format!("{name}: harvested rows unread: {error}"));
                Vec::new()
            }
        }
    }

    /// Breadth first, so that a far chip is reached over the fewest hops.
    fn follow_links(&mut self) {
        let mut queue: VecDeque<usize> = (0..self.chips.len()).collect();
        while let Some(from) = queue.pop_front() {
            for (channel, port) in self.live_ports(from) {
                if port.routing_off || self.known(&port.peer, from, channel).is_some() {
                    continue;
                }
                if let Some(new) = self.far_chip(from, channel, &port) {
                    queue.push_back(new);
                }
            }
        }
    }

    fn live_ports(&self, chip: usize) -> Vec<(u8, Port)> {
        let ports = self.chips[chip].ports.iter().zip(0..);
        ports.filter_map(|(p, ch)| Some((ch, p.clone().filter(Port::is_up)?))).collect()
    }

    /// The chip that a port's peer is: by its unique id, and by its place where the far side's own
    /// id words are empty (ttsim fills only the words about the peer).
    fn known(&self, peer: &Peer, from: usize, channel: u8) -> Option<usize> {
        let by_id = |chip: &Candidate| chip.id != 0 && chip.id == peer.id;
        let mirrored = |(index, chip): (usize, &Candidate)| {
            let port = chip.ports.get(usize::from(peer.channel))?.as_ref()?;
            let points_back = port.is_up()
                && port.peer.channel == channel
                && chip.id == 0
                && chip.coord == peer.coord.into()
                && index != from;
            points_back.then_some(index)
        };
        self.chips
            .iter()
            .position(by_id)
            .or_else(|| self.chips.iter().enumerate().find_map(mirrored))
    }

    fn far_chip(&mut self, from: usize, channel: u8, port: &Port) -> Option<usize> {
        let coord: ChipCoord = port.peer.coord.into();
        let (base, gateway) = match &self.chips[from].gateway {
            Some((base, channels)) => (*base, channels.clone()),
            None => (from, self.gateways(from, &port.peer, channel)),
        };
        let Route::Pcie(device) = self.chips[base].route else { return None };
        if self.given_up.contains(&(device, coord)) {
            return None;
        }
        let name = format!("chip at x {} y {} behind device {device} e{channel}", coord.x, coord.y);
        let tiles = gateway.iter().map(|&ch| eth_tile(ch)).collect();
        let route = Route::Queue { device, tiles, coord };
        let looked = self.taken(base, device, coord).and_then(|()| self.look(route, &name));
        match looked.and_then(|chip| expected(chip, &port.peer)) {
            Ok(mut chip) => {
                chip.gateway = Some((base, gateway));
                chip.coord = coord;
                if chip.id == 0 {
                    chip.id = port.peer.id;
                }
                self.chips.push(chip);
                Some(self.chips.len() - 1)
            }
            Err(error) => {
                self.given_up.push((device, coord));
                self.problems.push(format!("{name}: {error}"));
                None
            }
        }
    }

    /// Queues route by place: a request for a place where another chip stands would be answered by
    /// that one, and the walk would find it again and again.
    fn taken(&self, base: usize, device: u8, coord: ChipCoord) -> Result<(), AccessError> {
        let same_way = |chip: &Candidate| match chip.route {
            Route::Queue { device: other, .. } => other == device,
            Route::Pcie(_) => false,
        };
        let behind = self.chips.iter().any(|chip| same_way(chip) && chip.coord == coord);
        let own = &self.chips[base];
        if behind || own.id != 0 && own.coord == coord {
            return Err(AccessError::Unreachable("another chip has the same coordinates".into()));
        }
        Ok(())
    }

    /// Ethernet tiles of `base` that serve the queue: those linked to the far chip first, then those
    /// without a link of their own, whose firmware nobody else uses.
    fn gateways(&self, base: usize, peer: &Peer, channel: u8) -> Vec<u8> {
        let ports = || self.chips[base].ports.iter().zip(0..);
        let to_peer = |port: &Port| port.is_up() && port.peer.coord == peer.coord;
        let direct = ports().filter_map(|(p, ch)| p.as_ref().filter(|p| to_peer(p)).map(|_| ch));
        let idle = |port: &&Port| !port.is_up() && port.is_alive() && !port.routing_off;
        let spare = ports().filter_map(|(p, ch)| p.as_ref().filter(idle).map(|_| ch));
        let mut order: Vec<u8> = direct.collect();
        order.extend(spare.take(2));
        if !order.contains(&channel) {
            order.insert(0, channel);
        }
        order
    }

    /// Gives the chips their numbers: PCIe chips in device order, then far ones by (rack, shelf, y, x).
    fn number(mut self) -> Found {
        let mut order: Vec<usize> = (0..self.chips.len()).collect();
        order.sort_by_key(|&i| {
            let chip = &self.chips[i];
            let c = chip.coord;
            match chip.route {
                Route::Pcie(device) => (0, device, 0, 0, 0),
                Route::Queue { .. } => (1, c.rack, c.shelf, c.y, c.x),
            }
        });
        let mut ids = vec![ChipId(0); order.len()];
        for (id, &index) in order.iter().enumerate() {
            ids[index] = ChipId(id as u16);
        }
        let links = self.links(&ids);
        let mesh = Mesh {
            chips: order.iter().map(|&i| self.chip(i, &ids)).collect(),
            links,
            problems: std::mem::take(&mut self.problems),
        };
        let routes = order.iter().map(|&i| (ids[i], self.chips[i].route.clone())).collect();
        Found { mesh, routes }
    }

    fn links(&mut self, ids: &[ChipId]) -> Vec<Link> {
        let mut links = Vec::new();
        for from in 0..self.chips.len() {
            for (channel, port) in self.live_ports(from) {
                let near = EthId { chip: ids[from], channel };
                let Some(to) = self.known(&port.peer, from, channel) else {
                    self.problems.push(format!("{near} leads to a chip that was not found"));
                    continue;
                };
                let far = EthId { chip: ids[to], channel: port.peer.channel };
                links.push(Link { a: near.min(far), b: near.max(far) });
            }
        }
        links.sort();
        links.dedup();
        links
    }

    /// The chips of a board with two publish one low id word; the left one has PCIe.
    fn board_name(&self, chip: &Candidate) -> Option<String> {
        let same = |other: &&Candidate| other.board.is_some() && other.id as u32 == chip.id as u32;
        let board = chip.board.or_else(|| self.chips.iter().find(same)?.board)?;
        let side = if matches!(chip.route, Route::Pcie(_)) { " L" } else { " R" };
        Some(format!("{}{}", board.name, if board.chips == 2 { side } else { "" }))
    }

    fn chip(&self, index: usize, ids: &[ChipId]) -> Chip {
        let chip = &self.chips[index];
        let pcie = matches!(chip.route, Route::Pcie(_));
        let gateway = chip.gateway.as_ref().map(|(base, channels)| {
            channels.iter().map(|&channel| EthId { chip: ids[*base], channel }).collect()
        });
        Chip {
            id: ids[index],
            coord: chip.ports.iter().flatten().any(Port::is_alive).then_some(chip.coord),
            pcie,
            unique_id: (chip.id != 0).then_some(chip.id),
            board: self.board_name(chip),
            gateway,
            harvested_rows: chip.harvested_rows.clone(),
        }
    }
}
