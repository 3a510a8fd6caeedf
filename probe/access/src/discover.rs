//! Finding the mesh: PCI config space first, then every link that Ethernet firmware publishes.
//!
//! Chips are never told. What cannot be learned becomes a sentence in `Mesh::problems`, and the rest
//! of the mesh stays usable (words and rules: wormhole.md 5.3 and wormhole.md 6.8). The walk starts at all chips
//! with PCIe at once and goes breadth first, so that each far chip is reached from the one that is
//! fewest hops away.

mod far;
mod near;
mod number;
mod port;

use crate::access::{Access, Route};
use far::Gateway;
use layouts::{Board, ChipCoord, ChipId, ChipLayout};
use machine::snapshot::AccessError;
use machine::target::Mesh;
use near::TRAINING_POLLS;
use port::{Peer, Port};
use std::collections::{BTreeMap, VecDeque};

/// The mesh and the way to each of its chips.
pub(crate) struct Found {
    pub(crate) mesh: Mesh,
    pub(crate) routes: BTreeMap<ChipId, Route>,
}

/// A chip on the way to getting its number.
struct Candidate {
    route: Route,
    id: u64,
    /// Where it stands, if its own firmware, or that of a peer, told.
    coord: Option<ChipCoord>,
    /// By channel; of far chips only those that had something new to tell.
    ports: Vec<Option<Port>>,
    harvested_rows: Option<Vec<u8>>,
    gateway: Option<Gateway>,
    board: Option<&'static Board>,
}

/// Walks the machine.
///
/// # Errors
/// Only when the machine itself is gone or shows no Wormhole at all.
pub(crate) fn discover(access: &mut Access) -> Result<Found, AccessError> {
    let elsewhere = access.bus.elsewhere().into_iter();
    let mut walk = Walk {
        elsewhere: elsewhere.map(|chip| (chip.unique_id, chip.host)).collect(),
        access,
        chips: Vec::new(),
        problems: Vec::new(),
        given_up: Vec::new(),
        silent: Vec::new(),
        training_polls: TRAINING_POLLS,
    };
    walk.pcie_chips()?;
    if walk.chips.is_empty() {
        let mut why = vec!["no Wormhole on the bus".to_owned()];
        why.append(&mut walk.problems);
        return Err(AccessError::Unreachable(why.join("; ")));
    }
    walk.follow_links();
    let found = walk.number();
    access.finish()?;
    Ok(found)
}

struct Walk<'a> {
    access: &'a mut Access,
    chips: Vec<Candidate>,
    problems: Vec<String>,
    /// Far chips, by device and place, that are not asked again over another link: the first try has
    /// gone through every gateway already, and each costs a deadline.
    given_up: Vec<(u8, ChipCoord)>,
    /// Links by which a chip was asked in vain although it answers over another.
    silent: Vec<(usize, u8, AccessError)>,
    /// How often training links may still be waited for.
    training_polls: u32,
    /// The host of each chip that only another host reaches, by its id.
    elsewhere: BTreeMap<u64, String>,
}

impl Walk<'_> {
    /// Breadth first, so that a far chip is reached over the fewest hops. Where base firmware does not
    /// route, nothing is ever asked of a queue.
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

    fn live_ports(&self, chip: usize) -> Vec<(u8, Port)> {
        let ports = self.chips[chip].ports.iter().zip(0..);
        ports.filter_map(|(p, ch)| Some((ch, p.clone().filter(Port::is_up)?))).collect()
    }

    /// The chip that a port's peer is: by its unique id, and by its place where the far side's own
    /// id words are empty (early ttsim fills only the words about the peer).
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

/// Why it is not known which rows of a chip are fused off.
fn no_rows(name: &str, mask: u32) -> String {
    if mask == u32::MAX {
        let silent =
            "answers nothing but ones, so which rows of compute tiles are fused off is unknown";
        return format!("{name}: the register of closed rows {silent}");
    }
    format!("{name}: {mask:#x} is no mask of harvested rows")
}

/// Rows of compute tiles that are fused off, by the mask of rows closed to broadcast; None for what is
/// no such mask.
fn harvested_rows(layout: &ChipLayout, mask: u32) -> Option<Vec<u8>> {
    let always = &layout.tiles.harvesting.router_cfg_always;
    let always = always.iter().fold(0, |mask, row| mask | 1_u32 << row);
    let sound = mask & always == always && mask < 1 << layout.tiles.rows;
    sound.then(|| (0..32).filter(|row| (mask & !always) >> row & 1 == 1).collect())
}

#[cfg(test)]
mod tests;
