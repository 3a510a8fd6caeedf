//! Which found chip is which described one.

use layouts::{ChipId, ClusterDescriptor, EthId};
use machine::target::Mesh;
use std::collections::BTreeMap;

/// Pairs of described and found chips.
pub(super) struct Matching {
    /// Some chip was known by its unique id.
    pub(super) by_ids: bool,
    pairs: BTreeMap<ChipId, ChipId>,
}

/// The far end of each link end.
type Peers = BTreeMap<EthId, EthId>;

impl Matching {
    pub(super) fn of(found: &Mesh, expected: &ClusterDescriptor) -> Self {
        let links = found.links.iter().map(|link| (link.a, link.b));
        let there = peers(links);
        let wanted = peers(expected.links.iter().copied());
        let mut pairs = by_ids(found, expected);
        let by_ids = !pairs.is_empty();
        let places = by_places(found, expected, &pairs);
        let smaller = found.chips.len().min(expected.chips.len());
        let placed = 2 * places.len() >= smaller.max(1);
        pairs.extend(places);
        propagate(&mut pairs, &wanted, &there);
        if !by_ids && (!placed || agreement(&pairs, &wanted, &there) == 0) {
            pairs = by_structure(found, expected, &wanted, &there);
        }
        Self { by_ids, pairs }
    }

    /// The found chip that is this described one.
    pub(super) fn found(&self, described: ChipId) -> Option<ChipId> {
        self.pairs.get(&described).copied()
    }

    /// Is this found chip a described one?
    pub(super) fn knows(&self, found: ChipId) -> bool {
        self.pairs.values().any(|chip| *chip == found)
    }
}

fn peers(links: impl Iterator<Item = (EthId, EthId)>) -> Peers {
    links.flat_map(|(a, b)| [(a, b), (b, a)]).collect()
}

fn by_ids(found: &Mesh, expected: &ClusterDescriptor) -> BTreeMap<ChipId, ChipId> {
    let same = |id: u64| found.chips.iter().find(|chip| chip.unique_id == Some(id));
    let pair = |chip: &layouts::DescribedChip| Some((chip.id, same(chip.unique_id?)?.id));
    expected.chips.iter().filter_map(pair).collect()
}

/// Chips without a partner that stand where one without a partner is described.
fn by_places(
    found: &Mesh,
    expected: &ClusterDescriptor,
    known: &BTreeMap<ChipId, ChipId>,
) -> BTreeMap<ChipId, ChipId> {
    let free = |id: ChipId| !known.values().any(|chip| *chip == id);
    let mut pairs = BTreeMap::new();
    for chip in expected.chips.iter().filter(|chip| !known.contains_key(&chip.id)) {
        let Some(at) = chip.coord else { continue };
        let there = found.chips.iter().find(|other| other.coord == Some(at) && free(other.id));
        pairs.extend(there.map(|there| (chip.id, there.id)));
    }
    pairs
}

/// The chips at the far ends of links that leave matched chips by the same channel, and arrive by the
/// same, match as well.
fn propagate(pairs: &mut BTreeMap<ChipId, ChipId>, wanted: &Peers, there: &Peers) {
    let mut waiting: Vec<(ChipId, ChipId)> = pairs.iter().map(|(a, b)| (*a, *b)).collect();
    while let Some((described, found)) = waiting.pop() {
        for (near, far) in wanted.iter().filter(|(near, _)| near.chip == described) {
            let same = there.get(&EthId { chip: found, channel: near.channel });
            let Some(other) = same.filter(|other| other.channel == far.channel) else { continue };
            let taken = pairs.contains_key(&far.chip) || pairs.values().any(|c| *c == other.chip);
            if !taken {
                pairs.insert(far.chip, other.chip);
                waiting.push((far.chip, other.chip));
            }
        }
    }
}

/// The matching under which most links agree, and of several such the one under which most coordinates
/// do, over all partners of the first described chip; without any agreement, chips with PCIe and chips
/// without in their order.
fn by_structure(
    found: &Mesh,
    expected: &ClusterDescriptor,
    wanted: &Peers,
    there: &Peers,
) -> BTreeMap<ChipId, ChipId> {
    let mut best = ((0, 0), BTreeMap::new());
    for seed in expected.chips.iter().take(1) {
        for chip in found.chips.iter().filter(|chip| chip.pcie == seed.pcie.is_some()) {
            let mut pairs = BTreeMap::from([(seed.id, chip.id)]);
            propagate(&mut pairs, wanted, there);
            let score = (agreement(&pairs, wanted, there), in_place(found, expected, &pairs));
            if score.0 > 0 && score > best.0 {
                best = (score, pairs);
            }
        }
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
    pairs
}

/// How many chips stand where they are described.
fn in_place(found: &Mesh, expected: &ClusterDescriptor, pairs: &BTreeMap<ChipId, ChipId>) -> usize {
    let stands = |(described, there): &(&ChipId, &ChipId)| {
        let wanted = expected.chip(**described).and_then(|chip| chip.coord);
        wanted.is_some() && found.chip(**there).and_then(|chip| chip.coord) == wanted
    };
    pairs.iter().filter(stands).count()
}

/// How many described link ends are found where they should be.
fn agreement(pairs: &BTreeMap<ChipId, ChipId>, wanted: &Peers, there: &Peers) -> usize {
    let found = |end: &EthId| Some(EthId { chip: *pairs.get(&end.chip)?, channel: end.channel });
    let agrees = |(near, far): &(&EthId, &EthId)| {
        found(near).and_then(|near| there.get(&near)).is_some_and(|f| Some(*f) == found(far))
    };
    wanted.iter().filter(agrees).count()
}
