//! Builds the mesh from the walk: ids, links, and a sentence for each problem.

use super::port::{Peer, Port};
use super::{Candidate, Discovered, Discovery};
use crate::access::Route;
use layouts::{ChipId, EthId, OutwardLink};
use machine::target::{Chip, Link, Mesh};
use std::collections::{BTreeMap, BTreeSet};

impl Discovery<'_> {
    /// Assigns the chip ids: PCIe chips in device order, then far ones by (rack, shelf, y, x).
    pub(super) fn number(mut self) -> Discovered {
        let mut order: Vec<usize> = (0..self.chips.len()).collect();
        order.sort_by_key(|&i| {
            let chip = &self.chips[i];
            let place = chip.coord.map(|c| (c.rack, c.shelf, c.y, c.x));
            match chip.device {
                Some(device) => (0, device, None),
                // A chip without a known place comes last.
                None => (1, u8::from(place.is_none()), place),
            }
        });
        let mut ids = vec![ChipId(0); order.len()];
        for (id, &index) in order.iter().enumerate() {
            ids[index] = ChipId(id as u16);
        }
        let mut outward = Vec::new();
        let links = self.links(&ids, &mut outward);
        self.report_dead_tiles(&ids);
        self.report_other_hosts(&ids, &mut outward);
        self.quarantine_lost_chips(&ids);
        let mesh = Mesh {
            kind: self.access.bus.bar().chip(),
            chips: order.iter().map(|&i| self.chip(i, &ids)).collect(),
            links,
            problems: std::mem::take(&mut self.problems),
            outward,
        };
        let route = |&i: &usize| Some((ids[i], self.chips[i].route.clone()?));
        let routes = order.iter().filter_map(route).collect();
        Discovered { mesh, routes }
    }

    /// Reports the chips that do not answer, and puts them into quarantine.
    fn quarantine_lost_chips(&mut self, ids: &[ChipId]) {
        for (chip, id) in self.chips.iter().zip(ids) {
            let Some(why) = &chip.lost else { continue };
            self.problems.push(format!("chip {id} does not answer: {why}"));
            match (&chip.route, chip.coord) {
                (Some(Route::Pcie(device)), _) => {
                    self.access.quarantine.lose_device(*device, why.clone());
                }
                (Some(Route::Queue { device, .. }), Some(coord)) => {
                    self.access.quarantine.lose_far((*device, coord), why.clone());
                }
                _ => {}
            }
        }
    }

    /// Returns all links that at least one end publishes, including links that are down if both
    /// ends are known. Those to chips that were not found are added to `outward`.
    fn links(&mut self, ids: &[ChipId], outward: &mut Vec<(OutwardLink, String)>) -> Vec<Link> {
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
                // Reported once for each host.
                None if self.elsewhere.contains_key(&port.peer.id) => {}
                None if port.is_up() => {
                    let problem =
                        format!("{near} leads to e{far} of a chip at {coord} that was not found");
                    self.problems.push(problem.clone());
                    let far_unique_id = port.peer.id;
                    outward.push((OutwardLink { near, far_unique_id, far_channel: far }, problem));
                }
                None => self.problems.push(format!(
                    "{near} is down; it led to e{far} of a chip at {coord} that was not found"
                )),
            }
        }
        let problems = down.iter().map(|Link { a, b }| format!("the link {a} to {b} is down"));
        self.problems.extend(problems);
        for (from, channel, error) in std::mem::take(&mut self.silent) {
            let near = EthId { chip: ids[from], channel };
            let ends = |link: &&Link| link.a == near || link.b == near;
            let link = links.iter().find(ends).map(|Link { a, b }| format!("{a} to {b}"));
            let link = link.unwrap_or_else(|| near.to_string());
            self.problems.push(format!("the link {link} carries no requests: {error}"));
        }
        links.into_iter().collect()
    }

    /// Returns the ports that name a peer: those that are up, and those that lost their peer.
    pub(super) fn ports_with_peer(&self) -> Vec<(usize, u8, Port)> {
        let names_peer = |port: &&Port| port.is_up() || port.has_lost_its_peer();
        let of_chip = |(from, chip): (usize, &Candidate)| {
            let ports = chip.ports.iter().zip(0..);
            let named = ports.filter_map(|(port, ch)| {
                Some((from, ch, port.as_ref().filter(names_peer)?.clone()))
            });
            named.collect::<Vec<_>>()
        };
        self.chips.iter().enumerate().flat_map(of_chip).collect()
    }

    /// Reports tiles without firmware. A link that never came up is no problem: its port may be a
    /// free one.
    fn report_dead_tiles(&mut self, ids: &[ChipId]) {
        let alive = |chip: &Candidate| chip.ports.iter().flatten().any(|port| port.alive);
        if !self.chips.iter().any(alive) {
            // No chip has base firmware, as on ttsim's single chip; there is nothing to report.
            return;
        }
        let mut problems = Vec::new();
        for (index, chip) in self
            .chips
            .iter()
            .enumerate()
            .filter(|(_, chip)| chip.gateway.is_none() && chip.lost.is_none())
        {
            if !alive(chip) {
                problems
                    .push(format!("chip {}: base firmware runs on no Ethernet tile", ids[index]));
                continue;
            }
            for (port, channel) in chip.ports.iter().zip(0..) {
                let near = EthId { chip: ids[index], channel };
                match port {
                    Some(port) if !port.alive => {
                        problems.push(format!("{near}: base firmware does not run"));
                    }
                    Some(port) if port.names_no_peer() => {
                        problems.push(format!("{near} is up, but names no channel of a peer"));
                    }
                    _ => {}
                }
            }
        }
        self.problems.append(&mut problems);
    }

    /// Reports chips that only other hosts reach, and the links to them, which are added to `outward`.
    fn report_other_hosts(&mut self, ids: &[ChipId], outward: &mut Vec<(OutwardLink, String)>) {
        let mut missing: BTreeMap<&str, u32> = BTreeMap::new();
        let found = |id: u64| self.chips.iter().any(|chip| chip.id == id);
        for (_, host) in self.elsewhere.iter().filter(|(id, _)| !found(**id)) {
            *missing.entry(host).or_default() += 1;
        }
        let ports = self.ports_with_peer();
        let ends = |host: &str| {
            let ports_to_host = ports.iter().filter(|(.., port)| {
                !found(port.peer.id) && self.elsewhere.get(&port.peer.id).is_some_and(|h| h == host)
            });
            let ends = ports_to_host.map(|(from, channel, port)| {
                (EthId { chip: ids[*from], channel: *channel }, port.peer)
            });
            ends.collect::<Vec<_>>()
        };
        let mut problems = Vec::new();
        for (host, count) in &missing {
            let ports = ends(host);
            let ends: BTreeSet<EthId> = ports.iter().map(|(end, _)| *end).collect();
            let lead = match ends.first() {
                Some(only) if ends.len() == 1 => format!("one link leads there, at {only}"),
                Some(first) => format!("{} links lead there, {first} the first", ends.len()),
                None => "no link leads there".into(),
            };
            let chips = if *count == 1 { "chip" } else { "chips" };
            let problem = format!("{count} {chips} of {host} cannot be reached from here ({lead})");
            outward.extend(ports.into_iter().map(|(near, peer)| {
                let (far_unique_id, far_channel) = (peer.id, peer.channel);
                (OutwardLink { near, far_unique_id, far_channel }, problem.clone())
            }));
            problems.push(problem);
        }
        self.problems.append(&mut problems);
    }

    /// Returns the board's name. The chips of a two-chip board publish one low id word; the left
    /// one has PCIe.
    fn board_name(&self, chip: &Candidate) -> Option<String> {
        let same = |other: &&Candidate| other.board.is_some() && other.id as u32 == chip.id as u32;
        let board = chip.board.or_else(|| self.chips.iter().find(same)?.board)?;
        let side = if matches!(chip.route, Some(Route::Pcie(_))) { " L" } else { " R" };
        Some(format!("{}{}", board.name, if board.chips == 2 { side } else { "" }))
    }

    fn chip(&self, index: usize, ids: &[ChipId]) -> Chip {
        let chip = &self.chips[index];
        let gateway = chip.gateway.as_ref().map(|(base, channels)| {
            channels.iter().map(|&channel| EthId { chip: ids[*base], channel }).collect()
        });
        Chip {
            id: ids[index],
            coord: chip.coord.filter(|_| !self.shares_its_coordinates(index)),
            pcie: matches!(chip.route, Some(Route::Pcie(_))),
            unique_id: (chip.id != 0).then_some(chip.id),
            board: self.board_name(chip),
            gateway,
            harvested_rows: chip.harvested_rows.clone(),
            seat: None,
        }
    }

    /// Whether another chip publishes the same coordinates. Chips without assigned coordinates all
    /// publish the same ones, which identify nothing.
    fn shares_its_coordinates(&self, index: usize) -> bool {
        let chip = &self.chips[index];
        let mut others = self.chips.iter().enumerate().filter(|(other, _)| *other != index);
        chip.coord.is_some() && others.any(|(_, other)| other.coord == chip.coord)
    }
}
