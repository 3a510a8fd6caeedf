//! The request that plans are made from.

use layouts::{ChipId, CoreId, NocXy};
use machine::snapshot::Span;
use machine::target::Mesh;
use std::collections::BTreeSet;

/// The parts of the mesh to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent parts of the mesh")]
pub struct ReadSet {
    /// The Ethernet tiles of all chips: links, channels, ERISCs.
    pub links: bool,
    /// Chips whose compute tiles are read.
    pub compute: Vec<ChipId>,
    /// A tile to read in full detail.
    pub tile: Option<(ChipId, NocXy)>,
    /// A core of that tile whose structures are read with every member.
    pub members: Option<CoreId>,
    /// Read every tile in full detail.
    pub details: bool,
    /// Additional ranges, read as bytes.
    pub spans: Vec<Span>,
    /// Read what verifies the images, as far as something may have changed.
    pub proofs: bool,
    /// Read the whole texts of all known images, to compare them.
    pub texts: bool,
    /// Every word of the fabric's routers, and of known muxes and clients.
    pub fabric: bool,
    /// The routing tables of these routers, once the routers are known.
    pub fabric_tables: bool,
    /// Tiles of muxes and clients, as [`FabricLeads`](crate::state::FabricLeads) names them.
    pub fabric_tiles: Vec<(ChipId, NocXy)>,
    /// If given, nothing on other tiles is read.
    pub only: Option<BTreeSet<(ChipId, NocXy)>>,
}

impl ReadSet {
    /// Returns a read set of all tiles of all chips, with what verifies the images.
    pub fn everything(mesh: &Mesh) -> Self {
        let compute = mesh.chips.iter().map(|chip| chip.id).collect();
        Self { links: true, compute, proofs: true, ..Self::default() }
    }

    /// Whether the images of another read set are those of this one, or some of them.
    pub fn proves(&self, other: &Self) -> bool {
        let tiles = match (&self.only, &other.only) {
            (Some(own), Some(others)) => others.is_subset(own),
            (own, _) => own.is_none(),
        };
        let proofs = self.proofs || !other.proofs;
        let images =
            |it: &Self| Self { spans: Vec::new(), only: None, proofs: false, ..it.clone() };
        tiles && proofs && images(self) == images(other)
    }

    /// Whether it may read on a tile.
    pub(crate) fn admits(&self, tile: (ChipId, NocXy)) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&tile))
    }
}
