//! Meshes as cluster descriptors: what UMD writes, checked and put into the house's own order of chips.

mod build;
mod error;
mod raw;
mod routes;

pub use error::{DescriptorError, DescriptorProblem};
pub use routes::Routes;

use crate::address::{ChipCoord, ChipId, EthId};

/// A mesh as a file describes it. Chips stand in the order of [`ChipId`]: those with PCIe by their PCI index, then the
/// others by (rack, shelf, y, x).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterDescriptor {
    /// Name or path of the file.
    pub name: String,
    /// All chips; the index is the [`ChipId`].
    pub chips: Vec<DescribedChip>,
    /// Links inside the mesh, the lower end first, sorted.
    pub links: Vec<(EthId, EthId)>,
    /// Links that leave the described mesh.
    pub outward: Vec<OutwardLink>,
    /// How UMD reached the devices, such as `PCIe`.
    pub io_device_type: Option<String>,
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

/// Shipped descriptors by mesh name.
const SHIPPED: [(&str, &str); 5] = [
    ("n150", include_str!("../../data/meshes/n150.yaml")),
    ("n300", include_str!("../../data/meshes/n300.yaml")),
    ("t3000", include_str!("../../data/meshes/t3000.yaml")),
    ("galaxy", include_str!("../../data/meshes/galaxy.yaml")),
    ("tg", include_str!("../../data/meshes/tg.yaml")),
];

impl ClusterDescriptor {
    /// Reads a descriptor. `name` is what messages call it: the path, for a file.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its line.
    pub fn parse(name: &str, text: &str) -> Result<Self, DescriptorError> {
        build::parse(name, text)
    }

    /// The shipped descriptor of a mesh, such as `n300`; nothing if there is none of that name.
    pub fn shipped(mesh: &str) -> Option<Result<Self, DescriptorError>> {
        let (name, text) = SHIPPED.iter().find(|(name, _)| *name == mesh)?;
        Some(Self::parse(&format!("{name}.yaml"), text))
    }

    /// Names of the shipped meshes.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
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
}
