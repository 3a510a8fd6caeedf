//! The YAML of a cluster descriptor, as UMD's current writer and older files have it, with the line
//! of each value.

use crate::tree::Spanned;
use serde::Deserialize;
use std::collections::BTreeMap;

/// All keys that UMD writes or wrote. Every key may be missing here, and unknown keys are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RawDescriptor {
    pub(super) arch: Option<BTreeMap<u32, Spanned<String>>>,
    pub(super) chips: Option<BTreeMap<u32, Spanned<Vec<i64>>>>,
    /// Our own key: see `write`.
    pub(super) chip_coordinates: Option<BTreeMap<u32, Spanned<Vec<i64>>>>,
    pub(super) chip_unique_ids: Option<BTreeMap<u32, Spanned<u64>>>,
    pub(super) ethernet_connections: Option<Vec<RawConnection>>,
    pub(super) ethernet_connections_to_remote_devices: Option<Vec<RawConnection>>,
    pub(super) chips_with_mmio: Option<Vec<Spanned<RawMmio>>>,
    pub(super) io_device_type: Option<String>,
    pub(super) harvesting: Option<BTreeMap<u32, Spanned<RawHarvesting>>>,
    pub(super) chip_to_bus_id: Option<BTreeMap<u32, Spanned<String>>>,
    pub(super) chip_to_boardtype: Option<BTreeMap<u32, Spanned<String>>>,
    /// The older name of `chip_to_boardtype`.
    pub(super) boardtype: Option<BTreeMap<u32, Spanned<String>>>,
    pub(super) boards: Option<Vec<Spanned<Vec<RawBoardItem>>>>,
    pub(super) asic_locations: Option<BTreeMap<u32, Spanned<u64>>>,
    pub(super) chip_pci_bdfs: Option<BTreeMap<u32, Spanned<String>>>,
}

impl RawDescriptor {
    /// Returns the coordinates of the chips.
    pub(super) fn places(&self) -> impl Iterator<Item = (&u32, &Spanned<Vec<i64>>)> {
        [&self.chips, &self.chip_coordinates].into_iter().flatten().flatten()
    }
}

/// Two ends, and in older files a third element about routing.
pub(super) type RawConnection = Spanned<Vec<RawEnd>>;

/// One element of a connection.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RawEnd {
    pub(super) chip: Option<Spanned<u32>>,
    pub(super) chan: Option<Spanned<u32>>,
    pub(super) remote_chip_id: Option<Spanned<u64>>,
}

/// `chip: pci index`, or in older files the chip alone.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected `chip: PCI index`, or a chip number alone")]
pub(super) enum RawMmio {
    Pair(BTreeMap<u32, u32>),
    Chip(u32),
}

/// Fused-off parts of one chip.
#[derive(Debug, Deserialize)]
pub(super) struct RawHarvesting {
    pub(super) noc_translation: Option<bool>,
    pub(super) harvest_mask: Option<Spanned<u32>>,
    pub(super) eth_harvesting_mask: Option<Spanned<u32>>,
}

/// A board is a list of one-key maps.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RawBoardItem {
    pub(super) board_id: Option<u64>,
    pub(super) board_type: Option<String>,
    pub(super) chips: Option<Vec<Spanned<u32>>>,
}
