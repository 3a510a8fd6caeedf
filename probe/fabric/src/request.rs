//! The request for a fabric.

use layouts::ChipId;
use machine::fabric::FabricTopology;

/// The division of chips into the meshes of a fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Division {
    /// All chips form one mesh.
    #[default]
    Whole,
    /// This number of meshes: one for each shelf if there are as many shelves, else equal parts,
    /// cut across the longer side.
    Parts(usize),
    /// The chips of each mesh.
    Chips(Vec<Vec<ChipId>>),
}

/// The request for a fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricRequest {
    /// The topology.
    pub topology: FabricTopology,
    /// The chips; if empty, all chips of the mesh with a link that is not reserved for dispatch.
    /// Not used with
    /// [`Division::Chips`].
    pub chips: Vec<ChipId>,
    /// The division into meshes.
    pub division: Division,
    /// Routing planes: links used of each edge; by default as many as every edge has.
    pub planes: Option<u32>,
    /// Whether packets that pass the link that closes a ring continue in virtual channel 1.
    /// Otherwise a ring can deadlock.
    pub dateline: bool,
    /// Whether links that fast dispatch reserves are used too, as where dispatch passes over the
    /// fabric.
    pub with_dispatch_links: bool,
}

impl FabricRequest {
    /// Requests one mesh of all chips, with as many planes as possible.
    pub fn new(topology: FabricTopology) -> Self {
        Self {
            topology,
            chips: Vec::new(),
            division: Division::default(),
            planes: None,
            dateline: true,
            with_dispatch_links: false,
        }
    }
}
