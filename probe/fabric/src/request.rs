//! What a person wishes a fabric to be.

use layouts::ChipId;
use machine::fabric::FabricTopology;

/// Which chips are which mesh of a fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Division {
    /// All of them one mesh.
    #[default]
    Whole,
    /// So many meshes: what stands in different racks or shelves if that makes so many, else equal parts, cut across the longer
    /// side.
    Parts(usize),
    /// These, one after the other.
    Chips(Vec<Vec<ChipId>>),
}

/// A fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricRequest {
    /// What its routers are built for.
    pub topology: FabricTopology,
    /// The chips; all of the mesh if none is named, but those whose every link is reserved for dispatch. Not used with
    /// [`Division::Chips`].
    pub chips: Vec<ChipId>,
    /// Its meshes.
    pub division: Division,
    /// Routing planes: links of each edge that are used; as many as every edge has if not told.
    pub planes: Option<u32>,
    /// Packets that pass the link that closes a ring go on in virtual channel 1. Without it a ring can fill up until nothing moves.
    pub dateline: bool,
}

impl FabricRequest {
    /// All chips, one mesh, as many planes as there are.
    pub fn new(topology: FabricTopology) -> Self {
        Self {
            topology,
            chips: Vec::new(),
            division: Division::default(),
            planes: None,
            dateline: true,
        }
    }
}
