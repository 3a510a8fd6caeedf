//! Identifiers of chips, tiles and cores, and the address spaces that they see.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A chip of the mesh: PCIe chips in device order from 0, then remote chips by (rack, shelf, y, x).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
#[schemars(inline)]
pub struct ChipId(pub u16);

/// The position of a chip in the installation, as its base firmware publishes it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(into = "[u8; 4]", from = "[u8; 4]")]
#[schemars(with = "[u8; 4]", inline)]
pub struct ChipCoord {
    /// Column of the chip in its shelf.
    pub x: u8,
    /// Row of the chip in its shelf.
    pub y: u8,
    /// Rack number.
    pub rack: u8,
    /// Shelf number.
    pub shelf: u8,
}

/// In JSON: x, y, rack, shelf.
impl From<ChipCoord> for [u8; 4] {
    fn from(ChipCoord { x, y, rack, shelf }: ChipCoord) -> Self {
        [x, y, rack, shelf]
    }
}

impl From<[u8; 4]> for ChipCoord {
    fn from([x, y, rack, shelf]: [u8; 4]) -> Self {
        Self { x, y, rack, shelf }
    }
}

/// The NOC 0 coordinates of a tile.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(into = "[u8; 2]", from = "[u8; 2]")]
#[schemars(with = "[u8; 2]", inline)]
pub struct NocXy {
    /// Column, 0 to 9.
    pub x: u8,
    /// Row, 0 to 11.
    pub y: u8,
}

/// In JSON: x, y.
impl From<NocXy> for [u8; 2] {
    fn from(NocXy { x, y }: NocXy) -> Self {
        [x, y]
    }
}

impl From<[u8; 2]> for NocXy {
    fn from([x, y]: [u8; 2]) -> Self {
        Self { x, y }
    }
}

/// The kind of a tile (one NoC endpoint).
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TileKind {
    /// Compute tile: five baby RISC-V cores and 1464 KiB of L1.
    Tensix,
    /// Ethernet tile: one ERISC and 256 KiB of L1.
    Eth,
    /// One of three ports of a 2 GiB DRAM channel.
    Dram,
    /// The management processor.
    Arc,
    /// The PCIe endpoint.
    Pcie,
    /// Only a router.
    Router,
}

/// A baby RISC-V core of a tile.
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[schemars(with = "String", inline)]
pub enum CoreKind {
    /// Data movement 0 of a Tensix tile.
    Brisc,
    /// Data movement 1 of a Tensix tile.
    Ncrisc,
    /// Unpack.
    Trisc0,
    /// Math.
    Trisc1,
    /// Pack.
    Trisc2,
    /// The core of an Ethernet tile.
    Erisc,
}

/// A core of the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct CoreId {
    /// The chip's id.
    pub chip: ChipId,
    /// NOC 0 coordinates of its tile: x, y.
    pub tile: NocXy,
    /// erisc, brisc, ncrisc, trisc0, trisc1 or trisc2.
    pub core: CoreKind,
}

/// One end of a link: an Ethernet channel of a chip.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct EthId {
    /// The chip's id.
    pub chip: ChipId,
    /// The Ethernet channel, 0 to 15.
    pub channel: u8,
}

/// A host-readable address: a chip, a tile on NOC 0 and a 36-bit tile-local offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct NocAddr {
    /// The chip's id.
    pub chip: ChipId,
    /// NOC 0 coordinates of the tile: x, y.
    pub tile: NocXy,
    /// The address of the first byte in the tile, below 2^36.
    #[serde(rename = "addr")]
    pub offset: u64,
}

/// A 32-bit address as one core sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CoreAddr(pub u32);

impl fmt::Display for ChipId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Display for NocXy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.x, self.y)
    }
}

impl fmt::Display for NocAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{:#x}", self.chip, self.tile, self.offset)
    }
}

impl fmt::Display for EthId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:e{}", self.chip, self.channel)
    }
}

impl CoreKind {
    /// Returns tt-metal's name of the core, in lower case.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl TileKind {
    /// Returns the cores of a tile of this kind, in mailbox order.
    pub fn cores(self) -> &'static [CoreKind] {
        use CoreKind::{Brisc, Erisc, Ncrisc, Trisc0, Trisc1, Trisc2};
        match self {
            Self::Tensix => &[Brisc, Ncrisc, Trisc0, Trisc1, Trisc2],
            Self::Eth => &[Erisc],
            Self::Dram | Self::Arc | Self::Pcie | Self::Router => &[],
        }
    }
}

impl fmt::Display for CoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.chip, self.tile, self.core.name())
    }
}
