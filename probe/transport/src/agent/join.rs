//! One mesh out of those of several hosts: a chip is known by its 64-bit id, and a link that leaves one host
//! by the ids at both of its ends.

use layouts::{ChipId, EthId, OutwardLink};
use machine::target::{Chip, Link, Mesh};
use std::collections::{BTreeMap, BTreeSet};

/// A joined mesh.
pub(super) struct Joined {
    pub(super) mesh: Mesh,
    /// The host that reads each chip, and the chip's number there.
    pub(super) owners: BTreeMap<ChipId, (usize, ChipId)>,
    /// The number in the joined mesh of each host's chips.
    pub(super) numbers: Vec<Vec<ChipId>>,
}

/// Joins the meshes of hosts, each with its name. Chips with PCIe come first, host by host, then the others
/// by rack, shelf, y and x. A chip that several hosts reach is read by the one that has it on PCIe.
pub(super) fn join(hosts: &[(&str, &Mesh)]) -> Joined {
    let mut chips: Vec<(usize, &Chip)> = Vec::new();
    for (host, (_, mesh)) in hosts.iter().enumerate() {
        for chip in &mesh.chips {
            let same = |(_, other): &&mut (usize, &Chip)| {
                chip.unique_id.is_some() && other.unique_id == chip.unique_id
            };
            match chips.iter_mut().find(same) {
                Some(known) if chip.pcie && !known.1.pcie => *known = (host, chip),
                Some(_) => {}
                None => chips.push((host, chip)),
            }
        }
    }
    let place = |chip: &Chip| chip.coord.map(|at| (at.rack, at.shelf, at.y, at.x));
    chips.sort_by_key(|(host, chip)| {
        let far = (!chip.pcie).then(|| (place(chip).is_none(), place(chip)));
        (far, *host, chip.id)
    });
    let by_unique = |id: u64| chips.iter().position(|(_, chip)| chip.unique_id == Some(id));
    let number = |host: usize, chip: &Chip| {
        let own = || chips.iter().position(|(of, it)| *of == host && it.id == chip.id);
        let at = chip.unique_id.and_then(by_unique).or_else(own);
        at.map_or(ChipId(0), |at| ChipId(at as u16))
    };
    let numbers: Vec<Vec<ChipId>> = (0..)
        .zip(hosts)
        .map(|(host, (_, mesh))| mesh.chips.iter().map(|chip| number(host, chip)).collect())
        .collect();
    let renumbered = |host: usize, end: EthId| {
        let chip = numbers.get(host).and_then(|own| own.get(usize::from(end.chip.0)));
        EthId { chip: chip.copied().unwrap_or(end.chip), ..end }
    };
    let mut links = BTreeSet::new();
    let mut problems = Vec::new();
    let mut outward = Vec::new();
    let mut add = |a: EthId, b: EthId| links.insert(Link { a: a.min(b), b: a.max(b) });
    for (host, (name, mesh)) in hosts.iter().enumerate() {
        for link in &mesh.links {
            add(renumbered(host, link.a), renumbered(host, link.b));
        }
        let mut open = BTreeSet::new();
        for (link, problem) in &mesh.outward {
            let near = renumbered(host, link.near);
            if let Some(far) = by_unique(link.far_unique_id) {
                add(near, EthId { chip: ChipId(far as u16), channel: link.far_channel });
                continue;
            }
            open.insert(problem);
            outward.push((OutwardLink { near, ..*link }, problem.clone()));
        }
        let found = |problem: &&String| {
            let leads = mesh.outward.iter().any(|(_, of)| of == *problem);
            !leads || open.contains(problem)
        };
        let told = mesh.problems.iter().filter(found);
        // Chips have the numbers of the host in its own sentences.
        let told =
            told.map(|it| if hosts.len() > 1 { format!("{name}: {it}") } else { it.clone() });
        problems.extend(told);
    }
    let owners = (0..).map(ChipId).zip(chips.iter().map(|(host, chip)| (*host, chip.id)));
    let joined = (0..).map(ChipId).zip(&chips).map(|(id, (host, chip))| Chip {
        id,
        gateway: chip
            .gateway
            .as_ref()
            .map(|ends| ends.iter().map(|end| renumbered(*host, *end)).collect()),
        ..(*chip).clone()
    });
    let mesh = Mesh {
        kind: hosts.first().map_or_else(Default::default, |(_, mesh)| mesh.kind),
        chips: joined.collect(),
        links: links.into_iter().collect(),
        problems,
        outward,
    };
    Joined { owners: owners.collect(), mesh, numbers }
}
