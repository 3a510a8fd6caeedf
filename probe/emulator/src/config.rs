//! The configuration of a mesh: chips, tiles, links, timing, and what flash and ARC load at power
//! on.

use crate::timing::{LINK_LATENCY_CYCLES, LINK_RATE_BYTES, LINK_RATE_CYCLES, Timing};

/// Columns of the NoC grid (wormhole.md 3).
pub const GRID_WIDTH: u8 = 10;
/// Rows of the NoC grid (wormhole.md 3).
pub const GRID_HEIGHT: u8 = 12;

/// A mesh: everything that determines its behaviour, except the host's accesses.
#[derive(Clone, Debug)]
pub struct MeshConfig {
    /// Selects the offsets of the chips' visible wall clocks.
    pub seed: u64,
    /// The chips. Those with PCIe become devices 0, 1, ... in this order.
    pub chips: Vec<ChipConfig>,
    /// The links between the chips.
    pub links: Vec<LinkConfig>,
    /// Durations in the machine outside its harts.
    pub timing: Timing,
    /// Lets harts that only poll sleep. Off in tests that show that sleep is invisible.
    pub sleep: bool,
    /// Host threads that run the chips; with 0 or 1 the caller's own. The number has no effect on
    /// results.
    pub threads: usize,
}

impl Default for MeshConfig {
    fn default() -> Self {
        Self {
            seed: 0,
            chips: Vec::new(),
            links: Vec::new(),
            timing: Timing::default(),
            sleep: true,
            threads: 1,
        }
    }
}

/// One chip.
#[derive(Clone, Debug, Default)]
pub struct ChipConfig {
    /// Whether the chip has its own PCIe endpoint.
    pub pcie: bool,
    /// Rack, shelf, x and y, for callers that name chips by position; the emulator does not use it.
    pub place: Option<[u8; 4]>,
    /// All tiles of the chip. A grid place without a tile is only a router.
    pub tiles: Vec<TileConfig>,
    /// NIU coordinate translation is on (NIU_CFG_0 bit 14), with tables that move harvested rows to
    /// the end.
    pub translation: bool,
    /// Telemetry tags and values, in the order of the table.
    pub telemetry: Vec<(u16, u32)>,
    /// Memory contents and running harts when time begins.
    pub power_on: Vec<PowerOn>,
}

/// One tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileConfig {
    /// Column on NOC 0, below 10.
    pub x: u8,
    /// Row on NOC 0, below 12.
    pub y: u8,
    /// The kind of tile.
    pub kind: TileKind,
    /// Fused off: the tile's clock is stopped and only its NIUs answer.
    pub harvested: bool,
}

/// The kind of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TileKind {
    /// Compute tile: BRISC, TRISC0-2, NCRISC and 1464 KiB of L1.
    Tensix,
    /// Ethernet tile: one ERISC and 256 KiB of L1.
    Eth {
        /// Ethernet channel, 0 to 15.
        channel: u8,
    },
    /// A port of a 2 GiB DRAM channel.
    Dram {
        /// DRAM channel, 0 to 5.
        channel: u8,
        /// Port, 0 to 2.
        port: u8,
    },
    /// The management processor.
    Arc,
    /// The PCIe endpoint.
    Pcie,
    /// A router only.
    Router,
}

/// An image loaded before time begins, as flash and ARC load it on silicon.
#[derive(Clone, Debug)]
pub struct PowerOn {
    /// Column of the tile on NOC 0.
    pub x: u8,
    /// Row of the tile on NOC 0.
    pub y: u8,
    /// The image.
    pub image: LoadImage,
    /// Release the tile's first hart (BRISC, ERISC) from reset.
    pub start: bool,
}

/// Bytes to load.
#[derive(Clone, Debug)]
pub enum LoadImage {
    /// Bytes at a tile-local address.
    Load {
        /// Tile-local address of the first byte (L1, or DRAM).
        addr: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// The loadable segments of an ELF32 file, each at its physical address (as the tile sees it
    /// over the NoC).
    Elf(Vec<u8>),
}

/// A link between two Ethernet tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// One end: chip index and Ethernet channel.
    pub a: (usize, u8),
    /// The other end.
    pub b: (usize, u8),
    /// Whether the link carries packets.
    pub up: bool,
    /// Latency in one direction, without serialisation, in cycles; at least 1.
    pub latency_cycles: u64,
    /// Rate per direction: a number of bytes in a number of cycles.
    pub bytes_per_cycle: (u64, u64),
}

impl LinkConfig {
    /// Creates a link with the published latency and rate.
    pub fn new(a: (usize, u8), b: (usize, u8)) -> Self {
        let bytes_per_cycle = (LINK_RATE_BYTES, LINK_RATE_CYCLES);
        Self { a, b, up: true, latency_cycles: LINK_LATENCY_CYCLES, bytes_per_cycle }
    }
}

/// A mesh that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// A tile outside the 10 x 12 grid.
    TileOutsideGrid {
        /// Chip index.
        chip: usize,
        /// Column.
        x: u8,
        /// Row.
        y: u8,
    },
    /// Two tiles on one grid place, or two Ethernet tiles with one channel.
    TileTwice {
        /// Chip index.
        chip: usize,
        /// Column of the second.
        x: u8,
        /// Row of the second.
        y: u8,
    },
    /// A channel or port number that Wormhole does not have.
    NoSuchChannel {
        /// Chip index.
        chip: usize,
        /// Column.
        x: u8,
        /// Row.
        y: u8,
    },
    /// A link end without an Ethernet tile.
    LinkEnd {
        /// Chip index.
        chip: usize,
        /// Ethernet channel.
        channel: u8,
    },
    /// An Ethernet tile with two links, or linked to itself.
    LinkTwice {
        /// Chip index.
        chip: usize,
        /// Ethernet channel.
        channel: u8,
    },
    /// A link without latency or rate.
    LinkTiming {
        /// Index of the link in the list.
        link: usize,
    },
    /// A power-on image that does not fit the tile, or for a tile that has no memory or no hart.
    PowerOn {
        /// Chip index.
        chip: usize,
        /// Column.
        x: u8,
        /// Row.
        y: u8,
        /// What is wrong with the image.
        reason: PowerOnError,
    },
}

/// What is wrong with a power-on image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PowerOnError {
    /// Its tile is outside the grid.
    OutsideGrid,
    /// It is no ELF32 file.
    Elf(object::read::Error),
    /// A segment lies outside the file.
    SegmentOutside,
    /// A segment of this many bytes.
    SegmentBytes(usize),
    /// The tile refuses the bytes.
    Refused {
        /// Number of bytes.
        bytes: usize,
        /// Where they go.
        addr: u64,
        /// The name of the condition.
        condition: &'static str,
    },
    /// The tile has no hart to start.
    NoHart,
}

impl std::fmt::Display for PowerOnError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OutsideGrid => f.write_str("outside the grid"),
            Self::Elf(error) => write!(f, "{error}"),
            Self::SegmentOutside => f.write_str("a segment lies outside the file"),
            Self::SegmentBytes(bytes) => write!(f, "a segment of {bytes} bytes"),
            Self::Refused { bytes, addr, condition } => {
                write!(f, "{bytes} bytes at {addr:#x}: {condition}")
            }
            Self::NoHart => f.write_str("no hart to start"),
        }
    }
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TileOutsideGrid { chip, x, y } => {
                write!(f, "chip {chip} has a tile at {x}-{y}, outside the 10 x 12 grid")
            }
            Self::TileTwice { chip, x, y } => {
                write!(f, "chip {chip} names tile {x}-{y} or its channel twice")
            }
            Self::NoSuchChannel { chip, x, y } => {
                write!(f, "chip {chip} gives tile {x}-{y} a channel or port that Wormhole lacks")
            }
            Self::LinkEnd { chip, channel } => {
                write!(f, "a link ends at chip {chip} e{channel}, where there is no Ethernet tile")
            }
            Self::LinkTwice { chip, channel } => {
                write!(f, "chip {chip} e{channel} has two links or a link to itself")
            }
            Self::LinkTiming { link } => write!(f, "link {link} has no latency or no rate"),
            Self::PowerOn { chip, x, y, reason } => {
                write!(f, "power-on of chip {chip} tile {x}-{y}: {reason}")
            }
        }
    }
}

impl std::error::Error for ConfigError {}
