//! Why a fabric cannot be: one sentence for each mistake.

use launch::topology::TopologyError;
use layouts::{ChipId, NoChannel};
use machine::fabric::{Direction, FabricNode, FabricTopology};
use std::fmt;

/// Why a fabric cannot be planned, or a table not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FabricError {
    /// The mesh has no chip of this number; how many it has.
    NoChip(ChipId, usize),
    /// A chip was named twice.
    Twice(ChipId),
    /// So many chips are too few.
    TooFewChips(usize),
    /// The chips form no line or ring, and why.
    NoOrder(TopologyError),
    /// So many chips form no rectangle of this topology.
    NoRectangle(FabricTopology, usize),
    /// A line or ring is longer than the route of a packet.
    TooLong {
        /// Which of the two.
        topology: FabricTopology,
        /// Its chips.
        chips: usize,
        /// The longest way in it.
        hops: usize,
        /// What a packet has room for.
        most: usize,
    },
    /// A link ends at an Ethernet channel that its chip does not have.
    NoChannel(NoChannel),
    /// No planes were asked for.
    NoPlanes,
    /// An edge has fewer links than planes were asked for.
    TooManyPlanes {
        /// One end of the edge.
        a: ChipId,
        /// The other.
        b: ChipId,
        /// Planes asked for.
        planes: u32,
        /// Links that are free for them.
        free: usize,
        /// Links that are reserved for dispatch.
        reserved: usize,
    },
    /// The chips cannot be cut into so many meshes, and why.
    Division(usize, String),
    /// No link leads from a mesh to any other.
    Apart(u16),
    /// A link between meshes would need a direction that its chip has no more.
    NoDirection(ChipId, ChipId),
    /// A table names a device that is not there: whose table, the device, and how many its mesh has.
    NoDevice {
        /// Whose table.
        node: FabricNode,
        /// Which.
        table: &'static str,
        /// The device that it names.
        device: u32,
        /// How many devices there are.
        devices: usize,
    },
    /// A table names a mesh that is not there: whose table, the mesh, and how many there are.
    NoMesh {
        /// Whose table.
        node: FabricNode,
        /// Which.
        table: &'static str,
        /// The mesh that it names.
        mesh: u32,
        /// How many meshes there are.
        meshes: usize,
    },
    /// A table leads to where no chip is.
    NoNeighbor {
        /// Whose table.
        node: FabricNode,
        /// Which.
        table: &'static str,
        /// Its entry.
        entry: u32,
        /// Where it leads.
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
            Self::TooFewChips(0) => f.write_str(
                "a fabric needs two chips with a link between them or more, and there are none",
            ),
            Self::TooFewChips(chips) => {
                write!(f, "a fabric needs two chips with a link between them or more, not {chips}")
            }
            Self::NoOrder(why) => write!(f, "{why}"),
            Self::NoRectangle(topology, chips) => {
                write!(f, "the {chips} chips form no {topology}: ")?;
                f.write_str(match topology {
                    FabricTopology::Torus => "no rows and columns of them of which any are closed",
                    _ => "no rows and columns of them are joined by links",
                })
            }
            Self::TooLong { topology, chips, hops, most } => write!(
                f,
                "a {topology} of {chips} chips is up to {hops} hops long, more than the {most} that the route of a packet has room for"
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
                            "{planes} routing planes were asked for, and chips {a} and {b} have {links} for them"
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
                "the links between chips {a} and {b} would join two meshes, and one of these chips has no direction left for them"
            ),
            Self::NoDevice { node, table, device, devices } => write!(
                f,
                "the {table} table of {node} names device {device}, and its mesh has devices 0 to {}",
                devices.saturating_sub(1)
            ),
            Self::NoMesh { node, table, mesh, meshes } => write!(
                f,
                "the {table} table of {node} names mesh {mesh}, and there are meshes 0 to {}",
                meshes.saturating_sub(1)
            ),
            Self::NoNeighbor { node, table, entry, direction } => write!(
                f,
                "entry {entry} of the {table} table of {node} leads {direction}, where it has no neighbor"
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
