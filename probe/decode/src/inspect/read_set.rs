//! What somebody looks at.

use layouts::{ChipId, CoreId, NocXy};
use machine::snapshot::Span;
use machine::target::Mesh;

/// What somebody looks at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "what somebody looks at, one by one")]
pub struct ReadSet {
    /// The Ethernet tiles of all chips: links, channels, ERISCs.
    pub links: bool,
    /// Chips whose compute tiles matter.
    pub compute: Vec<ChipId>,
    /// A tile to be read in every detail.
    pub tile: Option<(ChipId, NocXy)>,
    /// A core of that tile of which every member of what its images describe is shown.
    pub members: Option<CoreId>,
    /// Every tile that is read at all is read in every detail.
    pub details: bool,
    /// Ranges that are shown as bytes.
    pub spans: Vec<Span>,
    /// Read the build ids, to prove which images run.
    pub proofs: bool,
    /// Read the whole texts of all images that are known to run, to compare them.
    pub texts: bool,
    /// Every word of the routers of the fabric, and of the muxes and clients that are known to run.
    pub fabric: bool,
    /// The routing tables of these routers, once they are known.
    pub fabric_tables: bool,
    /// Tiles of muxes and clients, as [`FabricLeads`](crate::state::FabricLeads) names them.
    pub fabric_tiles: Vec<(ChipId, NocXy)>,
}

impl ReadSet {
    /// All tiles of all chips, with proofs.
    pub fn everything(mesh: &Mesh) -> Self {
        let compute = mesh.chips.iter().map(|chip| chip.id).collect();
        Self { links: true, compute, proofs: true, ..Self::default() }
    }
}
