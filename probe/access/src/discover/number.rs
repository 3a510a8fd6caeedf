//! From what the walk saw to the mesh: numbers, links, and a sentence for each thing that is wrong.

use super::port::{Peer, Port};
use super::{Candidate, Found, Walk};
use crate::access::Route;
use layouts::{ChipId, EthId};
use machine::target::{Chip, Link, Mesh};
use std::collections::{BTreeMap, BTreeSet};

impl Walk<'_> {
    /// Gives the chips their numbers: PCIe chips in device order, then far ones by (rack, shelf, y, x).
    pub(super) fn number(mut self) -> Found {
        let mut order: Vec<usize> = (0..self.chips.len()).collect();
        order.sort_by_key(|&i| {
            let chip = &self.chips[i];
            match chip.route {
                Route::Pcie(device) => (0, device, None),
                Route::Queue { .. } => (1, 0, chip.coord.map(|c| (c.rack, c.shelf, c.y, c.x))),
            }
        });
        let mut ids = vec![ChipId(0); order.len()];
        for (id, &index) in order.iter().enumerate() {
            ids[index] = ChipId(id as u16);
        }
        let links = self.links(&ids);
        self.name_the_dead(&ids, &links);
        self.name_the_others(&ids);
        let mesh = Mesh {
            kind: self.access.bus.bar().chip(),
            chips: order.iter().map(|&i| self.chip(i, &ids)).collect(),
            links,
            problems: std::mem::take(&mut self.problems),
        };
        let routes = order.iter().map(|&i| (ids[i], self.chips[i].route.clone())).collect();
        Found { mesh, routes }
    }

    /// All links of which one end at least tells, those that are down included if both ends are known.
    fn links(&mut self, ids: &[ChipId]) -> Vec<Link> {
        let mut links = BTreeSet::new();
        let mut down = BTreeSet::new();
        for (from, channel, port) in self.ports_with_peer() {
            let near = EthId { chip: ids[from], channel };
            let Peer { coord, channel: far, .. } = port.peer;
            match self.known(&port.peer, from, channel) {
                Some(to) => {
                    let far = EthId { chip: ids[to], channel: far };
                    let link = Link { a: near.min(far), b: near.max(far) };
                    links.insert(link);
                    if !port.is_up() {
                        down.insert(link);
                    }
                }
                // Told once for each host.
                None if self.elsewhere.contains_key(&port.peer.id) => {}
                None if port.is_up() => self.problems.push(format!(
                    "{near} leads to e{far} of a chip at {coord} that was not found"
                )),
                None => self.problems.push(format!(
                    "{near} is down; it led to e{far} of a chip at {coord} that was not found"
                )),
            }
        }
        let said = down.iter().map(|Link { a, b }| format!("the link {a} to {b} is down"));
        self.problems.extend(said);
        for (from, channel, error) in std::mem::take(&mut self.silent) {
            let near = EthId { chip: ids[from], channel };
            let ends = |link: &&Link| link.a == near || link.b == near;
            let link = links.iter().find(ends).map(|Link { a, b }| format!("{a} to {b}"));
            let link = link.unwrap_or_else(|| near.to_string());
            self.problems.push(format!("the link {link} carries no requests: {error}"));
        }
        links.into_iter().collect()
    }

    /// The ports whose words name a peer: those that are up, and those that were.
    fn ports_with_peer(&self) -> Vec<(usize, u8, Port)> {
        let tells = |port: &&Port| port.is_up() || port.has_lost_its_peer();
        let of_chip = |(from, chip): (usize, &Candidate)| {
            let ports = chip.ports.iter().zip(0..);
            let told = ports
                .filter_map(|(port, ch)| Some((from, ch, port.as_ref().filter(tells)?.clone())));
            told.collect::<Vec<_>>()
        };
        self.chips.iter().enumerate().flat_map(of_chip).collect()
    }

    /// Tiles without firmware, and links that never came up.
    fn name_the_dead(&mut self, ids: &[ChipId], links: &[Link]) {
        let alive = |chip: &Candidate| chip.ports.iter().flatten().any(|port| port.alive);
        if !self.chips.iter().any(alive) {
            // Nobody has base firmware, which is how ttsim's single chip is: no chip is worse than others.
            return;
        }
        let mut said = Vec::new();
        for (index, chip) in
            self.chips.iter().enumerate().filter(|(_, chip)| chip.gateway.is_none())
        {
            if !alive(chip) {
                said.push(format!("chip {}: base firmware runs on no Ethernet tile", ids[index]));
                continue;
            }
            for (port, channel) in chip.ports.iter().zip(0..) {
                let near = EthId { chip: ids[index], channel };
                let linked = links.iter().any(|link| link.a == near || link.b == near);
                match port {
                    Some(port) if !port.alive => {
                        said.push(format!("{near}: base firmware does not run"));
                    }
                    Some(port) if port.names_no_peer() => {
                        said.push(format!("{near} is up, but names no channel of a peer"));
                    }
                    Some(port) if port.is_training() && !linked => {
                        said.push(format!("{near} is still training; its peer says nothing"));
                    }
                    _ => {}
                }
            }
        }
        self.problems.append(&mut said);
    }

    /// Chips that only other hosts reach, and the links that lead there.
    fn name_the_others(&mut self, ids: &[ChipId]) {
        let mut missing: BTreeMap<&str, u32> = BTreeMap::new();
        let found = |id: u64| self.chips.iter().any(|chip| chip.id == id);
        for (_, host) in self.elsewhere.iter().filter(|(id, _)| !found(**id)) {
            *missing.entry(host).or_default() += 1;
        }
        let ports = self.ports_with_peer();
        let ends = |host: &str| {
            let there = ports.iter().filter(|(.., port)| {
                !found(port.peer.id) && self.elsewhere.get(&port.peer.id).is_some_and(|h| h == host)
            });
            let ends =
                there.map(|(from, channel, _)| EthId { chip: ids[*from], channel: *channel });
            ends.collect::<BTreeSet<_>>()
        };
        let said = missing.iter().map(|(host, count)| {
            let ends = ends(host);
            let lead = match ends.first() {
                Some(only) if ends.len() == 1 => format!("one link leads there, at {only}"),
                Some(first) => format!("{} links lead there, {first} the first", ends.len()),
                None => "no link leads there".into(),
            };
            let chips = if *count == 1 { "chip" } else { "chips" };
            format!("{count} {chips} of {host} cannot be reached from here ({lead})")
        });
        let mut said: Vec<String> = said.collect();
        self.problems.append(&mut said);
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
        let gateway = chip.gateway.as_ref().map(|(base, channels)| {
            channels.iter().map(|&channel| EthId { chip: ids[*base], channel }).collect()
        });
        Chip {
            id: ids[index],
            coord: chip.coord.filter(|_| !self.shares_its_place(index)),
            pcie: matches!(chip.route, Route::Pcie(_)),
            unique_id: (chip.id != 0).then_some(chip.id),
            board: self.board_name(chip),
            gateway,
            harvested_rows: chip.harvested_rows.clone(),
        }
    }

    /// Chips that nobody gave coordinates publish the same ones: then they say nothing.
    fn shares_its_place(&self, index: usize) -> bool {
        let chip = &self.chips[index];
        let mut others = self.chips.iter().enumerate().filter(|(other, _)| *other != index);
        others.any(|(_, other)| other.coord == chip.coord)
    }
}
