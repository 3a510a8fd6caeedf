//! What to build: chips, tiles, links, times, and what flash and ARC would have loaded at power on.

use crate::timing::{LINK_LATENCY_CYCLES, LINK_RATE_BYTES, LINK_RATE_CYCLES, Timing};

/// Columns of the NoC grid (wormhole.md 3).
pub const GRID_WIDTH: u8 = 10;
/// Rows of the NoC grid (wormhole.md 3).
pub const GRID_HEIGHT: u8 = 12;

/// A mesh: everything that decides what happens, apart from what the host does.
#[derive(Clone, Debug)]
pub struct MeshConfig {
    /// Chooses the offsets of the chips' visible wall clocks.
    pub seed: u64,
    /// The chips. Those with PCIe become devices 0, 1, ... in this order.
    pub chips: Vec<ChipConfig>,
    /// The links between them.
    pub links: Vec<LinkConfig>,
    /// How long things take.
    pub timing: Timing,
    /// Let harts that only poll sleep. Off for tests that prove it invisible.
    pub sleep: bool,
    /// Host threads that chips are spread over; 0 and 1 mean the caller's own. No byte depends on it.
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
    /// Has a PCIe endpoint of its own.
    pub pcie: bool,
    /// Rack, shelf, x and y, for whoever names chips by where they stand; nothing here depends on it.
    pub place: Option<[u8; 4]>,
    /// All its tiles. A grid place that is not named behaves as a router only.
    pub tiles: Vec<TileConfig>,
    /// NIU coordinate translation is on (NIU_CFG_0 bit 14), with tables that move harvested rows to the end.
    pub translation: bool,
    /// Telemetry tags and values, in the order of the table.
    pub telemetry: Vec<(u16, u32)>,
    /// What is in memory, and which harts run, when time begins.
    pub power_on: Vec<PowerOn>,
}

/// One tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileConfig {
    /// Column on NOC 0, below 10.
    pub x: u8,
    /// Row on NOC 0, below 12.
    pub y: u8,
    /// What it is.
    pub kind: TileKind,
    /// Fused off: its clock is stopped and only its NIUs answer.
    pub harvested: bool,
}

/// What a tile is.
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
    /// Nothing but a router.
    Router,
}

/// Something loaded before time begins, as flash and ARC do on silicon.
#[derive(Clone, Debug)]
pub struct PowerOn {
    /// Column of the tile on NOC 0.
    pub x: u8,
    /// Row of the tile on NOC 0.
    pub y: u8,
    /// What is loaded.
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
    /// The loadable segments of an ELF32 file, each at its physical address (as the tile sees it over the NoC).
    Elf(Vec<u8>),
}

/// A link between two Ethernet tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// One end: chip index and Ethernet channel.
    pub a: (usize, u8),
    /// The other end.
    pub b: (usize, u8),
    /// Carries packets.
    pub up: bool,
    /// One way, without serialisation, in cycles; at least 1.
    pub latency_cycles: u64,
    /// Rate per direction: bytes in a number of cycles.
    pub bytes_per_cycle: (u64, u64),
}

impl LinkConfig {
    /// A link with the published latency and rate.
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
    /// An Ethernet tile with two links, or a link to itself.
    LinkTwice {
        /// Chip index.
        chip: usize,
        /// Ethernet channel.
        channel: u8,
    },
    /// A link without latency or rate.
    LinkTiming {
        /// Number of the link in the list.
        link: usize,
    },
    /// Power-on bytes that do not fit the tile, or a tile that has no memory or no hart.
    PowerOn {
        /// Chip index.
        chip: usize,
        /// Column.
        x: u8,
        /// Row.
        y: u8,
        /// What was wrong with it.
        reason: String,
    },
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
