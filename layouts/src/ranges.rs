//! The allow-list: the ranges of each kind of tile, and whether a passive client may read them.

use crate::address::TileKind;
use crate::entry::{ReadAccess, WritePermission};
use serde::Deserialize;
use std::fmt;

/// An address space with its own ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// A tile of this kind, as the NoC addresses it.
    Tile(TileKind),
    /// A compute tile that is fused off.
    Harvested,
    /// BAR0 of a PCIe function.
    Bar0,
}

/// `ranges.toml`: ranges per space, sorted by address.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranges {
    tensix: Vec<Range>,
    harvested: Vec<Range>,
    eth: Vec<Range>,
    dram: Vec<Range>,
    arc: Vec<Range>,
    pcie: Vec<Range>,
    router: Vec<Range>,
    bar0: Vec<Range>,
}

/// One range of a space.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Its name in this space.
    pub name: String,
    /// First byte.
    pub start: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// Number of equal blocks in it.
    #[serde(default = "one")]
    pub instances: u32,
    /// Memory: any alignment and length; registers are read as aligned words.
    #[serde(default)]
    pub memory: bool,
    /// Whether only the tile's own cores can access it.
    #[serde(default)]
    pub private: bool,
    /// The group of the registers or words in it.
    #[serde(default)]
    pub group: Option<String>,
    /// Whether it may be read.
    #[serde(default)]
    pub access: ReadAccess,
    /// The permission that a write outside of the group's entries needs.
    #[serde(default)]
    pub write: WritePermission,
    /// Why it may not be read.
    #[serde(default)]
    pub why: Option<String>,
}

fn one() -> u32 {
    1
}

/// Why an address must not be read by a passive client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Nothing is known at the address; an unmapped access may never be answered.
    Unmapped {
        /// The first unknown byte.
        offset: u64,
    },
    /// The address is past the end of the memory below it, where nothing is known.
    Beyond {
        /// The first unknown byte.
        offset: u64,
        /// Name of the memory.
        range: String,
        /// First byte after it.
        end: u64,
    },
    /// The compute tile is fused off.
    FusedOff,
    /// The access runs past the end of the range in which it starts.
    PastEnd {
        /// Name of the range.
        range: String,
        /// First byte after it.
        end: u64,
    },
    /// Registers must be read as whole aligned words.
    Unaligned {
        /// Name of the range.
        range: String,
    },
    /// Only the tile's own cores can access it.
    Private {
        /// Name of the range.
        range: String,
        /// Why.
        why: String,
    },
    /// The access is known to be unsafe.
    Forbidden {
        /// Name of the range or register.
        name: String,
        /// Why.
        why: String,
    },
    /// The range or register must never be written.
    NotWritable {
        /// Name of the range or register.
        name: String,
    },
    /// Reading has a side effect.
    SideEffect {
        /// Name of the register.
        name: String,
        /// The side effect.
        why: String,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unmapped { offset } => write!(f, "nothing is known at {offset:#x}"),
            Self::Beyond { offset, range, end } => {
                write!(f, "nothing is known at {offset:#x}: {range} ends at {end:#x}")
            }
            Self::FusedOff => {
                f.write_str("the tile is fused off: only the registers of its NIUs answer")
            }
            Self::PastEnd { range, end } => write!(f, "runs past the end of {range} at {end:#x}"),
            Self::Unaligned { range } => {
                write!(f, "{range} holds registers, which are aligned 4-byte words")
            }
            Self::Private { range, why } => write!(f, "{range} is private to the core: {why}"),
            Self::Forbidden { name, why } => write!(f, "{name}: {why}"),
            Self::NotWritable { name } => write!(f, "{name} must not be written"),
            Self::SideEffect { name, why } => write!(f, "reading {name} has a side effect: {why}"),
        }
    }
}

impl std::error::Error for Reason {}

impl Range {
    /// Returns the offset after the range.
    pub fn end(&self) -> u64 {
        self.start + self.bytes
    }

    /// Whether it contains this byte.
    pub fn contains(&self, offset: u64) -> bool {
        (self.start..self.end()).contains(&offset)
    }

    /// Returns the bytes of one instance.
    pub fn instance_bytes(&self) -> u64 {
        self.bytes / u64::from(self.instances.max(1))
    }
}

impl Space {
    /// Returns its index in [`Ranges::spaces`].
    pub(crate) fn index(self) -> usize {
        match self {
            Self::Tile(TileKind::Tensix) => 0,
            Self::Harvested => 1,
            Self::Tile(TileKind::Eth) => 2,
            Self::Tile(TileKind::Dram) => 3,
            Self::Tile(TileKind::Arc) => 4,
            Self::Tile(TileKind::Pcie) => 5,
            Self::Tile(TileKind::Router) => 6,
            Self::Bar0 => 7,
        }
    }
}

impl Ranges {
    /// Returns the ranges of a space, sorted by address.
    pub fn of(&self, space: Space) -> &[Range] {
        match space {
            Space::Tile(TileKind::Tensix) => &self.tensix,
            Space::Tile(TileKind::Eth) => &self.eth,
            Space::Tile(TileKind::Dram) => &self.dram,
            Space::Tile(TileKind::Arc) => &self.arc,
            Space::Tile(TileKind::Pcie) => &self.pcie,
            Space::Tile(TileKind::Router) => &self.router,
            Space::Harvested => &self.harvested,
            Space::Bar0 => &self.bar0,
        }
    }

    /// Returns the range that contains a byte.
    pub fn at(&self, space: Space, offset: u64) -> Option<&Range> {
        self.below(space, offset).filter(|range| range.contains(offset))
    }

    /// Returns the last range that starts at or below a byte.
    pub(crate) fn below(&self, space: Space, offset: u64) -> Option<&Range> {
        let ranges = self.of(space);
        let after = ranges.partition_point(|range| range.start <= offset);
        ranges.get(after.checked_sub(1)?)
    }

    /// Returns all spaces.
    pub fn spaces() -> [Space; 8] {
        use TileKind::{Arc, Dram, Eth, Pcie, Router, Tensix};
        let [tensix, eth, dram, arc, pcie, router] =
            [Tensix, Eth, Dram, Arc, Pcie, Router].map(Space::Tile);
        [tensix, Space::Harvested, eth, dram, arc, pcie, router, Space::Bar0]
    }
}
