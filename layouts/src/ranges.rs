//! The allow-list: what stands where in each kind of tile, and whether somebody who only looks may read it.

use crate::address::TileKind;
use crate::entry::{Access, Writing};
use serde::Deserialize;
use std::fmt;

/// An address space with ranges of its own.
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
    /// How many equal blocks it holds.
    #[serde(default = "one")]
    pub instances: u32,
    /// Memory: any alignment and length; registers are read as aligned words.
    #[serde(default)]
    pub memory: bool,
    /// Only the tile's own cores see it.
    #[serde(default)]
    pub private: bool,
    /// Registers or words that stand in it.
    #[serde(default)]
    pub group: Option<String>,
    /// May it be read.
    #[serde(default)]
    pub access: Access,
    /// What must be allowed before what no entry of the group holds may be written.
    #[serde(default)]
    pub write: Writing,
    /// Why not.
    #[serde(default)]
    pub why: Option<String>,
}

fn one() -> u32 {
    1
}

/// Why an address must not be read by somebody who only looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Nothing is known to stand there; an unmapped access may never be answered.
    Unmapped {
        /// The first byte that belongs to nothing.
        offset: u64,
    },
    /// It lies past the end of the memory below it, where nothing is known to stand.
    Beyond {
        /// The first byte that belongs to nothing.
        offset: u64,
        /// Name of the memory.
        range: String,
        /// First byte after it.
        end: u64,
    },
    /// The compute tile is fused off.
    FusedOff,
    /// It runs past the end of the range that it starts in.
    PastEnd {
        /// Name of the range.
        range: String,
        /// First byte after it.
        end: u64,
    },
    /// Registers are read as whole aligned words.
    Unaligned {
        /// Name of the range.
        range: String,
    },
    /// Only the tile's own cores see it.
    Private {
        /// Name of the range.
        range: String,
        /// Why.
        why: String,
    },
    /// Known to be unsafe.
    Forbidden {
        /// Name of the range or register.
        name: String,
        /// Why.
        why: String,
    },
    /// Writing there is never safe.
    NotWritable {
        /// Name of the range or register.
        name: String,
    },
    /// Reading would change something.
    SideEffect {
        /// Name of the register.
        name: String,
        /// What.
        why: String,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unmapped { offset } => write!(f, "nothing is known to stand at {offset:#x}"),
            Self::Beyond { offset, range, end } => {
                write!(f, "nothing is known to stand at {offset:#x}: {range} ends at {end:#x}")
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
    /// First byte after the range.
    pub fn end(&self) -> u64 {
        self.start + self.bytes
    }

    /// Does it hold this byte?
    pub fn contains(&self, offset: u64) -> bool {
        (self.start..self.end()).contains(&offset)
    }

    /// Bytes of one instance.
    pub fn instance_bytes(&self) -> u64 {
        self.bytes / u64::from(self.instances.max(1))
    }
}

impl Space {
    /// Its place in [`Ranges::spaces`].
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
    /// The ranges of a space, sorted by address.
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

    /// The range that holds a byte.
    pub fn at(&self, space: Space, offset: u64) -> Option<&Range> {
        self.below(space, offset).filter(|range| range.contains(offset))
    }

    /// The last range that starts at or below a byte.
    pub(crate) fn below(&self, space: Space, offset: u64) -> Option<&Range> {
        let ranges = self.of(space);
        let after = ranges.partition_point(|range| range.start <= offset);
        ranges.get(after.checked_sub(1)?)
    }

    /// All spaces, for those who check or list them.
    pub fn spaces() -> [Space; 8] {
        use TileKind::{Arc, Dram, Eth, Pcie, Router, Tensix};
        let [tensix, eth, dram, arc, pcie, router] =
            [Tensix, Eth, Dram, Arc, Pcie, Router].map(Space::Tile);
        [tensix, Space::Harvested, eth, dram, arc, pcie, router, Space::Bar0]
    }

    /// Overlaps and disorder.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for space in Self::spaces() {
            for pair in self.of(space).windows(2) {
                if let [a, b] = pair
                    && a.end() > b.start
                {
                    problems.push(format!(
                        "ranges.toml: {} and {} overlap in {space:?}",
                        a.name, b.name
                    ));
                }
            }
            let silent = self
                .of(space)
                .iter()
                .filter(|r| (r.private || r.access != Access::Read) && r.why.is_none());
            problems.extend(
                silent.map(|r| format!("ranges.toml: {} of {space:?} does not say why", r.name)),
            );
        }
        problems
    }
}
