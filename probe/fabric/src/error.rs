//! Errors of fabric plans and routing tables.

use launch::topology::TopologyError;
use layouts::{ChipId, NoChannel};
use machine::fabric::{Direction, FabricNode, FabricTopology};
use std::fmt;

/// Why a fabric cannot be planned, or a table cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FabricError {
    /// The mesh does not have this chip; with the number of its chips.
    NoChip(ChipId, usize),
    /// A chip was named twice.
    Twice(ChipId),
    /// Too few chips, with their number.
    TooFewChips(usize),
    /// The chips form no line or ring.
    NoOrder(TopologyError),
    /// The chips form no rectangle of this topology; with their number.
    NoRectangle(FabricTopology, usize),
    /// A line or ring is longer than the route of a packet.
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
    NoChannel(NoChannel),
    /// Zero planes were requested.
    NoPlanes,
    /// An edge has fewer links than requested planes.
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
    Division(usize, String),
    /// No link leads from this mesh to another.
    Apart(u16),
    /// A chip at a link between meshes has no free direction.
    NoDirection(ChipId, ChipId),
    /// A table names a device that does not exist.
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

impl fmt::Display for FabricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoChip(chip, chips) => {
                let last = chips.saturating_sub(1);
                write!(f, "there is no chip {chip}: the mesh has chips 0 to {last}")
            }
            Self::Twice(chip) => write!(f, "chip {chip} is named twice"),
            Self::TooFewChips(0) => {
                f.write_str("a fabric needs at least two linked chips, and there are none")
            }
            Self::TooFewChips(chips) => {
                write!(f, "a fabric needs at least two linked chips, not {chips}")
            }
            Self::NoOrder(why) => write!(f, "{why}"),
            Self::NoRectangle(topology, chips) => {
                write!(f, "the {chips} chips form no {topology}: ")?;
                f.write_str(match topology {
                    FabricTopology::Torus => "they have no arrangement with closed rows or columns",
                    _ => "they have no arrangement in linked rows and columns",
                })
            }
            Self::TooLong { topology, chips, hops, most } => write!(
                f,
                "a {topology} of {chips} chips is up to {hops} hops long, more than the {most} that a packet's route can hold"
            ),
            Self::NoChannel(error) => write!(f, "{error}"),
            Self::NoPlanes => f.write_str("planes: a fabric needs one or more"),
            Self::TooManyPlanes { a, b, planes, free, reserved } => {
                match (planes, free) {
                    (1, 0) => write!(f, "chips {a} and {b} have no link left for a routing plane"),
                    (_, free) => {
                        let links =
                            if *free == 1 { "1 link".to_owned() } else { format!("{free} links") };
                        write!(
                            f,
                            "{planes} routing planes were requested, but chips {a} and {b} have {links} for them"
                        )
                    }
                }?;
                if *reserved > 0 {
                    write!(f, ", not counting {reserved} reserved for dispatch")?;
                }
                Ok(())
            }
            Self::Division(parts, why) => {
                write!(f, "the chips cannot be cut into {parts} meshes: {why}")
            }
            Self::Apart(mesh) => write!(f, "no link leads from mesh {mesh} to another one"),
            Self::NoDirection(a, b) => write!(
                f,
                "the links between chips {a} and {b} would join two meshes, but one of these chips has no free direction"
            ),
            Self::NoDevice { node, table, device, devices } => write!(
                f,
                "the {table} table of {node} names device {device}, but its mesh has devices 0 to {}",
                devices.saturating_sub(1)
            ),
            Self::NoMesh { node, table, mesh, meshes } => write!(
                f,
                "the {table} table of {node} names mesh {mesh}, but there are meshes 0 to {}",
                meshes.saturating_sub(1)
            ),
            Self::NoNeighbor { node, table, entry, direction } => write!(
                f,
                "entry {entry} of the {table} table of {node} leads {direction}, where the node has no neighbor"
            ),
        }
    }
}

impl std::error::Error for FabricError {}

impl From<TopologyError> for FabricError {
    fn from(error: TopologyError) -> Self {
        match error {
            TopologyError::NoChip(chip, chips) => Self::NoChip(chip, chips),
            TopologyError::Twice(chip) => Self::Twice(chip),
            TopologyError::TooFewChips(chips) => Self::TooFewChips(chips),
            TopologyError::TooFewLinks { a, b, wanted, free, reserved } => {
                Self::TooManyPlanes { a, b, planes: wanted, free, reserved }
            }
            other => Self::NoOrder(other),
        }
    }
}

impl From<NoChannel> for FabricError {
    fn from(error: NoChannel) -> Self {
        Self::NoChannel(error)
    }
}
