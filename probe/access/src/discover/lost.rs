//! Chips that are known to be there although nothing can be read of them: a device that stopped
//! answering, the peer that a link names, and the second chip of a board.

use super::far::tiles_of;
use super::port::{CHANNELS, Peer, Port};
use super::{Candidate, Discovery};
use crate::access::Route;
use layouts::ChipCoord;
use machine::snapshot::AccessError;

impl Candidate {
    /// Returns a chip of which nothing can be read.
    pub(super) fn lost(route: Option<Route>, why: AccessError) -> Self {
        Self {
            device: None,
            route,
            id: 0,
            coord: None,
            ports: vec![None; usize::from(CHANNELS)],
            harvested_rows: None,
            gateway: None,
            board: None,
            lost: Some(why),
        }
    }
}

impl Discovery<'_> {
    /// Adds the chips that do not answer and that something else names.
    pub(super) fn add_lost_chips(&mut self) {
        self.name_lost_device();
        for (from, channel, port) in self.ports_with_peer() {
            let id = port.peer.id;
            let known = self.known(&port.peer, from, channel).is_some();
            if id != 0 && !known && !self.elsewhere.contains_key(&id) {
                match self.lost_device(id) {
                    Some(device) => {
                        (device.id, device.coord) = (id, Some(port.peer.coord.into()));
                    }
                    None => self.chips.extend(self.lost_peer(from, &port)),
                }
            }
        }
        for index in 0..self.chips.len() {
            let Candidate { board, id, .. } = self.chips[index];
            if let Some(board) = board.filter(|_| self.lacks_a_chip(index)) {
                let why = format!("the board {} has 2 chips, and no link names it", board.name);
                let lost = Candidate::lost(None, AccessError::Unreachable(why));
                self.chips.push(Candidate { id: u64::from(id as u32), ..lost });
            }
        }
    }

    /// Whether the chip is of a board with a second one, which only links reach, and was found alone.
    /// Where each chip of a board has PCIe, not all of them need be this machine's.
    fn lacks_a_chip(&self, index: usize) -> bool {
        let Candidate { board: Some(board), id, .. } = self.chips[index] else { return false };
        let same = self.chips.iter().filter(|chip| same_board(chip.id, id)).count();
        let unnamed = self.chips.iter().any(|chip| chip.lost.is_some() && chip.id == 0);
        let far = |(from, channel, port): (usize, u8, Port)| {
            let peer = self.known(&port.peer, from, channel).filter(|_| from == index);
            peer.is_some_and(|peer| self.chips[peer].device.is_none())
        };
        let leads = || self.ports_with_peer().into_iter().any(far);
        id != 0 && board.chips == 2 && same == 1 && !unnamed && !leads()
    }

    /// Gives the chip of a device that stopped answering its number, if it was found over a link:
    /// the first chip of the only board of which no device answers.
    fn name_lost_device(&mut self) {
        let near = self.chips.iter().filter(|chip| chip.device.is_some() && chip.lost.is_none());
        let near: Vec<u64> = near.map(|chip| chip.id).collect();
        let boards = |chip: &&Candidate| !near.iter().any(|id| same_board(*id, chip.id));
        let far = self.chips.iter().filter(|chip| chip.device.is_none() && chip.id != 0);
        let Some(first) = far.clone().filter(boards).map(|chip| chip.id).min() else { return };
        if far.filter(boards).any(|chip| !same_board(chip.id, first)) {
            return;
        }
        let Some(lost) = self.lost_device(first) else { return };
        let (device, why) = (lost.device, lost.lost.clone());
        let at = |is: &dyn Fn(&Candidate) -> bool| self.chips.iter().position(is);
        let places = at(&|chip| chip.id == first).zip(at(&|chip| chip.device == device));
        let (Some((found, lost)), Some(device), Some(why)) = (places, device, why) else { return };
        self.chips[found].device = Some(device);
        // Devices come first; what comes after the one that moves has no gateway in it.
        self.chips.swap(found, lost);
        self.chips.remove(found);
        self.problems.push(format!("device {device}: {why}; its chip is reached over its links"));
    }

    /// Returns the device that stopped answering if it must be the chip with this id: the only one,
    /// and the id is not that of a chip without PCIe.
    fn lost_device(&mut self, id: u64) -> Option<&mut Candidate> {
        let near = |chip: &Candidate| matches!(chip.route, Some(Route::Pcie(_)));
        if self.chips.iter().any(|chip| near(chip) && same_board(chip.id, id)) {
            return None;
        }
        let lost = |chip: &&mut Candidate| near(chip) && chip.lost.is_some() && chip.id == 0;
        let mut devices = self.chips.iter_mut().filter(lost);
        let only = devices.next()?;
        devices.next().is_none().then_some(only)
    }

    /// Returns a far chip of which only the near end of a link is known. Its route is the one that
    /// serves once the link does. A chip that was not asked may be another host's.
    fn lost_peer(&self, from: usize, port: &Port) -> Option<Candidate> {
        let (Peer { id, coord: place, .. }, base) = (port.peer, self.base(from));
        let coord = ChipCoord::from(place);
        let asked = |(device, at, _): &&(u8, ChipCoord, AccessError)| {
            base.is_some_and(|(_, own)| own == *device) && *at == coord
        };
        let why = match self.given_up.iter().find(asked) {
            Some((.., why)) => why.clone(),
            None if !port.is_up() => AccessError::Unreachable("the links to it are down".into()),
            None if self.chips.iter().any(|chip| same_board(chip.id, id)) => {
                AccessError::Unreachable("base firmware does not route there".into())
            }
            None => return None,
        };
        let lost = |route| Candidate { id, coord: Some(coord), ..Candidate::lost(route, why) };
        // Where another chip has its position, that one would answer.
        let routed = |(base, device)| {
            let free = !port.routing_off && self.check_position(base, device, coord).is_ok();
            free.then_some((base, device))
        };
        let Some((base, device)) = base.and_then(routed) else { return Some(lost(None)) };
        let (mut channels, mut direct) = (Vec::new(), 0);
        if let Some((_, own)) = &self.chips[from].gateway {
            channels.clone_from(own);
        } else {
            let ports = self.ports_with_peer().into_iter();
            let leads = |(of, _, port): &(usize, u8, Port)| *of == from && port.peer.coord == place;
            channels.extend(ports.filter(leads).map(|(_, channel, _)| channel));
            direct = channels.len();
            channels.extend(self.spare(base));
        }
        let Ok(tiles) = tiles_of(self.access.bus.layout(), &channels) else {
            return Some(lost(None));
        };
        let route = Route::Queue { device, tiles, direct, coord };
        Some(Candidate { gateway: Some((base, channels)), ..lost(Some(route)) })
    }
}

/// The chips of a board publish one low word.
fn same_board(a: u64, b: u64) -> bool {
    a as u32 == b as u32
}
