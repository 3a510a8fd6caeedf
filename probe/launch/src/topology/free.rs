//! Links that a collective may use: all but those that fast dispatch reserves.

use super::error::TopologyError;
use super::error::TopologyKind;
use super::{Socket, pairs};
use layouts::ChipId;
use machine::target::{Link, Mesh};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The links that fast dispatch keeps for itself: where a chip is reached through another, one link between each two
/// neighbours of different distance from the PCIe chip that both are reached through (BasicEthernetGuide, N300). It is the
/// one with the lowest channel, as tt-metal's host code takes them in their order.
pub fn dispatch_reserved(mesh: &Mesh) -> BTreeSet<Link> {
    let mut reserved = BTreeMap::new();
    let gateways: BTreeMap<ChipId, (ChipId, usize)> = gateways(mesh);
    for link in &mesh.links {
        let (Some(a), Some(b)) = (gateways.get(&link.a.chip), gateways.get(&link.b.chip)) else {
            continue;
        };
        if a.0 == b.0 && a.1 != b.1 {
            reserved.entry((link.a.chip, link.b.chip)).or_insert(*link);
        }
    }
    reserved.into_values().collect()
}

/// For each chip the PCIe chip that it is reached through and how many links away that is.
fn gateways(mesh: &Mesh) -> BTreeMap<ChipId, (ChipId, usize)> {
    let mut known: BTreeMap<ChipId, (ChipId, usize)> = BTreeMap::new();
    for chip in &mesh.chips {
        let told = chip.gateway.as_ref().and_then(|tiles| tiles.first());
        let told = if chip.pcie { Some(chip.id) } else { told.map(|tile| tile.chip) };
        let told =
            told.and_then(|gateway| Some((gateway, *distances(mesh, gateway).get(&chip.id)?)));
        let pcie = mesh.chips.iter().filter(|other| other.pcie);
        let nearest = || {
            let ways = pcie
                .filter_map(|other| Some((other.id, *distances(mesh, other.id).get(&chip.id)?)));
            ways.min_by_key(|&(id, distance)| (distance, id))
        };
        if let Some(found) = told.or_else(nearest) {
            known.insert(chip.id, found);
        }
    }
    known
}

fn distances(mesh: &Mesh, from: ChipId) -> BTreeMap<ChipId, usize> {
    let mut distances = BTreeMap::from([(from, 0)]);
    let mut next = VecDeque::from([(from, 0)]);
    while let Some((at, distance)) = next.pop_front() {
        for link in &mesh.links {
            for (near, far) in [(link.a.chip, link.b.chip), (link.b.chip, link.a.chip)] {
                if near == at && !distances.contains_key(&far) {
                    distances.insert(far, distance + 1);
                    next.push_back((far, distance + 1));
                }
            }
        }
    }
    distances
}

/// The free links of a mesh, by the chips that they join.
#[derive(Clone, Debug, Default)]
pub struct FreeLinks {
    /// By the lower chip and the higher, in the order of the lower chip's channels.
    free: BTreeMap<(ChipId, ChipId), Vec<Link>>,
    reserved: BTreeMap<(ChipId, ChipId), usize>,
}

impl FreeLinks {
    /// Those of a mesh.
    pub fn of(mesh: &Mesh) -> Self {
        let reserved = dispatch_reserved(mesh);
        let mut links = mesh.links.clone();
        links.sort_unstable();
        let mut free = Self::default();
        for link in links.into_iter().filter(|link| link.a.chip != link.b.chip) {
            let pair = pair(link.a.chip, link.b.chip);
            if reserved.contains(&link) {
                *free.reserved.entry(pair).or_default() += 1;
            } else {
                free.free.entry(pair).or_default().push(link);
            }
        }
        free
    }

    /// The free links from one chip to another, from there to here.
    pub fn between(&self, from: ChipId, to: ChipId) -> Vec<Socket> {
        let links = self.free.get(&pair(from, to)).into_iter().flatten();
        links
            .map(|link| if link.a.chip == from { (link.a, link.b) } else { (link.b, link.a) })
            .collect()
    }

    /// How many links between two chips are reserved for dispatch.
    pub fn reserved(&self, a: ChipId, b: ChipId) -> usize {
        self.reserved.get(&pair(a, b)).map_or(0, |count| *count)
    }

    /// The first edge of this order that has fewer links than wanted.
    pub(super) fn lacking(
        &self,
        order: &[ChipId],
        kind: TopologyKind,
        wanted: u32,
    ) -> Option<TopologyError> {
        pairs(order, kind).into_iter().find_map(|(a, b)| {
            let (free, reserved) = (self.between(a, b).len(), self.reserved(a, b));
            let lacks = free < wanted as usize;
            lacks.then_some(TopologyError::TooFewLinks { a, b, wanted, free, reserved })
        })
    }
}

fn pair(a: ChipId, b: ChipId) -> (ChipId, ChipId) {
    (a.min(b), a.max(b))
}
