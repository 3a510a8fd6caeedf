//! Meshes as cluster descriptors: UMD's format, checked, with chips in the project's order.

mod build;
mod error;
mod hosts;
mod raw;
mod routes;
mod write;

pub use build::MOST_CHIPS;
pub(crate) use error::Problems;
pub use error::{DescriptorError, DescriptorProblem};
pub use routes::Routes;

use crate::ChipKind;
use crate::address::{ChipCoord, ChipId, EthId};
use crate::seat::Seat;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A mesh from a file. Chips are in the order of [`ChipId`]: those with PCIe by their PCI index,
/// then the others by (rack, shelf, y, x).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterDescriptor {
    /// Name or path of the file.
    pub name: String,
    /// The kind of its chips.
    pub kind: ChipKind,
    /// All chips; the index is the [`ChipId`].
    pub chips: Vec<DescribedChip>,
    /// Links inside the mesh, the lower end first, sorted.
    pub links: Vec<(EthId, EthId)>,
    /// Whether `links` only counts the links between neighbours: its channels are not described, and a machine may have
    /// more chips and links.
    pub counted: bool,
    /// Links that leave the described mesh.
    pub outward: Vec<OutwardLink>,
    /// The device type that UMD used, such as `PCIe`.
    pub io_device_type: Option<String>,
    /// Names of the mesh's hosts; empty if the file lists none.
    pub hosts: Vec<String>,
}

/// One chip of a descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedChip {
    /// Its id in this project.
    pub id: ChipId,
    /// Its number in the file.
    pub file_id: u32,
    /// Its position, if its board has coordinates.
    pub coord: Option<ChipCoord>,
    /// The 64-bit id that its firmware publishes.
    pub unique_id: Option<u64>,
    /// PCI index, if it has PCIe.
    pub pcie: Option<u32>,
    /// Whether its NIUs translate coordinates; true if the file does not specify it.
    pub noc_translation: bool,
    /// NOC 0 rows of compute tiles that are fused off, ascending.
    pub harvested_rows: Vec<u8>,
    /// The board that carries it.
    pub board: Option<DescribedBoard>,
    /// Its location on the board.
    pub asic_location: Option<u64>,
    /// PCI bus number or address, as the file spells it.
    pub pci_address: Option<String>,
    /// The host that reaches it, as an index of `hosts`; 0 if the file lists none.
    pub host: u16,
    /// Where it stands, if the file says so.
    pub seat: Option<Seat>,
    /// Tray and location of each place at which it is to stand; anywhere if there are none.
    pub pinned: Vec<[u32; 2]>,
}

impl DescribedChip {
    /// Whether it may stand at a place: it is pinned there, or nowhere.
    pub fn fits_pin(&self, seat: &Seat) -> bool {
        self.pinned.is_empty() || self.pinned.contains(&[seat.tray, seat.asic_location])
    }

    /// Returns a chip of which only the number in the file is known.
    #[must_use]
    pub fn blank(file_id: u32) -> Self {
        Self {
            id: ChipId(0),
            file_id,
            coord: None,
            unique_id: None,
            pcie: None,
            noc_translation: true,
            harvested_rows: Vec::new(),
            board: None,
            asic_location: None,
            pci_address: None,
            host: 0,
            seat: None,
            pinned: Vec::new(),
        }
    }
}

/// The board that carries a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedBoard {
    /// 64-bit board id, if known.
    pub id: Option<u64>,
    /// Its type as UMD spells it, such as `n300`, if known.
    pub kind: Option<String>,
}

/// A link to a chip that is not in the descriptor, or was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OutwardLink {
    /// The end that is there.
    pub near: EthId,
    /// Unique id of the other chip.
    pub far_unique_id: u64,
    /// Channel of the other chip.
    pub far_channel: u8,
}

impl ClusterDescriptor {
    /// Reads a descriptor. Messages call it `name`: for a file, its path.
    ///
    /// # Errors
    /// All errors, with their lines.
    pub fn parse(name: &str, text: &str) -> Result<Self, DescriptorError> {
        build::parse(name, text)
    }

    /// Returns the chip of this id.
    pub fn chip(&self, id: ChipId) -> Option<&DescribedChip> {
        self.chips.get(usize::from(id.0))
    }

    /// Returns for each pair of chips the channels that lead one hop closer.
    pub fn routes(&self) -> Routes {
        Routes::new(self.chips.len() as u16, &self.links)
    }

    /// Sorts chips and links into the project's order: chips with PCIe by their PCI index, then the
    /// others by position.
    pub fn renumber(&mut self) {
        self.chips.sort_by_key(|chip| {
            let place = chip.coord.map(|c| (c.rack, c.shelf, c.y, c.x));
            (chip.pcie.is_none(), chip.pcie, place.is_none(), place, chip.file_id)
        });
        let mut ids = BTreeMap::new();
        for (id, chip) in (0..=u16::MAX).zip(&mut self.chips) {
            ids.insert(chip.id, ChipId(id));
            chip.id = ChipId(id);
        }
        let end = |end: EthId| ids.get(&end.chip).map(|chip| EthId { chip: *chip, ..end });
        let link = |(a, b)| Some((end(a)?, end(b)?)).map(|(a, b)| (a.min(b), a.max(b)));
        self.links = self.links.drain(..).filter_map(link).collect();
        self.links.sort_unstable();
        for link in &mut self.outward {
            link.near = end(link.near).unwrap_or(link.near);
        }
    }
}
