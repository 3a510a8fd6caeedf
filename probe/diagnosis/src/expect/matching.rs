//! Matches found chips to described ones.

pub(super) mod grid;

use super::ExpectedEnd;
use layouts::{ChipId, ClusterDescriptor, DescribedChip, EthId};
use machine::target::Mesh;
use std::collections::BTreeMap;

/// Pairs of described and found chips.
pub(super) struct Matching {
    /// Whether any chip was matched by its unique id.
    pub(super) by_ids: bool,
    pairs: BTreeMap<ChipId, ChipId>,
    /// In how many ways the wiring fits equally well.
    pub(super) ways: usize,
}

/// The far end of each link end.
type Peers = BTreeMap<EthId, EthId>;

impl Matching {
    pub(super) fn of(found: &Mesh, expected: &ClusterDescriptor) -> Self {
        if expected.counted {
            let pairs = grid::by_grid(found, expected);
            return Self { by_ids: false, pairs, ways: 1 };
        }
        let mut ways = 1;
        let links = found.links.iter().map(|link| (link.a, link.b));
        let actual = peers(links);
        let wanted = peers(expected.links.iter().copied());
        let mut pairs = by_ids(found, expected);
        let by_ids = !pairs.is_empty();
        let places = by_places(found, expected, &pairs);
        let smaller = found.chips.len().min(expected.chips.len());
        let placed = 2 * places.len() >= smaller.max(1);
        pairs.extend(places);
        propagate(&mut pairs, &wanted, &actual);
        if !by_ids && (!placed || agreement(&pairs, &wanted, &actual) == 0) {
            (pairs, ways) = by_structure(found, expected, &wanted, &actual);
        }
        Self { by_ids, pairs, ways }
    }

    /// Returns the found chip that matches a described one.
    pub(super) fn found(&self, described: ChipId) -> Option<ChipId> {
        self.pairs.get(&described).copied()
    }

    /// Returns a described end, on the chip that was found.
    pub(super) fn end(&self, expected: &ClusterDescriptor, at: EthId) -> ExpectedEnd {
        let EthId { chip, channel } = at;
        let file_id = expected.chip(chip).map_or(0, |chip| chip.file_id);
        let missing = ExpectedEnd::Missing { file_id, channel };
        self.found(chip).map_or(missing, |chip| ExpectedEnd::Found(EthId { chip, channel }))
    }

    /// Whether this found chip matches a described one.
    pub(super) fn knows(&self, found: ChipId) -> bool {
        self.pairs.values().any(|chip| *chip == found)
    }
}

fn peers(links: impl Iterator<Item = (EthId, EthId)>) -> Peers {
    links.flat_map(|(a, b)| [(a, b), (b, a)]).collect()
}

fn by_ids(found: &Mesh, expected: &ClusterDescriptor) -> BTreeMap<ChipId, ChipId> {
    let same = |id: u64| found.chips.iter().find(|chip| chip.unique_id == Some(id));
    let pair = |chip: &DescribedChip| Some((chip.id, same(chip.unique_id?)?.id));
    expected.chips.iter().filter_map(pair).collect()
}

/// Matches unmatched chips by position.
fn by_places(
    found: &Mesh,
    expected: &ClusterDescriptor,
    known: &BTreeMap<ChipId, ChipId>,
) -> BTreeMap<ChipId, ChipId> {
    let free = |id: ChipId| !known.values().any(|chip| *chip == id);
    let mut pairs = BTreeMap::new();
    for chip in expected.chips.iter().filter(|chip| !known.contains_key(&chip.id)) {
        let Some(at) = chip.coord else { continue };
        let partner = found.chips.iter().find(|other| other.coord == Some(at) && free(other.id));
        pairs.extend(partner.map(|found| (chip.id, found.id)));
    }
    pairs
}

/// Extends the matching along links: the chips at the far ends match if the links have the same
/// channels at both ends.
fn propagate(pairs: &mut BTreeMap<ChipId, ChipId>, wanted: &Peers, actual: &Peers) {
    let mut waiting: Vec<(ChipId, ChipId)> = pairs.iter().map(|(a, b)| (*a, *b)).collect();
    while let Some((described, found)) = waiting.pop() {
        let end = |channel| EthId { chip: described, channel };
        for (near, far) in wanted.range(end(0)..=end(u8::MAX)) {
            let same = actual.get(&EthId { chip: found, channel: near.channel });
            let Some(other) = same.filter(|other| other.channel == far.channel) else { continue };
            let taken = pairs.contains_key(&far.chip) || pairs.values().any(|c| *c == other.chip);
            if !taken {
                pairs.insert(far.chip, other.chip);
                waiting.push((far.chip, other.chip));
            }
        }
    }
}

/// Finds the matching with the most agreeing links, then coordinates, then PCIe devices in order,
/// over all partners of the first described chip of each host, and in how many ways there are as
/// many. Without any agreement, chips with PCIe and chips without are paired in order.
fn by_structure(
    found: &Mesh,
    expected: &ClusterDescriptor,
    wanted: &Peers,
    actual: &Peers,
) -> (BTreeMap<ChipId, ChipId>, usize) {
    let mut best = ((0, 0, false), BTreeMap::new());
    let mut ways = 1;
    let mut try_from = |seed: &DescribedChip| {
        for chip in found.chips.iter().filter(|chip| chip.pcie == seed.pcie.is_some()) {
            let mut pairs = BTreeMap::from([(seed.id, chip.id)]);
            propagate(&mut pairs, wanted, actual);
            let agreeing = agreement(&pairs, wanted, actual);
            let places = in_place(found, expected, &pairs);
            let score = (agreeing, places, in_order(found, expected, &pairs));
            if agreeing > 0 && score > best.0 {
                best = (score, pairs);
                ways = 1;
            } else if agreeing > 0 && score == best.0 && pairs != best.1 {
                ways += 1;
            }
        }
        best.1.len()
    };
    let firsts: BTreeMap<u16, &DescribedChip> =
        expected.chips.iter().rev().map(|chip| (chip.host, chip)).collect();
    let most = firsts.into_values().map(&mut try_from).fold(0, usize::max);
    // The first chips may be those that are missing.
    let smaller = found.chips.len().min(expected.chips.len());
    if 2 * most < smaller {
        let _ = expected.chips.iter().map(&mut try_from).find(|most| 2 * most >= smaller);
    }
    let mut pairs = best.1;
    for pcie in [true, false] {
        let free = |id: ChipId, pairs: &BTreeMap<_, ChipId>| !pairs.values().any(|c| *c == id);
        for chip in expected.chips.iter().filter(|chip| chip.pcie.is_some() == pcie) {
            let mut left = found.chips.iter().filter(|other| other.pcie == pcie);
            let next = left.find(|other| free(other.id, &pairs));
            if let (false, Some(next)) = (pairs.contains_key(&chip.id), next) {
                pairs.insert(chip.id, next.id);
            }
        }
    }
    (pairs, ways)
}

/// Whether every PCIe device has its described number, where one host is described and has as many
/// devices as were found: the ids of chips with PCIe are in the order of their devices.
fn in_order(found: &Mesh, expected: &ClusterDescriptor, pairs: &BTreeMap<ChipId, ChipId>) -> bool {
    let mut devices = expected.chips.iter().filter(|chip| chip.pcie.is_some());
    let as_many = devices.clone().count() == found.chips.iter().filter(|chip| chip.pcie).count();
    expected.host_count() == 1
        && as_many
        && devices.all(|chip| {
            let device = chip.seat.as_ref().and_then(|seat| seat.device);
            device.is_some() && pairs.get(&chip.id).map(|found| found.0.into()) == device
        })
}

/// Counts the chips at their described position.
fn in_place(found: &Mesh, expected: &ClusterDescriptor, pairs: &BTreeMap<ChipId, ChipId>) -> usize {
    let is_in_place = |(described, found_id): &(&ChipId, &ChipId)| {
        let wanted = expected.chip(**described).and_then(|chip| chip.coord);
        wanted.is_some() && found.chip(**found_id).and_then(|chip| chip.coord) == wanted
    };
    pairs.iter().filter(is_in_place).count()
}

/// Counts the described link ends that were found as described.
fn agreement(pairs: &BTreeMap<ChipId, ChipId>, wanted: &Peers, actual: &Peers) -> usize {
    let found = |end: &EthId| Some(EthId { chip: *pairs.get(&end.chip)?, channel: end.channel });
    let agrees = |(near, far): &(&EthId, &EthId)| {
        found(near).and_then(|near| actual.get(&near)).is_some_and(|f| Some(*f) == found(far))
    };
    wanted.iter().filter(agrees).count()
}
