//! Coordinates and ids for the chips of hosts, which an emulated mesh needs and the descriptors of hosts lack.

use layouts::{ChipCoord, ChipId, ClusterDescriptor, DescribedChip};
use std::collections::{BTreeMap, BTreeSet};

/// Gives the chips of a descriptor of hosts their coordinates, and ids where it has none. The chips of a host that links
/// join get a shelf. They stand as in a shipped mesh of which they have all links; if there is none, in a row by trays. Other
/// descriptors stay as they are.
pub fn place(mesh: &mut ClusterDescriptor) {
    if !mesh.chips.iter().all(|chip| chip.coord.is_none() && chip.seat.is_some()) {
        return;
    }
    let shipped = ClusterDescriptor::shipped_names().filter_map(ClusterDescriptor::shipped);
    let shipped: Vec<ClusterDescriptor> = shipped.filter_map(Result::ok).collect();
    let shipped: Vec<Wiring<'_>> = shipped.iter().map(Wiring::of).collect();
    let own = Wiring::of(mesh);
    let mut coords: BTreeMap<ChipId, ChipCoord> = BTreeMap::new();
    for (shelf, part) in (0..).zip(parts(&own)) {
        let known = shipped.iter().find_map(|other| alike(&own, &part, other));
        let row = || {
            let at = |(x, chip)| (chip, ChipCoord { x, y: 0, rack: 0, shelf: 0 });
            (0..).zip(part.iter().copied()).map(at).collect()
        };
        let places: BTreeMap<ChipId, ChipCoord> = known.unwrap_or_else(row);
        coords.extend(places.into_iter().map(|(id, at)| (id, ChipCoord { rack: 0, shelf, ..at })));
    }
    let mut boards: BTreeMap<(u16, u32), u64> = BTreeMap::new();
    for chip in &mut mesh.chips {
        chip.coord = coords.get(&chip.id).copied();
        let tray = chip.seat.as_ref().map_or(0, |seat| seat.tray);
        let next = 0x100 + boards.len() as u64;
        let board = *boards.entry((chip.host, tray)).or_insert(next);
        // As cards' firmware has it: 2 and the location, then the board.
        let location = chip.asic_location.unwrap_or_default();
        chip.unique_id = chip.unique_id.or(Some((2 + location) << 32 | board));
    }
    order_devices(mesh);
    mesh.renumber();
}

/// Counts the PCIe devices of each host in their order on its motherboard, if that is known.
fn order_devices(mesh: &mut ClusterDescriptor) {
    let mut hosts: BTreeMap<u16, Vec<&mut DescribedChip>> = BTreeMap::new();
    for chip in mesh.chips.iter_mut().filter(|chip| chip.pcie.is_some()) {
        hosts.entry(chip.host).or_default().push(chip);
    }
    for chips in hosts.values_mut() {
        let device = |chip: &DescribedChip| chip.seat.as_ref().and_then(|seat| seat.device);
        if chips.iter().all(|chip| device(chip).is_some()) {
            let mut numbers: Vec<_> = chips.iter().map(|chip| chip.pcie).collect();
            numbers.sort_unstable();
            chips.sort_by_key(|chip| device(chip));
            chips.iter_mut().zip(numbers).for_each(|(chip, number)| chip.pcie = number);
        }
    }
}

/// Returns the chips of each host that links join.
fn parts(own: &Wiring<'_>) -> Vec<Vec<ChipId>> {
    let host = |chip: ChipId| own.mesh.chip(chip).map(|chip| chip.host);
    let number = |chip: &ChipId| own.mesh.chip(*chip).map(|chip| chip.file_id);
    let (mut parts, mut seen) = (Vec::new(), BTreeSet::new());
    let mut order: Vec<_> = own.mesh.chips.iter().map(|chip| chip.id).collect();
    order.sort_by_key(number);
    for first in order {
        let (mut part, mut waiting) = (Vec::new(), vec![first]);
        while let Some(chip) = waiting.pop() {
            if seen.insert(chip) {
                part.push(chip);
                waiting.extend(own.near(chip).filter(|near| host(*near) == host(chip)));
            }
        }
        if !part.is_empty() {
            part.sort_by_key(number);
            parts.push(part);
        }
    }
    parts
}

/// The number of links between two chips, from either.
struct Wiring<'a> {
    mesh: &'a ClusterDescriptor,
    links: BTreeMap<(ChipId, ChipId), usize>,
}

impl<'a> Wiring<'a> {
    fn of(mesh: &'a ClusterDescriptor) -> Self {
        let mut links = BTreeMap::new();
        for (a, b) in mesh.links.iter().flat_map(|(a, b)| [(a, b), (b, a)]) {
            *links.entry((a.chip, b.chip)).or_default() += 1;
        }
        Self { mesh, links }
    }

    fn between(&self, a: ChipId, b: ChipId) -> usize {
        self.links.get(&(a, b)).copied().unwrap_or_default()
    }

    fn near(&self, chip: ChipId) -> impl Iterator<Item = ChipId> {
        let all = self.links.range((chip, ChipId(0))..=(chip, ChipId(u16::MAX)));
        all.map(|((_, other), _)| *other)
    }

    fn has_pcie(&self, chip: ChipId) -> bool {
        self.mesh.chip(chip).is_some_and(|chip| chip.pcie.is_some())
    }
}

/// Returns where the chips of a part stand if between the chips of a mesh there are at most as many links.
fn alike(
    own: &Wiring<'_>,
    part: &[ChipId],
    other: &Wiring<'_>,
) -> Option<BTreeMap<ChipId, ChipCoord>> {
    if part.len() != other.mesh.chips.len() {
        return None;
    }
    // Each chip comes after one to which it is linked.
    let mut order: Vec<ChipId> = other.mesh.chips.first().map(|chip| chip.id).into_iter().collect();
    let mut next = 0;
    while let Some(chip) = order.get(next).copied() {
        let fresh: Vec<_> = other.near(chip).filter(|it| !order.contains(it)).collect();
        order.extend(fresh);
        next += 1;
    }
    let mut search = Search { own, part, other, order, partners: Vec::new(), tried: 0 };
    if search.order.len() < part.len() || !search.pair() {
        return None;
    }
    let at = |(chip, partner)| Some((partner, other.mesh.chip(chip)?.coord?));
    search.order.into_iter().zip(search.partners).map(at).collect()
}

/// Most partners that are tried. A mesh that fits takes about as many as it has chips.
const MOST_TRIED: usize = 100_000;

struct Search<'a> {
    own: &'a Wiring<'a>,
    part: &'a [ChipId],
    other: &'a Wiring<'a>,
    order: Vec<ChipId>,
    /// Of the first chips of `order`.
    partners: Vec<ChipId>,
    tried: usize,
}

impl Search<'_> {
    /// Finds partners for the chips from the next one on.
    fn pair(&mut self) -> bool {
        let Some(chip) = self.order.get(self.partners.len()).copied() else { return true };
        for partner in self.fitting(chip) {
            self.tried += 1;
            if self.tried > MOST_TRIED {
                return false;
            }
            self.partners.push(partner);
            if self.pair() {
                return true;
            }
            self.partners.pop();
        }
        false
    }

    /// Returns the chips of the part that have the links of a chip.
    fn fitting(&self, chip: ChipId) -> Vec<ChipId> {
        let Self { own, other, .. } = self;
        let before = || self.order.iter().copied().zip(self.partners.iter().copied());
        let linked = before().find(|(a, _)| other.between(*a, chip) > 0);
        let mut near =
            linked.map_or_else(|| self.part.to_vec(), |(_, partner)| own.near(partner).collect());
        near.retain(|partner| {
            self.part.contains(partner)
                && !self.partners.contains(partner)
                && own.has_pcie(*partner) == other.has_pcie(chip)
                && before().all(|(a, b)| own.between(b, *partner) >= other.between(a, chip))
        });
        near
    }
}
