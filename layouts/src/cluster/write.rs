//! Writes a descriptor as UMD's YAML, which [`ClusterDescriptor::parse`] reads back.

use super::{ClusterDescriptor, DescribedBoard, DescribedChip};
use crate::address::EthId;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Write};

impl ClusterDescriptor {
    /// Returns the descriptor as UMD spells it, one link per line. UMD's format has no hosts: see
    /// [`ClusterDescriptor::of_host`].
    pub fn to_yaml(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let mut chips: Vec<_> = self.chips.iter().collect();
        chips.sort_by_key(|chip| chip.file_id);
        per_chip(out, "arch", &chips, |_| Some("wormhole_b0"))?;
        let boards = self.boards();
        let on_pcie_boards = chips.iter().all(|chip| {
            let board = boards.values().find(|board| board.iter().any(|c| c.id == chip.id));
            board.is_some_and(|board| board.iter().any(|chip| chip.pcie.is_some()))
                || chip.pcie.is_some()
        });
        let coordinates = |chip: &DescribedChip| {
            let c = chip.coord?;
            Some(format!("[{}, {}, {}, {}]", c.x, c.y, c.rack, c.shelf))
        };
        if on_pcie_boards {
            per_chip(out, "chips", &chips, coordinates)?;
        } else {
            // With coordinates, UMD seeks a chip with PCIe on the board of each chip without.
            per_chip(out, "chips", &chips, |_| None::<String>)?;
            per_chip(out, "chip_coordinates", &chips, coordinates)?;
        }
        per_chip(out, "chip_unique_ids", &chips, |chip| chip.unique_id)?;
        let links = self.links.iter().map(|(a, b)| format!("[{}, {}]", self.end(*a), self.end(*b)));
        list(out, "ethernet_connections", links)?;
        let outward = self.outward.iter().map(|link| {
            let (id, channel) = (link.far_unique_id, link.far_channel);
            format!("[{}, {{remote_chip_id: {id}, chan: {channel}}}]", self.end(link.near))
        });
        list(out, "ethernet_connections_to_remote_devices", outward)?;
        let with_pcie =
            chips.iter().filter_map(|chip| Some(format!("{}: {}", chip.file_id, chip.pcie?)));
        list(out, "chips_with_mmio", with_pcie)?;
        if let Some(io_device_type) = &self.io_device_type {
            writeln!(out, "io_device_type: {io_device_type}")?;
        }
        per_chip(out, "harvesting", &chips, |chip| {
            let mask = self.kind.layout().tiles.descriptor_mask_from_rows(&chip.harvested_rows);
            Some(format!("{{noc_translation: {}, harvest_mask: {mask}}}", chip.noc_translation))
        })?;
        let address = |bus: bool| {
            move |chip: &DescribedChip| {
                let address = chip.pci_address.clone();
                address.filter(|address| address.starts_with("0x") == bus)
            }
        };
        for (key, bus) in [("chip_to_bus_id", true), ("chip_pci_bdfs", false)] {
            if chips.iter().any(|chip| address(bus)(chip).is_some()) {
                per_chip(out, key, &chips, address(bus))?;
            }
        }
        let seated = |chip: &DescribedChip| boards.values().flatten().any(|c| c.id == chip.id);
        if chips.iter().any(|chip| chip.board.is_some() && !seated(chip)) {
            per_chip(out, "chip_to_boardtype", &chips, |chip| {
                chip.board.as_ref().filter(|_| !seated(chip))?.kind.clone()
            })?;
        }
        list(
            out,
            "boards",
            boards.iter().map(|((id, kind), chips)| {
                let chips: Vec<_> = chips.iter().map(|chip| chip.file_id.to_string()).collect();
                format!(
                    "[{{board_id: {id}}}, {{board_type: {kind}}}, {{chips: [{}]}}]",
                    chips.join(", ")
                )
            }),
        )?;
        per_chip(out, "asic_locations", &chips, |chip| chip.asic_location)
    }

    /// Returns the chips of each board by its id and type, as UMD wants them: the id has to name a
    /// type that UMD knows. The chips' own ids have the part that base firmware publishes.
    fn boards(&self) -> BTreeMap<(u64, &str), Vec<&DescribedChip>> {
        let arc = &self.kind.layout().arc;
        let mut boards: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for chip in &self.chips {
            let Some(DescribedBoard { id, kind }) = &chip.board else { continue };
            let known = id.and_then(|id| Some((arc.board(id)?, id)));
            let published = || {
                let board = arc.board_named(kind.as_ref()?)?;
                let short = chip.unique_id.map(|id| id as u32).filter(|short| *short != 0);
                Some((board, board.id_from_short(short?)))
            };
            if let Some((board, id)) = known.or_else(published) {
                boards.entry((id, board.umd_name())).or_default().push(chip);
            }
        }
        for chips in boards.values_mut() {
            chips.sort_by_key(|chip| chip.file_id);
        }
        boards
    }

    fn end(&self, end: EthId) -> String {
        let file_id = self.chip(end.chip).map_or(u32::from(end.chip.0), |chip| chip.file_id);
        format!("{{chip: {file_id}, chan: {}}}", end.channel)
    }
}

/// Writes a mapping by chip; chips without a value are left out.
fn per_chip<T: Display>(
    out: &mut String,
    key: &str,
    chips: &[&DescribedChip],
    value: impl Fn(&DescribedChip) -> Option<T>,
) -> fmt::Result {
    writeln!(out, "{key}:")?;
    let mut empty = true;
    for chip in chips {
        if let Some(value) = value(chip) {
            writeln!(out, "  {}: {value}", chip.file_id)?;
            empty = false;
        }
    }
    if empty { writeln!(out, "  {{}}") } else { Ok(()) }
}

fn list(out: &mut String, key: &str, items: impl Iterator<Item = String>) -> fmt::Result {
    writeln!(out, "{key}:")?;
    let mut items = items.peekable();
    if items.peek().is_none() {
        return writeln!(out, "  []");
    }
    items.try_for_each(|item| writeln!(out, "  - {item}"))
}
