//! Links that a collective can use: all except those that fast dispatch reserves.

use super::error::TopologyError;
use super::error::TopologyKind;
use super::{Socket, pairs};
use layouts::ChipId;
use machine::target::{Link, Mesh};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Returns the links that fast dispatch reserves: for far chips, one link between each two
/// neighbours at different distances from their common PCIe chip (BasicEthernetGuide, N300). It is
/// the link with the lowest channel, because tt-metal's host code takes links in order.
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

/// Returns for each chip the PCIe chip that it is reached through and its distance in links.
fn gateways(mesh: &Mesh) -> BTreeMap<ChipId, (ChipId, usize)> {
    let mut known: BTreeMap<ChipId, (ChipId, usize)> = BTreeMap::new();
    for chip in &mesh.chips {
        let stated = chip.gateway.as_ref().and_then(|tiles| tiles.first());
        let stated = if chip.pcie { Some(chip.id) } else { stated.map(|tile| tile.chip) };
        let stated =
            stated.and_then(|gateway| Some((gateway, *distances(mesh, gateway).get(&chip.id)?)));
        let pcie = mesh.chips.iter().filter(|other| other.pcie);
        let nearest = || {
            let reached = pcie
                .filter_map(|other| Some((other.id, *distances(mesh, other.id).get(&chip.id)?)));
            reached.min_by_key(|&(id, distance)| (distance, id))
        };
        if let Some(found) = stated.or_else(nearest) {
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

/// The free links of a mesh, by the pair of chips that they join.
#[derive(Clone, Debug, Default)]
pub struct FreeLinks {
    /// Key: the lower chip, then the higher. Links are in the order of the lower chip's channels.
    free: BTreeMap<(ChipId, ChipId), Vec<Link>>,
    reserved: BTreeMap<(ChipId, ChipId), usize>,
}

impl FreeLinks {
    /// Returns the free links of a mesh.
    pub fn of(mesh: &Mesh) -> Self {
        Self::except(mesh, &dispatch_reserved(mesh))
    }

    /// Returns all links of a mesh, including those that dispatch reserves.
    pub fn all(mesh: &Mesh) -> Self {
        Self::except(mesh, &BTreeSet::new())
    }

    fn except(mesh: &Mesh, reserved: &BTreeSet<Link>) -> Self {
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

    /// Returns the free links between two chips, the end at `from` first.
    pub fn between(&self, from: ChipId, to: ChipId) -> Vec<Socket> {
        let links = self.free.get(&pair(from, to)).into_iter().flatten();
        links
            .map(|link| if link.a.chip == from { (link.a, link.b) } else { (link.b, link.a) })
            .collect()
    }

    /// Returns how many links between two chips are reserved for dispatch.
    pub fn reserved(&self, a: ChipId, b: ChipId) -> usize {
        self.reserved.get(&pair(a, b)).map_or(0, |count| *count)
    }

    /// Returns the first edge of this order that has fewer links than requested.
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
