//! Nouns of a fabric, by tt-metal's names: directions, topologies, nodes, routing tables, what a mux runs on.

use std::fmt;

/// Where a router's link leads. East: to the next column; south: to the next row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// To the next column.
    East,
    /// To the column before.
    West,
    /// To the row before.
    North,
    /// To the next row.
    South,
}

impl Direction {
    /// All four, in the order of `eth_chan_directions`.
    pub const ALL: [Self; 4] = [Self::East, Self::West, Self::North, Self::South];

    /// Its enumerator in `eth_chan_directions`.
    pub fn name(self) -> &'static str {
        match self {
            Self::East => "EAST",
            Self::West => "WEST",
            Self::North => "NORTH",
            Self::South => "SOUTH",
        }
    }

    /// The way back.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::East => Self::West,
            Self::West => Self::East,
            Self::North => Self::South,
            Self::South => Self::North,
        }
    }

    /// Along a row of the mesh.
    pub fn is_along_row(self) -> bool {
        matches!(self, Self::East | Self::West)
    }

    /// Its place in [`Direction::ALL`].
    pub fn index(self) -> usize {
        Self::ALL.iter().position(|&other| other == self).unwrap_or(0)
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the routers of a fabric are built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FabricTopology {
    /// Chips one after the other.
    Line,
    /// The same, and the last one is joined to the first.
    Ring,
    /// Rows and columns.
    Mesh,
    /// The same, and rows, columns or both are closed.
    Torus,
}

impl FabricTopology {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Line, Self::Ring, Self::Mesh, Self::Torus];

    /// As the command line spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Ring => "ring",
            Self::Mesh => "mesh",
            Self::Torus => "torus",
        }
    }

    /// The topology of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|topology| topology.name() == name)
    }

    /// Rows and columns, not just one after the other.
    pub fn is_2d(self) -> bool {
        matches!(self, Self::Mesh | Self::Torus)
    }

    /// Its routers have a second virtual channel.
    pub fn has_dateline(self) -> bool {
        matches!(self, Self::Ring | Self::Torus)
    }
}

impl fmt::Display for FabricTopology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A chip by its place in a fabric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FabricNode {
    /// Its mesh.
    pub mesh: u16,
    /// Its device there: row after row.
    pub device: u16,
}

impl fmt::Display for FabricNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "M{}D{}", self.mesh, self.device)
    }
}

/// What a table says of a device or of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The next hop.
    To(Direction),
    /// It is this chip, or this mesh.
    Here,
    /// There is no such device or mesh.
    Absent,
}

/// The tables of a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutingTables {
    /// Whose they are.
    pub node: FabricNode,
    /// L0, by device of its mesh.
    pub intra_mesh: Vec<Entry>,
    /// L1, by mesh: the next hop towards its exit node.
    pub inter_mesh: Vec<Entry>,
    /// By mesh the device of this one by which it is reached.
    pub exit_nodes: Vec<Option<u16>>,
}

/// What a mux runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MuxCore {
    /// BRISC of a compute tile.
    Tensix,
    /// An Ethernet tile without a link, taken over by our application firmware.
    Ethernet,
}
