//! Errors of fabric plans and routing tables.

use launch::topology::{TopologyError, not_counted};
use layouts::{ChipId, NoChannel};
use machine::fabric::{Direction, FabricNode, FabricTopology};
use thiserror::Error;

/// Why a fabric cannot be planned, or a table cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FabricError {
    /// Too few chips, with their number.
    #[error("a fabric needs at least two linked chips, {}", if *.0 == 0 { "and there are none".to_owned() } else { format!("not {}", .0) })]
    TooFewChips(usize),
    /// The chips are not those of a mesh, or form no line or ring.
    #[error("{0}")]
    NoOrder(TopologyError),
    /// The chips form no rectangle of this topology; with their number.
    #[error("the {} chips form no {}: they have no arrangement {}", .1, .0, if *.0 == FabricTopology::Torus { "with closed rows or columns" } else { "in linked rows and columns" })]
    NoRectangle(FabricTopology, usize),
    /// A line or ring is longer than the route of a packet.
    #[error(
        "a {topology} of {chips} chips is up to {hops} hops long, more than the {most} that a packet's route can hold"
    )]
    TooLong {
        /// Line or ring.
        topology: FabricTopology,
        /// Number of chips.
        chips: usize,
        /// Hops of the longest route.
        hops: usize,
        /// Most hops of a packet's route.
        most: usize,
    },
    /// A link ends at an Ethernet channel that its chip does not have.
    #[error("{0}")]
    NoChannel(#[from] NoChannel),
    /// Zero planes were requested.
    #[error("planes: a fabric needs one or more")]
    NoPlanes,
    /// An edge has fewer links than requested planes.
    #[error("{}{}", too_many(*.a, *.b, *.planes, *.free), not_counted(*.reserved))]
    TooManyPlanes {
        /// One end of the edge.
        a: ChipId,
        /// The other end.
        b: ChipId,
        /// Requested planes.
        planes: u32,
        /// Free links.
        free: usize,
        /// Links reserved for dispatch.
        reserved: usize,
    },
    /// The chips cannot be cut into this number of meshes; with the reason.
    #[error("the chips cannot be cut into {0} meshes: {1}")]
    Division(usize, String),
    /// No link leads from this mesh to another.
    #[error("no link leads from mesh {0} to another one")]
    Apart(u16),
    /// A chip at a link between meshes has no free direction.
    #[error(
        "the links between chips {0} and {1} would join two meshes, but one of these chips has no free direction"
    )]
    NoDirection(ChipId, ChipId),
    /// A table names a device that does not exist.
    #[error("the {table} table of {node} names device {device}, but its mesh has devices 0 to {}", .devices.saturating_sub(1))]
    NoDevice {
        /// Owner of the table.
        node: FabricNode,
        /// Name of the table.
        table: &'static str,
        /// The device.
        device: u32,
        /// Number of devices.
        devices: usize,
    },
    /// A table names a mesh that does not exist.
    #[error("the {table} table of {node} names mesh {mesh}, but there are meshes 0 to {}", .meshes.saturating_sub(1))]
    NoMesh {
        /// Owner of the table.
        node: FabricNode,
        /// Name of the table.
        table: &'static str,
        /// The mesh.
        mesh: u32,
        /// Number of meshes.
        meshes: usize,
    },
    /// A table entry leads in a direction without a neighbor.
    #[error(
        "entry {entry} of the {table} table of {node} leads {direction}, where the node has no neighbor"
    )]
    NoNeighbor {
        /// Owner of the table.
        node: FabricNode,
        /// Name of the table.
        table: &'static str,
        /// Number of the entry.
        entry: u32,
        /// The direction.
        direction: Direction,
    },
}

fn too_many(a: ChipId, b: ChipId, planes: u32, free: usize) -> String {
    if (planes, free) == (1, 0) {
        return format!("chips {a} and {b} have no link left for a routing plane");
    }
    let links = if free == 1 { "link" } else { "links" };
    format!(
        "{planes} routing planes were requested, but chips {a} and {b} have {free} {links} for them"
    )
}

impl From<TopologyError> for FabricError {
    fn from(error: TopologyError) -> Self {
        match error {
            TopologyError::TooFewChips(chips) => Self::TooFewChips(chips),
            TopologyError::TooFewLinks { a, b, wanted, free, reserved } => {
                Self::TooManyPlanes { a, b, planes: wanted, free, reserved }
            }
            other => Self::NoOrder(other),
        }
    }
}
