//! Differences in words: what is missing as a whole first.

use super::{Difference, ExpectedEnd, Matching, links_in_words};
use crate::condition::Condition;
use layouts::{ChipCoord, ChipId, ClusterDescriptor, DescribedChip, EthId, Seat};
use machine::target::Mesh;
use machine::words::counted;
use std::collections::{BTreeMap, BTreeSet};

/// A described link with its ends on the chips that were found, and how many links it counts.
struct Wanted {
    ends: (ExpectedEnd, ExpectedEnd),
    /// The same ends in the description.
    described: (EthId, EthId),
    lost: bool,
}

pub(super) fn of(
    found: &Mesh,
    expected: &ClusterDescriptor,
    matching: &Matching,
    all: &[Difference],
) -> Vec<(Condition, String)> {
    let mut words = Vec::new();
    let gone = wholes(expected, matching, &mut words);
    let wanted = wanted(expected, matching, all);
    wraps(found, &wanted, &mut words);
    let mut between: BTreeMap<_, (Condition, Vec<_>)> = BTreeMap::new();
    for difference in all {
        let condition = difference.condition();
        let of_gone = |end: ExpectedEnd| matches!(end, ExpectedEnd::Missing { file_id, .. } if gone.contains(&file_id));
        match (difference, difference.link()) {
            (Difference::MissingChip { file_id, .. }, _) if gone.contains(file_id) => {}
            (_, Some((a, b))) if of_gone(a) || of_gone(b) => {}
            (_, Some((a, b))) => {
                let pair = (condition.name(), a.parts().0, b.parts().0);
                between.entry(pair).or_insert((condition, Vec::new())).1.push((a, b));
            }
            (Difference::MissingChip { file_id, .. }, _) => {
                let chip = expected.chips.iter().find(|chip| chip.file_id == *file_id);
                let seat = chip.and_then(|chip| chip.seat.as_ref());
                let at = seat.map_or_else(String::new, |seat| format!(", {seat}"));
                words.push((condition, format!("{difference}{at}")));
            }
            _ => words.push((condition, difference.to_string())),
        }
    }
    for (condition, links) in between.into_values() {
        let ports = if condition == Condition::MissingLink {
            ports(expected, &wanted, &links)
        } else {
            None
        };
        let ports = ports.map_or_else(String::new, |ports| format!(": {ports}"));
        words.push((condition, format!("{}{ports}", links_in_words(&links))));
    }
    words
}

/// Adds the hosts, and of the others the trays of several chips, of which no chip was found; returns
/// the numbers of their chips in the description.
fn wholes(
    expected: &ClusterDescriptor,
    matching: &Matching,
    words: &mut Vec<(Condition, String)>,
) -> BTreeSet<u32> {
    let mut parts: BTreeMap<(Option<u32>, u16), Vec<&DescribedChip>> = BTreeMap::new();
    for chip in &expected.chips {
        let tray = chip.seat.as_ref().map(|seat| seat.tray);
        for part in [None].into_iter().chain(tray.map(Some)) {
            parts.entry((part, chip.host)).or_default().push(chip);
        }
    }
    let mut gone = BTreeSet::new();
    for ((tray, host), chips) in parts {
        let ids: BTreeSet<ChipId> = chips.iter().map(|chip| chip.id).collect();
        let alone = match tray {
            None => expected.host_count() < 2,
            Some(_) => ids.len() < 2,
        };
        let of_gone = chips.iter().all(|chip| gone.contains(&chip.file_id));
        if alone || of_gone || ids.iter().any(|id| matching.found(*id).is_some()) {
            continue;
        }
        let seat = chips.first().and_then(|chip| chip.seat.as_ref());
        let name = seat.map_or_else(|| expected.host_name(host), Seat::host_in_words);
        let tray = tray.map_or_else(String::new, |tray| format!(" tray {tray}"));
        let links = expected.links.iter();
        let links = links.filter(|(a, b)| ids.contains(&a.chip) || ids.contains(&b.chip)).count();
        words.push((
            Condition::MissingChip,
            format!(
                "host {name}{tray}: none of its {} and {}",
                counted(ids.len() as u64, "chip", "chips"),
                counted(links as u64, "link", "links")
            ),
        ));
        gone.extend(chips.iter().map(|chip| chip.file_id));
    }
    gone
}

fn wanted(expected: &ClusterDescriptor, matching: &Matching, all: &[Difference]) -> Vec<Wanted> {
    let lost: BTreeSet<_> = all
        .iter()
        .filter_map(|difference| match difference {
            Difference::MissingLink(a, b) => Some((*a, *b)),
            _ => None,
        })
        .collect();
    let none_left: BTreeSet<_> = all
        .iter()
        .filter_map(|difference| match difference {
            Difference::FewerLinks { chips, found: 0, .. } => Some(chips.clone()),
            _ => None,
        })
        .collect();
    let end = |at: EthId| matching.end(expected, at);
    let link = |&(a, b): &(EthId, EthId)| {
        let (a, b) = if end(a) <= end(b) { (a, b) } else { (b, a) };
        let ends = (end(a), end(b));
        let chips = match ends {
            (ExpectedEnd::Found(a), ExpectedEnd::Found(b)) => Some([vec![a.chip], vec![b.chip]]),
            _ => None,
        };
        let lost = lost.contains(&ends) || chips.is_some_and(|chips| none_left.contains(&chips));
        Wanted { ends, described: (a, b), lost }
    };
    expected.links.iter().map(link).collect()
}

/// Adds the axes of which all links are missing that join its ends.
fn wraps(found: &Mesh, wanted: &[Wanted], words: &mut Vec<(Condition, String)>) {
    let mut extents: BTreeMap<(u8, u8), [BTreeSet<u8>; 2]> = BTreeMap::new();
    let coord = |chip: ChipId| found.chip(chip).and_then(|chip| chip.coord);
    for at in found.chips.iter().filter_map(|chip| chip.coord) {
        let [columns, rows] = extents.entry((at.rack, at.shelf)).or_default();
        columns.insert(at.x);
        rows.insert(at.y);
    }
    let axis = |a: ChipCoord, b: ChipCoord| {
        let extent =
            extents.get(&(a.rack, a.shelf)).filter(|_| (a.rack, a.shelf) == (b.rack, b.shelf))?;
        let steps = [(a.x.abs_diff(b.x), a.y == b.y), (a.y.abs_diff(b.y), a.x == b.x)];
        let ends = |axis: usize| {
            let (first, last) = (extent[axis].first()?, extent[axis].last()?);
            Some(steps[axis].1 && last - first > 1 && steps[axis].0 == last - first)
        };
        (0..2).find(|axis| ends(*axis) == Some(true))
    };
    let mut all: [Vec<bool>; 2] = Default::default();
    for link in wanted {
        let (ExpectedEnd::Found(a), ExpectedEnd::Found(b)) = link.ends else { continue };
        let axis = coord(a.chip).zip(coord(b.chip)).and_then(|(a, b)| axis(a, b));
        if let Some(axis) = axis {
            all[axis].push(link.lost);
        }
    }
    for (name, lost) in ["X", "Y"].into_iter().zip(all) {
        if lost.len() > 1 && lost.iter().all(|lost| *lost) {
            let links = counted(lost.len() as u64, "link", "links");
            words.push((Condition::MissingLink, format!("all wraps of the {name} axis ({links})")));
        }
    }
}

/// The ports of missing links between two chips, and whether they are all of these ports.
fn ports(
    expected: &ClusterDescriptor,
    wanted: &[Wanted],
    links: &[(ExpectedEnd, ExpectedEnd)],
) -> Option<String> {
    let place = |end: EthId| {
        let seat = expected.chip(end.chip)?.seat.as_ref()?;
        Some((seat, seat.port(end.channel)))
    };
    let first = wanted.iter().find(|it| links.first() == Some(&it.ends))?;
    let ((a, near), (b, far)) = (place(first.described.0)?, place(first.described.1)?);
    let alike = |it: &&Wanted| {
        let same = |end: EthId, seat: &Seat, port: &str| {
            place(end).is_some_and(|(other, name)| other.host == seat.host && name == port)
        };
        let (c, d) = it.described;
        (same(c, a, &near) && same(d, b, &far)) || (same(c, b, &far) && same(d, a, &near))
    };
    let all = wanted.iter().filter(alike).all(|it| it.lost);
    let many = if all { "all links of " } else { "" };
    Some(if a.host == b.host {
        format!("{many}{} {near} to {far}", a.host_in_words())
    } else {
        format!("{many}{} {near} to {} {far}", a.host_in_words(), b.host_in_words())
    })
}
