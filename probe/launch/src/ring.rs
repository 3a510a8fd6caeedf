//! A ring of links through the mesh: each chip is entered over one link and left over another.

use layouts::{ChipId, EthId, NoChannel};
use machine::place::Place;
use machine::target::{Link, Mesh};
use std::collections::BTreeSet;

/// Paths after which the search stops. It finds a ring through most chips long before.
const SEARCH_BUDGET: u32 = 20_000;

/// The links of a ring in order, each from its sending to its receiving end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Sending and receiving end of each hop.
    pub hops: Vec<(EthId, EthId)>,
}

/// One core of the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingStop {
    /// Its chip and Ethernet channel.
    pub eth: EthId,
    /// Its tile.
    pub place: Place,
    /// The other Ethernet tile of the ring on the same chip.
    pub sibling: Place,
    /// Whether it sends over its link; otherwise it receives.
    pub sends: bool,
    /// Place in ring order; 0 is the master.
    pub position: u32,
}

impl Ring {
    /// Returns a ring through all chips if the mesh has one, else the longest ring found from the
    /// lowest chip that is on one.
    pub fn find(mesh: &Mesh) -> Option<Self> {
        let mut chips: Vec<ChipId> = mesh.chips.iter().map(|chip| chip.id).collect();
        chips.sort();
        let from = |start, least| {
            let best = Vec::new();
            let mut search = RingSearch { mesh, start, least, best, budget: SEARCH_BUDGET };
            search.extend(start, &mut Vec::new());
            (search.best.len() >= 2).then_some(Self { hops: search.best })
        };
        let first = *chips.first()?;
        from(first, chips.len()).or_else(|| chips.iter().find_map(|&start| from(start, 0)))
    }

    /// Returns the cores in ring order: sender, receiver, sender, ...
    ///
    /// # Errors
    /// If the chips of the mesh lack a channel of the ring.
    pub fn stops(&self, mesh: &Mesh) -> Result<Vec<RingStop>, NoChannel> {
        let before = self.hops.iter().cycle().skip(self.hops.len().saturating_sub(1));
        let after = self.hops.iter().cycle().skip(1);
        let stop = |eth, sibling, sends, position| {
            let (place, sibling) = (mesh.place(eth)?, mesh.place(sibling)?);
            Ok(RingStop { eth, place, sibling, sends, position })
        };
        let mut stops = Vec::new();
        let hops = self.hops.iter().zip(before.zip(after));
        for (number, (&(from, to), (&(_, entered), &(left, _)))) in (0..).zip(hops) {
            // A sender's sibling is the receiver before it, a receiver's the sender after it.
            stops.push(stop(from, entered, true, 2 * number)?);
            stops.push(stop(to, left, false, 2 * number + 1)?);
        }
        Ok(stops)
    }
}

struct RingSearch<'a> {
    mesh: &'a Mesh,
    start: ChipId,
    /// Smallest number of chips on the ring.
    least: usize,
    best: Vec<(EthId, EthId)>,
    budget: u32,
}

impl RingSearch<'_> {
    /// Searches depth first. A ring through every chip ends the search.
    fn extend(&mut self, at: ChipId, path: &mut Vec<(EthId, EthId)>) {
        let done = self.budget == 0 || self.best.len() == self.mesh.chips.len();
        if done || path.len() + 1 + self.within_reach(at, path) < self.least {
            return;
        }
        self.budget -= 1;
        for (from, to) in self.next_links(at, path) {
            path.push((from, to));
            if to.chip == self.start {
                if path.len() > self.best.len() {
                    self.best.clone_from(path);
                }
            } else {
                self.extend(to.chip, path);
            }
            path.pop();
        }
    }

    /// Returns one free link to each possible next chip, chips with the fewest further links first:
    /// entered late, such a chip would be a dead end.
    fn next_links(&self, at: ChipId, path: &[(EthId, EthId)]) -> Vec<(EthId, EthId)> {
        let seen = |chip| path.iter().any(|(near, _)| near.chip == chip);
        let mut links: Vec<(EthId, EthId)> = Vec::new();
        for (from, to) in self.links_of(at) {
            let next = to.chip == self.start || !seen(to.chip);
            let known = links.iter().any(|(_, other)| other.chip == to.chip);
            if next && !known && !used(path, Link { a: from.min(to), b: from.max(to) }) {
                links.push((from, to));
            }
        }
        let onward = |chip| {
            let far = self.links_of(chip).map(|(_, far)| far.chip);
            far.filter(|&far| far != at && !seen(far)).collect::<BTreeSet<_>>().len()
        };
        links.sort_by_cached_key(|(_, to)| onward(to.chip));
        links
    }

    /// Returns how many chips outside the path could still join it: each needs two links, one in
    /// and one out.
    fn within_reach(&self, at: ChipId, path: &[(EthId, EthId)]) -> usize {
        if self.least == 0 {
            return 0;
        }
        let seen = |chip| path.iter().any(|(near, _)| near.chip == chip);
        let chips = self.mesh.chips.iter().map(|chip| chip.id);
        let mut open: BTreeSet<ChipId> =
            chips.filter(|&chip| chip != at && chip != self.start && !seen(chip)).collect();
        loop {
            let before = open.len();
            let ends = [at, self.start];
            let stays = |chip: &ChipId| {
                let far = self.links_of(*chip).map(|(_, far)| far);
                let links = far.filter(|far| open.contains(&far.chip) || ends.contains(&far.chip));
                links.map(|far| far.chip).collect::<BTreeSet<_>>().len() >= 2 || open.len() == 1
            };
            let left: BTreeSet<ChipId> = open.iter().copied().filter(stays).collect();
            open = left;
            if open.len() == before {
                return open.len();
            }
        }
    }

    fn links_of(&self, at: ChipId) -> impl Iterator<Item = (EthId, EthId)> {
        let both = self.mesh.links.iter().flat_map(|link| [(link.a, link.b), (link.b, link.a)]);
        both.filter(move |(from, _)| from.chip == at)
    }
}

fn used(path: &[(EthId, EthId)], link: Link) -> bool {
    path.iter().any(|&(from, to)| (from.min(to), from.max(to)) == (link.a, link.b))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use machine::target::Chip;

    fn mesh(chips: u16, links: &[(u16, u8, u16, u8)]) -> Mesh {
        let chip = |id| Chip {
            id: ChipId(id),
            coord: None,
            pcie: id == 0,
            unique_id: None,
            board: None,
            gateway: None,
            harvested_rows: Some(Vec::new()),
            seat: None,
        };
        let eth = |chip, channel| EthId { chip: ChipId(chip), channel };
        let links = links.iter().map(|&(a, ca, b, cb)| Link { a: eth(a, ca), b: eth(b, cb) });
        Mesh {
            kind: layouts::ChipKind::Wormhole,
            chips: (0..chips).map(chip).collect(),
            links: links.collect(),
            ..Mesh::default()
        }
    }

    #[test]
    fn an_n300_is_a_ring_of_two_links() {
        let mesh = mesh(2, &[(0, 8, 1, 0), (0, 9, 1, 1)]);
        let stops = Ring::find(&mesh).unwrap().stops(&mesh).unwrap();
        let names: Vec<String> = stops.iter().map(|stop| stop.eth.to_string()).collect();
        assert_eq!(names, ["0:e8", "1:e0", "1:e1", "0:e9"]);
        let siblings: Vec<_> = stops.iter().map(|s| (s.sibling.tile.x, s.sibling.tile.y)).collect();
        assert_eq!(siblings, [(1, 6), (1, 0), (9, 0), (9, 6)]);
    }

    #[test]
    fn a_square_is_a_ring_of_four() {
        let square = [(0, 8, 1, 0), (1, 8, 2, 0), (2, 8, 3, 0), (0, 0, 3, 8)];
        assert_eq!(Ring::find(&mesh(4, &square)).unwrap().hops.len(), 4);
    }

    #[test]
    fn shipped_meshes_have_a_ring_through_every_chip() {
        for name in ["n300", "t3000", "galaxy", "tg"] {
            let descriptor = layouts::ClusterDescriptor::shipped(name).unwrap().unwrap();
            let links = descriptor.links.iter();
            let links: Vec<_> =
                links.map(|(a, b)| (a.chip.0, a.channel, b.chip.0, b.channel)).collect();
            let ring = Ring::find(&mesh(descriptor.chips.len() as u16, &links)).unwrap();
            assert_eq!(ring.hops.len(), descriptor.chips.len(), "{name}");
        }
    }

    #[test]
    fn a_line_is_no_ring() {
        assert_eq!(Ring::find(&mesh(3, &[(0, 8, 1, 0), (1, 8, 2, 0)])), None);
        assert_eq!(Ring::find(&mesh(1, &[])), None);
    }
}
