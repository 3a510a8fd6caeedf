//! Meshes as cluster descriptors: what UMD writes, checked and put into the house's own order of chips.

mod build;
mod error;
mod hosts;
mod raw;
mod routes;
mod write;

pub(crate) use build::MOST_CHIPS;
pub(crate) use error::Problems;
pub use error::{DescriptorError, DescriptorProblem};
pub use routes::Routes;

use crate::ChipKind;
use crate::address::{ChipCoord, ChipId, EthId};
use std::collections::BTreeMap;

/// A mesh as a file describes it. Chips stand in the order of [`ChipId`]: those with PCIe by their PCI index, then the
/// others by (rack, shelf, y, x).
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
    /// Links that leave the described mesh.
    pub outward: Vec<OutwardLink>,
    /// How UMD reached the devices, such as `PCIe`.
    pub io_device_type: Option<String>,
    /// Names of the hosts that the mesh is divided among; none where the file does not say.
    pub hosts: Vec<String>,
}

/// One chip of a descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedChip {
    /// Its number in this house.
    pub id: ChipId,
    /// Its number in the file.
    pub file_id: u32,
    /// Where it stands, if its board has coordinates.
    pub coord: Option<ChipCoord>,
    /// The 64-bit id that its firmware publishes.
    pub unique_id: Option<u64>,
    /// PCI index, if it has PCIe.
    pub pcie: Option<u32>,
    /// Do its NIUs translate coordinates; true where the file does not say.
    pub noc_translation: bool,
    /// NOC 0 rows of compute tiles that are fused off, ascending.
    pub harvested_rows: Vec<u8>,
    /// The board that carries it.
    pub board: Option<DescribedBoard>,
    /// Its place on the board.
    pub asic_location: Option<u64>,
    /// PCI bus number or address, as the file spells it.
    pub pci_address: Option<String>,
    /// The host that reaches it, by its place in `hosts`; 0 where the file does not say.
    pub host: u16,
}

/// The board that carries a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedBoard {
    /// 64-bit board id, if told.
    pub id: Option<u64>,
    /// Its type as UMD spells it, such as `n300`, if told.
    pub kind: Option<String>,
}

/// A link to a chip that the descriptor does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutwardLink {
    /// The end inside.
    pub near: EthId,
    /// Unique id of the chip outside.
    pub far_unique_id: u64,
    /// Channel of the chip outside.
    pub far_channel: u8,
}

impl ClusterDescriptor {
    /// Reads a descriptor. `name` is what messages call it: the path, for a file.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its line.
    pub fn parse(name: &str, text: &str) -> Result<Self, DescriptorError> {
        build::parse(name, text)
    }

    /// The chip of this number.
    pub fn chip(&self, id: ChipId) -> Option<&DescribedChip> {
        self.chips.get(usize::from(id.0))
    }

    /// The other end of a link.
    pub fn peer(&self, end: EthId) -> Option<EthId> {
        self.links.iter().find_map(|&(a, b)| match end {
            _ if end == a => Some(b),
            _ if end == b => Some(a),
            _ => None,
        })
    }

    /// For each pair of chips the channels that lead one hop closer.
    pub fn routes(&self) -> Routes {
        Routes::new(self.chips.len() as u16, &self.links)
    }

    /// Puts chips and links into the house's order: chips with PCIe by their PCI index, then the others by place.
    pub(crate) fn renumber(&mut self) {
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
