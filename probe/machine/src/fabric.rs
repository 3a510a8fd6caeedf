//! Terms of a fabric, with tt-metal's names: directions, topologies, nodes, routing tables, cores
//! of a mux.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The direction of a router's link.
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "UPPERCASE")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(with = "String", inline)]
pub enum Direction {
    /// To the next column.
    East,
    /// To the previous column.
    West,
    /// To the previous row.
    North,
    /// To the next row.
    South,
}

impl Direction {
    /// All four, in the order of `eth_chan_directions`.
    pub const ALL: [Self; 4] = [Self::East, Self::West, Self::North, Self::South];

    /// Returns its enumerator in `eth_chan_directions`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the opposite direction.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::East => Self::West,
            Self::West => Self::East,
            Self::North => Self::South,
            Self::South => Self::North,
        }
    }

    /// Whether it leads along a row of the mesh.
    pub fn is_along_row(self) -> bool {
        matches!(self, Self::East | Self::West)
    }

    /// Returns its index in [`Direction::ALL`].
    pub fn index(self) -> usize {
        Self::ALL.iter().position(|&other| other == self).unwrap_or(0)
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The topology that the routers of a fabric are built for.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    strum::IntoStaticStr,
    Serialize,
    Deserialize,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum FabricTopology {
    /// A line of chips.
    Line,
    /// A line whose last chip is linked to the first.
    Ring,
    /// Rows and columns.
    Mesh,
    /// A mesh whose rows, columns or both are closed to rings.
    Torus,
}

impl FabricTopology {
    /// All topologies.
    pub const ALL: [Self; 4] = [Self::Line, Self::Ring, Self::Mesh, Self::Torus];

    /// Returns its spelling on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the topology of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|topology| topology.name() == name)
    }

    /// Whether it has rows and columns.
    pub fn is_2d(self) -> bool {
        matches!(self, Self::Mesh | Self::Torus)
    }
}

impl fmt::Display for FabricTopology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A chip by its mesh and device number in a fabric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FabricNode {
    /// Mesh number.
    pub mesh: u16,
    /// Device number in the mesh, row by row.
    pub device: u16,
}

impl fmt::Display for FabricNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "M{}D{}", self.mesh, self.device)
    }
}

impl FromStr for FabricNode {
    type Err = String;

    /// Parses a node such as `M0D3`.
    fn from_str(words: &str) -> Result<Self, String> {
        let parts = words.strip_prefix(['M', 'm']).and_then(|rest| rest.split_once(['D', 'd']));
        let numbers = parts.map(|(mesh, device)| (mesh.parse(), device.parse()));
        match numbers {
            Some((Ok(mesh), Ok(device))) => Ok(Self { mesh, device }),
            _ => Err(format!("'{words}' is not a node such as M0D3")),
        }
    }
}

/// The entry of a routing table for a device or a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The next hop.
    To(Direction),
    /// The entry is for this chip or this mesh.
    Here,
    /// No such device or mesh exists.
    Absent,
}

/// The routing tables of a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutingTables {
    /// The chip.
    pub node: FabricNode,
    /// L0, by device of its mesh.
    pub intra_mesh: Vec<Entry>,
    /// L1, by mesh: the next hop towards its exit node.
    pub inter_mesh: Vec<Entry>,
    /// By mesh: the device of this mesh through which that mesh is reached.
    pub exit_nodes: Vec<Option<u16>>,
}

/// The core that runs a mux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MuxCore {
    /// BRISC of a compute tile.
    Tensix,
    /// ERISC of an Ethernet tile without a link, running the built-in application firmware.
    Ethernet,
}
