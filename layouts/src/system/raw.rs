//! The YAML of a system specification: the terms of the TT-Fabric specification (8.1), and
//! additional facts of a cluster descriptor: channel numbers, board ids, positions, fused-off rows.

use crate::tree::Spanned;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSystem {
    #[serde(rename = "ChipSpec")]
    pub(super) chip_specs: BTreeMap<String, RawChip>,
    #[serde(rename = "Board")]
    pub(super) boards: BTreeMap<String, Spanned<RawBoard>>,
    #[serde(rename = "Host")]
    pub(super) hosts: Vec<String>,
    #[serde(rename = "Mesh")]
    pub(super) meshes: Vec<Spanned<RawMesh>>,
    #[serde(rename = "Graph", default)]
    pub(super) graph: Vec<Spanned<[RawPort; 2]>>,
    #[serde(default)]
    pub(super) edges: Vec<Spanned<RawEdges>>,
    /// Masks of fused-off compute rows by chip number.
    #[serde(default)]
    pub(super) harvesting: BTreeMap<u32, Spanned<u32>>,
}

/// The channels of each side of a chip, in the order in which they meet those of its neighbour.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "UPPERCASE")]
pub(super) struct RawChip {
    pub(super) n: Vec<u8>,
    pub(super) e: Vec<u8>,
    pub(super) s: Vec<u8>,
    pub(super) w: Vec<u8>,
}

/// A kind of board: its chips row by row.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBoard {
    /// Its type as UMD spells it.
    pub(super) r#type: String,
    /// Names of chip specifications.
    pub(super) chips: Vec<Vec<String>>,
    /// The ASIC location of each chip; all 0 if missing, or counted along the rows.
    pub(super) locations: Option<Vec<Vec<u8>>>,
    /// Locations of the chips with PCIe.
    #[serde(default)]
    pub(super) pcie: Vec<u8>,
}

/// A grid of boards.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMesh {
    /// Kinds of boards row by row, repeated over `topology`.
    pub(super) boards: Vec<Vec<String>>,
    /// Rows and columns of boards; those of `boards` if missing.
    pub(super) topology: Option<[usize; 2]>,
    /// The number of each board; counted along the rows if missing.
    pub(super) numbers: Option<Vec<Vec<u32>>>,
    /// `EW`: boards of odd columns have east and west exchanged. `NS`: boards of odd rows have
    /// north and south exchanged.
    #[serde(default)]
    pub(super) mirrored: Vec<RawAxis>,
    /// The first host of the mesh, by its number.
    #[serde(default)]
    pub(super) host: usize,
    /// Rows and columns of equal blocks of boards, each of one host.
    pub(super) host_topology: Option<[usize; 2]>,
    pub(super) first_board_id: u64,
    #[serde(default = "one")]
    pub(super) board_id_step: u64,
    /// x, y, rack and shelf of the first chip.
    #[serde(default)]
    pub(super) place: [u8; 4],
    /// Additional cablings by name: the axes whose ends are joined.
    #[serde(default)]
    pub(super) cabling: BTreeMap<String, Vec<RawAxis>>,
}

fn one() -> u64 {
    1
}

/// An axis of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum RawAxis {
    Ew,
    Ns,
}

/// A port at the edge of a mesh: its number, and a side with the number of a channel counted along
/// the edge, such as `E4`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct RawPort(pub(super) usize, pub(super) String);

/// Two whole edges whose chips are joined, each by this number of links.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEdges {
    pub(super) join: [RawPort; 2],
    pub(super) links: usize,
}
