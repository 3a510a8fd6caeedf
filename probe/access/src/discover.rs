//! Discovery of the mesh: first PCI config space, then every link that Ethernet firmware publishes.
//!
//! Discovery has no other input. Facts that cannot be determined become sentences in
//! `Mesh::problems`, and the rest of the mesh stays usable (words and rules: wormhole.md 5.3 and
//! wormhole.md 6.8). The walk starts at all PCIe chips and goes breadth first, so that each far
//! chip is reached over the fewest hops. A chip that a device, a link or a board names and that
//! does not answer is part of the mesh, in quarantine from the start.

mod far;
mod lost;
mod near;
mod number;
mod port;

use crate::access::{Access, Route};
use far::Gateway;
use layouts::{Board, ChipCoord, ChipId};
use machine::progress::{Listener, Progress};
use machine::snapshot::AccessError;
use machine::target::Mesh;
use near::TRAINING_POLLS;
use port::{Peer, Port};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The mesh and the route to each of its chips.
pub(crate) struct Discovered {
    pub(crate) mesh: Mesh,
    pub(crate) routes: BTreeMap<ChipId, Route>,
}

/// A chip before it gets its id.
struct Candidate {
    /// Its PCIe device, also if that does not answer.
    device: Option<u8>,
    /// None if nothing leads to it.
    route: Option<Route>,
    id: u64,
    /// Its position, if its own firmware or a peer's published it.
    coord: Option<ChipCoord>,
    /// By channel; for far chips only ports with new information.
    ports: Vec<Option<Port>>,
    harvested_rows: Option<Vec<u8>>,
    gateway: Option<Gateway>,
    board: Option<&'static Board>,
    /// Why nothing can be read of it; none if it answers.
    lost: Option<AccessError>,
}

/// Discovers the mesh of a machine.
///
/// # Errors
/// Only when the machine itself is gone or has no Wormhole.
pub(crate) fn discover(
    access: &mut Access,
    listener: &Listener,
) -> Result<Discovered, AccessError> {
    let elsewhere = access.bus.elsewhere().into_iter();
    let mut walk = Discovery {
        elsewhere: elsewhere.map(|chip| (chip.unique_id, chip.host)).collect(),
        access,
        chips: Vec::new(),
        problems: Vec::new(),
        given_up: Vec::new(),
        silent: Vec::new(),
        training_polls: TRAINING_POLLS,
        listener,
    };
    walk.pcie_chips()?;
    if walk.chips.is_empty() {
        let mut why = vec!["no Wormhole on the bus".to_owned()];
        why.append(&mut walk.problems);
        return Err(AccessError::Unreachable(why.join("; ")));
    }
    walk.follow_links();
    walk.add_lost_chips();
    let found = walk.number();
    access.finish()?;
    Ok(found)
}

struct Discovery<'a> {
    access: &'a mut Access,
    chips: Vec<Candidate>,
    problems: Vec<String>,
    /// Far chips, by device and position, that are not read again over another link: the first
    /// attempt has tried every gateway, and each costs a deadline.
    given_up: Vec<(u8, ChipCoord, AccessError)>,
    /// Links through which a chip did not answer although it answers through another.
    silent: Vec<(usize, u8, AccessError)>,
    /// Remaining polls for links that are training.
    training_polls: u32,
    /// The host of each chip that only another host reaches, by unique id.
    elsewhere: BTreeMap<u64, String>,
    /// Who is told of the chips found so far.
    listener: &'a Listener,
}

impl Discovery<'_> {
    /// Follows the links breadth first, so that a far chip is reached over the fewest hops. Queues
    /// are not used where base firmware does not route.
    fn follow_links(&mut self) {
        let mut queue: VecDeque<usize> = (0..self.chips.len()).collect();
        while let Some(from) = queue.pop_front() {
            for (channel, port) in self.live_ports(from) {
                let other_hosts = self.elsewhere.contains_key(&port.peer.id);
                if port.routing_off
                    || other_hosts
                    || self.known(&port.peer, from, channel).is_some()
                {
                    continue;
                }
                if let Some(new) = self.far_chip(from, channel, &port) {
                    queue.push_back(new);
                }
            }
        }
    }

    /// Adds a chip, and tells of it.
    fn found(&mut self, chip: Candidate) {
        self.chips.push(chip);
        if !self.listener.listens() {
            return;
        }
        let mut unknown = BTreeSet::new();
        let mut link_ends = 0;
        for from in 0..self.chips.len() {
            for (channel, port) in self.live_ports(from) {
                link_ends += 1;
                if self.known(&port.peer, from, channel).is_none() {
                    unknown.insert((port.peer.id, ChipCoord::from(port.peer.coord)));
                }
            }
        }
        let chips = self.chips.len();
        let named = chips + unknown.len();
        self.listener.tell(Progress::Discovery { chips, named, link_ends });
    }

    fn live_ports(&self, chip: usize) -> Vec<(u8, Port)> {
        let ports = self.chips[chip].ports.iter().zip(0..);
        ports.filter_map(|(p, ch)| Some((ch, p.clone().filter(Port::is_up)?))).collect()
    }

    /// Returns the known chip at a port's peer: by its unique id, or by its position where the far
    /// side's own id words are empty (early ttsim fills only the words about the peer).
    fn known(&self, peer: &Peer, from: usize, channel: u8) -> Option<usize> {
        let by_id = |chip: &Candidate| chip.id != 0 && chip.id == peer.id;
        let mirrored = |(index, chip): (usize, &Candidate)| {
            let port = chip.ports.get(usize::from(peer.channel))?.as_ref()?;
            let points_back = port.is_up()
                && port.peer.channel == channel
                && chip.id == 0
                && chip.coord == Some(peer.coord.into())
                && index != from;
            points_back.then_some(index)
        };
        self.chips
            .iter()
            .position(by_id)
            .or_else(|| self.chips.iter().enumerate().find_map(mirrored))
    }
}

/// Explains why the fused-off rows of a chip are unknown.
fn no_rows(name: &str, mask: u32) -> String {
    if mask == u32::MAX {
        let unread = "reads all ones, so that the fused-off rows of compute tiles are unknown";
        return format!("{name}: the register of closed rows {unread}");
    }
    format!("{name}: {mask:#x} is not a mask of harvested rows")
}

#[cfg(test)]
mod tests;
