//! Writes a descriptor as UMD's YAML, which [`ClusterDescriptor::parse`] reads back.

use super::{ClusterDescriptor, DescribedChip};
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
        per_chip(out, "chips", &chips, |chip| {
            let c = chip.coord?;
            Some(format!("[{}, {}, {}, {}]", c.x, c.y, c.rack, c.shelf))
        })?;
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
        if chips.iter().any(|chip| chip.pci_address.is_some()) {
            per_chip(out, "chip_pci_bdfs", &chips, |chip| chip.pci_address.clone())?;
        }
        list(out, "boards", boards(&chips).into_iter())?;
        per_chip(out, "asic_locations", &chips, |chip| chip.asic_location)
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

/// Common properties of the chips of one board: its id, its type and, for a board without an id,
/// the low words of their own.
type OneBoard<'a> = (Option<u64>, Option<&'a str>, Option<u32>);

fn boards(chips: &[&DescribedChip]) -> Vec<String> {
    let mut boards: BTreeMap<OneBoard<'_>, Vec<String>> = BTreeMap::new();
    for chip in chips {
        if let Some(board) = &chip.board {
            let low = chip.unique_id.filter(|_| board.id.is_none()).map(|id| id as u32);
            let chips = boards.entry((board.id, board.kind.as_deref(), low)).or_default();
            chips.push(chip.file_id.to_string());
        }
    }
    let spelled = |((id, kind, _), chips): (OneBoard<'_>, Vec<String>)| {
        let id = id.map(|id| format!("{{board_id: {id}}}, ")).unwrap_or_default();
        let kind = kind.map(|kind| format!("{{board_type: {kind}}}, ")).unwrap_or_default();
        format!("[{id}{kind}{{chips: [{}]}}]", chips.join(", "))
    };
    boards.into_iter().map(spelled).collect()
}
