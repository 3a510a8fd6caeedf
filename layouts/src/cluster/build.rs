//! Builds a checked descriptor from raw YAML.

use super::error::Problems;
use super::raw::{RawConnection, RawDescriptor, RawEnd, RawMmio};
use super::{ClusterDescriptor, DescribedBoard, DescribedChip, DescriptorError, OutwardLink};
use crate::address::{ChipCoord, ChipId, EthId};
use crate::chip::ChipKind;
use crate::tree::{Node, Spanned, TextError};
use std::collections::{BTreeMap, BTreeSet};

/// Most chips of a mesh. The largest shipped mesh has 72.
pub const MOST_CHIPS: usize = 1024;

pub(super) fn parse(name: &str, text: &str) -> Result<ClusterDescriptor, DescriptorError> {
    let mut problems = Problems::default();
    let raw = match Node::from_yaml(text) {
        Ok(tree) if tree.is_mapping() => tree.read::<RawDescriptor>(),
        Ok(tree) => Err(tree.wrong("this is no cluster descriptor: it is no mapping of keys")),
        Err(error) => Err(error),
    };
    match raw {
        Ok(raw) if raw.arch.as_ref().is_some_and(|arch| arch.len() > MOST_CHIPS) => {
            problems.add(0, format!("it describes more than {MOST_CHIPS} chips"));
            problems.finish(name, ClusterDescriptor::default())
        }
        Ok(raw) => {
            let built = Builder::new(&raw, &mut problems).build(name);
            problems.finish(name, built)
        }
        Err(TextError { line, what }) => {
            problems.add(line, what);
            problems.finish(name, ClusterDescriptor::default())
        }
    }
}

/// A chip's number in the file, and a channel.
type FileEnd = (u32, u8);

struct Builder<'a> {
    raw: &'a RawDescriptor,
    problems: &'a mut Problems,
    chips: BTreeMap<u32, DescribedChip>,
    used: BTreeMap<(u32, u8), u64>,
    /// Ethernet channels that are fused off, a bit each.
    eth_off: BTreeMap<u32, u32>,
    kind: ChipKind,
}

impl<'a> Builder<'a> {
    fn new(raw: &'a RawDescriptor, problems: &'a mut Problems) -> Self {
        Self {
            raw,
            problems,
            chips: BTreeMap::new(),
            used: BTreeMap::new(),
            eth_off: BTreeMap::new(),
            kind: ChipKind::default(),
        }
    }

    fn build(mut self, name: &str) -> ClusterDescriptor {
        self.add_chips();
        self.place_chips();
        self.miss_places();
        self.mark_pcie();
        self.harvest();
        self.describe();
        self.seat_on_boards();
        let links = self.links();
        self.part_places(&links);
        let outward = self.outward();
        let mut chips: Vec<_> = self.chips.into_values().collect();
        for (id, chip) in (0..=u16::MAX).zip(&mut chips) {
            chip.id = ChipId(id);
        }
        let ids: BTreeMap<_, _> = chips.iter().map(|chip| (chip.file_id, chip.id)).collect();
        let end =
            |(chip, channel): (u32, u8)| ids.get(&chip).map(|id| EthId { chip: *id, channel });
        let links = links.into_iter().filter_map(|(a, b)| Some((end(a)?, end(b)?))).collect();
        let outward = outward.into_iter().filter_map(|(near, far_unique_id, far_channel)| {
            Some(OutwardLink { near: end(near)?, far_unique_id, far_channel })
        });
        let mut descriptor = ClusterDescriptor {
            name: name.into(),
            kind: self.kind,
            outward: outward.collect(),
            chips,
            links,
            io_device_type: self.raw.io_device_type.clone(),
            ..ClusterDescriptor::default()
        };
        descriptor.renumber();
        descriptor
    }

    fn add_chips(&mut self) {
        for (id, arch) in self.raw.arch.iter().flatten() {
            if let Some(kind) = ChipKind::of_arch(&arch.value) {
                self.kind = kind;
            } else {
                let what = format!("chip {id} is a {}, and only Wormhole is supported", arch.value);
                self.problems.add(line(arch), what);
            }
            self.chips.insert(*id, DescribedChip::blank(*id));
        }
        if self.chips.is_empty() {
            self.problems.add(0, "it describes no chip (`arch` is missing or empty)");
        }
    }

    /// Returns the chip of this number, or adds a problem at this line.
    fn chip(&mut self, id: u32, line: u64) -> Option<&mut DescribedChip> {
        if !self.chips.contains_key(&id) {
            self.problems.add(line, format!("unknown chip {id}: `arch` does not list it"));
        }
        self.chips.get_mut(&id)
    }

    fn place_chips(&mut self) {
        for (id, place) in self.raw.places() {
            let &[x, y, rack, shelf] = place.value.as_slice() else {
                let what = format!(
                    "chip {id} needs 4 coordinates (x, y, rack, shelf), not {}",
                    place.value.len()
                );
                self.problems.add(line(place), what);
                continue;
            };
            let [Ok(x), Ok(y), Ok(rack), Ok(shelf)] = [x, y, rack, shelf].map(u8::try_from) else {
                let what = format!("a coordinate of chip {id} is out of range: 0 to 255");
                self.problems.add(line(place), what);
                continue;
            };
            if let Some(chip) = self.chip(*id, line(place)) {
                chip.coord = Some(ChipCoord { x, y, rack, shelf });
            }
        }
    }

    /// Base firmware routes by coordinates: two chips without them would answer for each other.
    /// Boards without coordinates leave the whole list empty (tt-metal.md 8.4).
    fn miss_places(&mut self) {
        let placed: BTreeSet<u32> = self.raw.places().map(|(id, _)| *id).collect();
        if placed.is_empty() {
            return;
        }
        for (id, arch) in self.raw.arch.iter().flatten() {
            if self.chips.len() > 1 && !placed.contains(id) {
                let what = format!("chip {id} has no coordinates in `chips`");
                self.problems.add(line(arch), what);
            }
        }
    }

    /// Cards that no link joins may have the same coordinates, as those that no `tt-topology` has
    /// numbered have (tt-metal#10348).
    fn part_places(&mut self, links: &[(FileEnd, FileEnd)]) {
        let mut parts: BTreeMap<u32, u32> = self.chips.keys().map(|id| (*id, *id)).collect();
        for ((a, _), (b, _)) in links {
            if let (Some(&a), Some(&b)) = (parts.get(a), parts.get(b)) {
                parts.values_mut().filter(|part| **part == b).for_each(|part| *part = a);
            }
        }
        let mut taken: BTreeMap<(ChipCoord, u32), u32> = BTreeMap::new();
        for (id, place) in self.raw.places() {
            let chip = self.chips.get(id).and_then(|chip| chip.coord).zip(parts.get(id));
            let Some((coord, part)) = chip else { continue };
            if let Some(other) = taken.insert((coord, *part), *id) {
                let ChipCoord { x, y, rack, shelf } = coord;
                let what =
                    format!("chips {other} and {id} both stand at [{x}, {y}, {rack}, {shelf}]");
                self.problems.add(line(place), what);
            }
        }
    }

    fn mark_pcie(&mut self) {
        let listed = self.raw.chips_with_mmio.as_deref().unwrap_or_default();
        for item in listed {
            let pairs = match &item.value {
                RawMmio::Pair(map) => map.iter().map(|(chip, index)| (*chip, *index)).collect(),
                RawMmio::Chip(chip) => vec![(*chip, *chip)],
            };
            for (id, index) in pairs {
                if let Some(chip) = self.chip(id, line(item)) {
                    chip.pcie = Some(index);
                }
            }
        }
        if listed.is_empty() && !self.chips.is_empty() {
            self.problems.add(0, "no chip has PCIe (`chips_with_mmio` is missing or empty)");
        }
    }

    fn harvest(&mut self) {
        let tiles = &self.kind.layout().tiles;
        for (id, harvesting) in self.raw.harvesting.iter().flatten() {
            let raw = &harvesting.value;
            let rows = tiles.tensix.rows.len();
            let mask = self.mask("harvest_mask", raw.harvest_mask.as_ref(), rows, "compute rows");
            let channels = self.kind.layout().eth_channels().into();
            let off = raw.eth_harvesting_mask.as_ref();
            let off = self.mask("eth_harvesting_mask", off, channels, "Ethernet channels");
            self.eth_off.insert(*id, off);
            if let Some(chip) = self.chip(*id, line(harvesting)) {
                chip.harvested_rows = tiles.rows_from_descriptor_mask(mask);
                chip.noc_translation = raw.noc_translation.unwrap_or(true);
            }
        }
    }

    /// Returns a mask with a bit for each of `count` things; 0 if it is missing.
    fn mask(&mut self, key: &str, mask: Option<&Spanned<u32>>, count: usize, of: &str) -> u32 {
        let Some(mask) = mask else { return 0 };
        let unknown = u64::from(mask.value) >> count;
        if unknown != 0 {
            let what = format!("`{key}` {:#x} has bits beyond the {count} {of}", mask.value);
            self.problems.add(line(mask), what);
        }
        mask.value
    }

    fn describe(&mut self) {
        for (id, unique) in self.raw.chip_unique_ids.iter().flatten() {
            if let Some(chip) = self.chip(*id, line(unique)) {
                chip.unique_id = Some(unique.value);
            }
        }
        for (id, location) in self.raw.asic_locations.iter().flatten() {
            if let Some(chip) = self.chip(*id, line(location)) {
                chip.asic_location = Some(location.value);
            }
        }
        // The newer key has more information, so it comes last.
        for addresses in [&self.raw.chip_to_bus_id, &self.raw.chip_pci_bdfs] {
            for (id, address) in addresses.iter().flatten() {
                if let Some(chip) = self.chip(*id, line(address)) {
                    chip.pci_address = Some(address.value.clone());
                }
            }
        }
    }

    fn seat_on_boards(&mut self) {
        let arc = &self.kind.layout().arc;
        let kind = |kind: &String| arc.board_named(kind).map_or(kind, |board| &board.name).clone();
        let types = self.raw.chip_to_boardtype.as_ref().or(self.raw.boardtype.as_ref());
        for (id, of) in types.into_iter().flatten() {
            if let Some(chip) = self.chip(*id, line(of)) {
                chip.board = Some(DescribedBoard { id: None, kind: Some(kind(&of.value)) });
            }
        }
        for items in self.raw.boards.iter().flatten() {
            let board = DescribedBoard {
                id: items.value.iter().find_map(|item| item.board_id),
                kind: items.value.iter().find_map(|item| item.board_type.as_ref().map(kind)),
            };
            for seat in items.value.iter().flat_map(|item| item.chips.iter().flatten()) {
                if let Some(chip) = self.chip(seat.value, line(seat)) {
                    chip.board = Some(board.clone());
                }
            }
        }
    }

    fn links(&mut self) -> Vec<(FileEnd, FileEnd)> {
        let mut links = Vec::new();
        for connection in self.raw.ethernet_connections.iter().flatten() {
            let Some((a, b)) = self.two_ends(connection) else { continue };
            let (near, far) = (self.end(a, line(connection)), self.end(b, line(connection)));
            let (Some(near), Some(far)) = (near, far) else { continue };
            if near.0 == far.0 {
                let what = format!("chip {} is linked to itself ({}-{})", near.0, near.1, far.1);
                self.problems.add(line(connection), what);
                continue;
            }
            self.take(near, line(connection));
            self.take(far, line(connection));
            links.push((near, far));
        }
        links
    }

    fn outward(&mut self) -> Vec<((u32, u8), u64, u8)> {
        let mut links = Vec::new();
        for connection in self.raw.ethernet_connections_to_remote_devices.iter().flatten() {
            let Some((a, b)) = self.two_ends(connection) else { continue };
            let at = line(connection);
            let (Some(near), Some(far_channel)) = (self.end(a, at), self.channel(b, at)) else {
                continue;
            };
            let Some(far) = &b.remote_chip_id else {
                self.problems.add(at, "the far end has no `remote_chip_id`");
                continue;
            };
            self.take(near, at);
            links.push((near, far.value, far_channel));
        }
        links
    }

    fn two_ends(&mut self, connection: &'a RawConnection) -> Option<(&'a RawEnd, &'a RawEnd)> {
        let [a, b, ..] = connection.value.as_slice() else {
            let what = format!("a connection needs two ends, not {}", connection.value.len());
            self.problems.add(line(connection), what);
            return None;
        };
        Some((a, b))
    }

    fn end(&mut self, end: &RawEnd, at: u64) -> Option<(u32, u8)> {
        let channel = self.channel(end, at);
        let Some(id) = &end.chip else {
            self.problems.add(at, "an end has no `chip`");
            return None;
        };
        self.chip(id.value, line(id))?;
        Some((id.value, channel?))
    }

    fn channel(&mut self, end: &RawEnd, at: u64) -> Option<u8> {
        let Some(channel) = &end.chan else {
            self.problems.add(at, "an end has no `chan`");
            return None;
        };
        let number =
            u8::try_from(channel.value).ok().filter(|n| *n < self.kind.layout().eth_channels());
        if number.is_none() {
            let what = format!("channel {} is out of range: a chip has 16, from 0", channel.value);
            self.problems.add(line(channel), what);
        }
        number
    }

    fn take(&mut self, end: (u32, u8), at: u64) {
        if self.eth_off.get(&end.0).is_some_and(|off| off >> end.1 & 1 == 1) {
            let what =
                format!("`eth_harvesting_mask` turns channel {} of chip {} off", end.1, end.0);
            self.problems.add(at, what);
        }
        if let Some(before) = self.used.insert(end, at) {
            let what =
                format!("channel {} of chip {} is already linked in line {before}", end.1, end.0);
            self.problems.add(at, what);
        }
    }
}

fn line<T>(value: &Spanned<T>) -> u64 {
    value.line
}
