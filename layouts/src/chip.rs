//! A kind of chip and its layout, read from the embedded data files.

use crate::address::{CoreAddr, CoreId, CoreKind, NocAddr, NocXy, TileKind};
use crate::bar::{Arc, Bar};
use crate::debug_bus::DebugBus;
use crate::entry::{AnyGroup, Entry, Group, ReadAccess};
use crate::map::{Maps, ReadMode};
use crate::ranges::{Range, Ranges, Reason, Space};
use crate::registers::{EthL1, Queue, QueueEntry, Queues, Registers, TensixL1};
use crate::risc_debug::RiscDebug;
use crate::tensix_isa::TensixIsa;
use crate::tiles::{Tile, Tiles};
use crate::tree::Node;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

/// A kind of chip. Code asks its layout for addresses and assumes no kind.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum ChipKind {
    /// Wormhole B0.
    #[default]
    Wormhole,
}

impl ChipKind {
    /// Every kind that has a layout.
    pub const ALL: [Self; 1] = [Self::Wormhole];

    /// Returns its name, which is the beginning of a cluster descriptor's `arch`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wormhole => "wormhole",
        }
    }

    /// Returns the kind that an `arch` of a cluster descriptor names, such as `wormhole_b0`.
    pub fn of_arch(arch: &str) -> Option<Self> {
        let arch = arch.to_ascii_lowercase();
        Self::ALL.into_iter().find(|kind| arch.starts_with(kind.name()))
    }

    /// Returns the kind of a PCI device with this config word 0: device and vendor.
    pub fn of_config_id(id: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.bar().config_id() == id)
    }

    /// What a PCI device with this config word 0 is that is of none of these kinds, such as `a Blackhole, not a Wormhole`.
    pub fn unknown_device(id: u32) -> String {
        let name = Self::ALL.iter().find_map(|kind| kind.bar().other_device(id));
        let name = name.map_or_else(|| format!("PCI id {id:#010x}"), |name| format!("a {name}"));
        let kinds = Self::ALL.map(|kind| format!("a {kind}"));
        format!("{name}, not {}", kinds.join(" or "))
    }

    /// Its layout, from the shipped data files.
    ///
    /// # Panics
    /// If a shipped file is wrong, which a test of this crate excludes.
    #[expect(
        clippy::panic,
        reason = "the files are part of the program; `cargo test -p layouts` loads each of them"
    )]
    pub fn layout(self) -> &'static ChipLayout {
        static WORMHOLE: OnceLock<ChipLayout> = OnceLock::new();
        match self {
            Self::Wormhole => WORMHOLE.get_or_init(|| match ChipLayout::parse() {
                Ok(layout) => layout,
                Err(error) => panic!("embedded layouts: {error}"),
            }),
        }
    }

    /// Its PCIe function: of the layout, what a process that only serves a BAR needs.
    ///
    /// # Panics
    /// As [`ChipKind::layout`].
    #[expect(clippy::panic, reason = "as `layout`")]
    pub fn bar(self) -> &'static Bar {
        match self {
            Self::Wormhole => match wormhole_bar() {
                Ok(bar) => bar,
                Err(error) => panic!("embedded layouts: {error}"),
            },
        }
    }
}

impl fmt::Display for ChipKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wormhole => f.write_str("Wormhole"),
        }
    }
}

/// Every address that the silicon, or firmware without debug information, determines.
#[derive(Clone, Debug)]
pub struct ChipLayout {
    /// Tiles and coordinates.
    pub tiles: Tiles,
    /// PCIe function and windows.
    pub bar: &'static Bar,
    /// Registers by group.
    pub registers: Registers,
    /// Ethernet tile: L1, queues, launch words.
    pub eth: Ethernet,
    /// Compute tile: L1, cores.
    pub tensix: Tensix,
    /// The debug bus of a tile with cores.
    pub debug_bus: DebugBus,
    /// The RISC debug interface of a tile with cores.
    pub risc_debug: RiscDebug,
    /// The instructions of the Tensix coprocessor.
    pub tensix_isa: TensixIsa,
    /// Management processor.
    pub arc: Arc,
    /// The allow-list of ranges.
    pub ranges: Ranges,
    /// Blocks of registers that code uses by name.
    pub blocks: Blocks,
    grid: Vec<Tile>,
    /// The allow-list, prepared for lookup.
    pub(crate) maps: Maps,
}

/// An Ethernet channel that the chip does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoChannel {
    /// The channel.
    pub channel: u8,
    /// Number of channels of the chip.
    pub channels: u8,
}

impl fmt::Display for NoChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { channel, channels } = self;
        write!(f, "there is no Ethernet channel {channel}: a chip has {channels}, from 0")
    }
}

impl std::error::Error for NoChannel {}

/// First bytes of the blocks of registers that code uses, found in `ranges.toml` by name.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// `debug` of a Tensix tile: SOFT_RESET_0 and the RISC debug registers.
    pub tensix_debug: u64,
    /// `stream` of a Tensix tile.
    pub tensix_stream: u64,
    /// `debug` of an Ethernet tile.
    pub eth_debug: u64,
    /// `stream` of an Ethernet tile.
    pub eth_stream: u64,
    /// `niu0` of an Ethernet tile.
    pub eth_niu0: u64,
    /// `arc_niu0` of BAR0: the ARC's NIU, accessed without the NoC.
    pub bar_arc_niu0: u64,
}

impl Blocks {
    fn find(ranges: &Ranges) -> Result<Self, String> {
        let of = |space: Space, name: &str| {
            let found = ranges.of(space).iter().find(|range| range.name == name);
            let missing = || format!("ranges.toml: {space:?} has no block `{name}`");
            found.map(|range| range.start).ok_or_else(missing)
        };
        let (tensix, eth) = (Space::Tile(TileKind::Tensix), Space::Tile(TileKind::Eth));
        Ok(Self {
            tensix_debug: of(tensix, "debug")?,
            tensix_stream: of(tensix, "stream")?,
            eth_debug: of(eth, "debug")?,
            eth_stream: of(eth, "stream")?,
            eth_niu0: of(eth, "niu0")?,
            bar_arc_niu0: of(Space::Bar0, "arc_niu0")?,
        })
    }
}

/// `ethernet.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ethernet {
    /// L1 size.
    pub l1_bytes: u64,
    /// Bytes of a link in each direction per cycle of 1 ns.
    pub link_bytes_per_cycle: f64,
    /// Local RAM of the ERISC.
    pub erisc_local_bytes: u64,
    /// Instruction RAM.
    pub iram_bytes: u64,
    /// Words of L1.
    pub l1: Group<EthL1>,
    /// The queue structure.
    pub queues: Group<Queues>,
    /// One queue.
    pub queue: Group<Queue>,
    /// One queue entry.
    pub entry: Group<QueueEntry>,
    /// Numbers of the routing protocol.
    pub routing: Routing,
    /// Values that words take.
    pub values: EthValues,
}

/// Constants of the routing protocol (wormhole.md 6).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Routing {
    /// Address of the structure if the pointer at 0x170 is not set.
    pub fallback_base: u64,
    /// A pointer below this is invalid.
    pub base_low: u64,
    /// A pointer at or above this is invalid.
    pub base_end: u64,
    /// Indices count modulo this.
    pub index_modulus: u32,
    /// Entries of a queue.
    pub slots: u32,
    /// Data buffer of one slot.
    pub block_bytes: u32,
    /// Alignment of block addresses.
    pub block_align: u32,
    /// Flag: write.
    pub write_request: u32,
    /// Flag: write acknowledged.
    pub write_ack: u32,
    /// Flag: read.
    pub read_request: u32,
    /// Flag: the answer to a read.
    pub read_data: u32,
    /// Flag: block.
    pub block: u32,
    /// Error flag: no buffer on the route.
    pub block_unavailable: u32,
    /// Error flag: no route, or the chip is absent.
    pub unreachable: u32,
}

impl Routing {
    /// Returns the address of the structure, given the pointer to it.
    pub fn base_of(&self, pointer: u32) -> u64 {
        let pointer = u64::from(pointer);
        let valid = (self.base_low..self.base_end).contains(&pointer);
        if valid { pointer } else { self.fallback_base }
    }
}

/// Values of the words of an Ethernet tile.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EthValues {
    /// High half of the heartbeat of base firmware.
    pub heartbeat_base: u16,
    /// High half of the heartbeat of idle-ERISC firmware.
    pub heartbeat_idle: u16,
    /// High half of the heartbeat of a router of tt-metal's fabric.
    pub heartbeat_router: u16,
    /// Link status: up.
    pub link_up: u32,
    /// Training status: up.
    pub train_up: u32,
    /// Link errors from here on mean that the port is not connected.
    pub first_unused_port_error: u32,
    /// Bit of SOFT_RESET_0 that holds the ERISC.
    pub reset_bit: u8,
    /// High half of NoC 0 ROUTER_CFG_2 while an application waits for routing.
    pub application_waits: u16,
    /// Index of the ERISC in the mailbox's arrays, for images without debug information.
    pub processor: u64,
}

/// `tensix.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tensix {
    /// L1 size.
    pub l1_bytes: u64,
    /// Local RAM of BRISC.
    pub brisc_local_bytes: u64,
    /// Local RAM of NCRISC.
    pub ncrisc_local_bytes: u64,
    /// Local RAM of each TRISC.
    pub trisc_local_bytes: u64,
    /// Instruction RAM of NCRISC.
    pub ncrisc_iram_bytes: u64,
    /// SOFT_RESET_0 with all cores held.
    pub reset_all: u32,
    /// SOFT_RESET_0 with all cores but BRISC held.
    pub reset_all_but_brisc: u32,
    /// The cores.
    pub cores: TensixCores,
    /// Words of L1.
    pub l1: Group<TensixL1>,
}

/// The five cores of a compute tile.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensixCores {
    /// Data movement 0.
    pub brisc: TensixCore,
    /// Data movement 1.
    pub ncrisc: TensixCore,
    /// Unpack.
    pub trisc0: TensixCore,
    /// Math.
    pub trisc1: TensixCore,
    /// Pack.
    pub trisc2: TensixCore,
}

/// Reset, start and observation of one core.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensixCore {
    /// Index in the mailbox's arrays, for images without debug information.
    pub processor: u64,
    /// Bit of SOFT_RESET_0.
    pub reset_bit: u8,
    /// Program counter after reset.
    pub reset_pc: u32,
    /// L1 address of the initial content of its private RAM.
    pub init: u64,
    /// Core select of the RISC debug interface.
    #[serde(default)]
    pub debug_select: Option<u8>,
}

impl TensixCores {
    /// Returns the data of one core; None for an ERISC, which is in another tile.
    pub fn of(&self, core: CoreKind) -> Option<&TensixCore> {
        Some(match core {
            CoreKind::Brisc => &self.brisc,
            CoreKind::Ncrisc => &self.ncrisc,
            CoreKind::Trisc0 => &self.trisc0,
            CoreKind::Trisc1 => &self.trisc1,
            CoreKind::Trisc2 => &self.trisc2,
            CoreKind::Erisc => return None,
        })
    }
}

/// Registers are reached as fields of the chip: `layout.niu.node_id`.
impl Deref for ChipLayout {
    type Target = Registers;
    fn deref(&self) -> &Registers {
        &self.registers
    }
}

macro_rules! parse {
    ($name:literal) => {
        parse_file($name, include_str!(concat!("../data/wormhole/", $name)))
    };
}

fn wormhole_bar() -> Result<&'static Bar, String> {
    static BAR: OnceLock<Result<Bar, String>> = OnceLock::new();
    BAR.get_or_init(|| parse!("bar.toml")).as_ref().map_err(Clone::clone)
}

fn parse_file<T: DeserializeOwned>(name: &'static str, text: &str) -> Result<T, String> {
    let read = Node::from_toml(text).and_then(|tree| tree.read());
    read.map_err(|error| format!("{name}: {error}"))
}

impl ChipLayout {
    /// Parses the shipped files. That they do not contradict each other, a test of this crate proves;
    /// to check it again would be an eighth of the time.
    fn parse() -> Result<Self, String> {
        let tiles: Tiles = parse!("tiles.toml")?;
        let ranges: Ranges = parse!("ranges.toml")?;
        let grid = tiles.all();
        let mut layout = Self {
            tiles,
            bar: wormhole_bar()?,
            registers: parse!("registers.toml")?,
            eth: parse!("ethernet.toml")?,
            tensix: parse!("tensix.toml")?,
            debug_bus: parse!("debug_bus.toml")?,
            risc_debug: parse!("risc_debug.toml")?,
            tensix_isa: parse!("tensix_isa.toml")?,
            arc: parse!("arc.toml")?,
            blocks: Blocks::find(&ranges)?,
            ranges,
            grid,
            maps: Maps::default(),
        };
        layout.maps = Maps::new(&layout.ranges, |name| layout.group(name));
        Ok(layout)
    }

    /// Returns every tile, by row and then column.
    pub fn grid(&self) -> &[Tile] {
        &self.grid
    }

    /// Returns the tile at a NOC 0 coordinate.
    pub fn tile_at(&self, xy: NocXy) -> Option<&Tile> {
        // Every coordinate of the grid has one tile, by rows, as a test proves.
        let row = usize::from(xy.y) * usize::from(self.tiles.columns);
        let within = xy.x < self.tiles.columns;
        within.then(|| self.grid.get(row + usize::from(xy.x)))?
    }

    /// Returns the tile of an Ethernet channel, if the chip has it.
    pub fn eth_channel(&self, channel: u8) -> Option<NocXy> {
        self.tiles.eth.channels.get(usize::from(channel)).map(|&(x, y)| NocXy { x, y })
    }

    /// Returns the tile of an Ethernet channel.
    ///
    /// # Errors
    /// A channel that the chip does not have.
    pub fn eth_tile(&self, channel: u8) -> Result<NocXy, NoChannel> {
        let none = NoChannel { channel, channels: self.eth_channels() };
        self.eth_channel(channel).ok_or(none)
    }

    /// Returns every Ethernet channel with its tile.
    pub fn eth_tiles(&self) -> impl DoubleEndedIterator<Item = (u8, NocXy)> {
        let tiles = self.tiles.eth.channels.iter().enumerate();
        tiles.map(|(channel, &(x, y))| (channel as u8, NocXy { x, y }))
    }

    /// Returns the kind of the tile at a coordinate, without regard to harvesting; a router outside
    /// of the grid.
    pub fn kind_at(&self, tile: NocXy) -> TileKind {
        self.tile_at(tile).map_or(TileKind::Router, |tile| tile.kind)
    }

    /// Returns the rows of compute tiles that are fused off, from the mask of rows closed to
    /// broadcast; None for an invalid mask.
    pub fn harvested_rows(&self, mask: u32) -> Option<Vec<u8>> {
        let always = &self.tiles.harvesting.router_cfg_always;
        let always = always.iter().fold(0, |mask, row| mask | 1_u32 << row);
        let sound = mask & always == always && mask < 1 << self.tiles.rows;
        sound.then(|| (0..32).filter(|row| (mask & !always) >> row & 1 == 1).collect())
    }

    /// Whether this range is plain memory, where alignment and neighbours do not matter.
    pub fn is_memory(&self, tile: NocXy, offset: u64, len: u64) -> bool {
        self.read_mode(Space::Tile(self.kind_at(tile)), offset, len) == Some(ReadMode::Memory)
    }

    /// Returns the BAR0 offset of the ARC's NIU node id, which reads all ones when the chip has
    /// left the bus (wormhole.md 1.6).
    pub fn arc_node_id(&self) -> u64 {
        self.blocks.bar_arc_niu0 + self.niu.node_id.at
    }

    /// Returns the address of SOFT_RESET_0 of a tile that has cores.
    pub fn soft_reset(&self, kind: TileKind) -> Option<u64> {
        Some(self.debug_block(kind)? + self.debug.soft_reset_0.at)
    }

    /// Returns the addresses of the debug bus of a tile that has cores: control, data.
    pub fn debug_bus_at(&self, kind: TileKind) -> Option<(u64, u64)> {
        let block = self.debug_block(kind)?;
        Some((block + self.debug.bus_control.at, block + self.debug.bus_data.at))
    }

    /// Returns the addresses of the RISC debug interface of a tile that has cores: control words 0
    /// and 1, status words 0 and 1.
    pub fn risc_debug_at(&self, kind: TileKind) -> Option<[u64; 4]> {
        let (block, debug) = (self.debug_block(kind)?, &self.debug);
        let control = [debug.risc_control_0.at, debug.risc_control_1.at];
        let status = [debug.risc_status_0.at, debug.risc_status_1.at];
        Some([control[0], control[1], status[0], status[1]].map(|at| block + at))
    }

    /// Returns the select of a core in the RISC debug interface of its tile, if it is there.
    pub fn risc_debug_select(&self, core: CoreKind) -> Option<u8> {
        match self.tensix.cores.of(core) {
            Some(core) => core.debug_select,
            None => Some(self.risc_debug.select_erisc),
        }
    }

    /// Returns the private RAM of a core: its first address and its size.
    pub fn local_ram(&self, core: CoreKind) -> Option<(u32, u32)> {
        let kind = if core == CoreKind::Erisc { TileKind::Eth } else { TileKind::Tensix };
        let first = self.block(Space::Tile(kind), "local_ram")?;
        let bytes = match core {
            CoreKind::Brisc => self.tensix.brisc_local_bytes,
            CoreKind::Ncrisc => self.tensix.ncrisc_local_bytes,
            CoreKind::Trisc0 | CoreKind::Trisc1 | CoreKind::Trisc2 => self.tensix.trisc_local_bytes,
            CoreKind::Erisc => self.eth.erisc_local_bytes,
        };
        Some((first as u32, bytes as u32))
    }

    /// Returns the first byte of the debug registers of a tile that has cores.
    pub fn debug_block(&self, kind: TileKind) -> Option<u64> {
        match kind {
            TileKind::Tensix => Some(self.blocks.tensix_debug),
            TileKind::Eth => Some(self.blocks.eth_debug),
            _ => None,
        }
    }

    /// Returns the bit of SOFT_RESET_0 that holds a core in reset.
    pub fn reset_bit(&self, core: CoreKind) -> u8 {
        self.tensix.cores.of(core).map_or(self.eth.values.reset_bit, |core| core.reset_bit)
    }

    /// Returns the size of a tile's L1, if it has one.
    pub fn l1_bytes(&self, kind: TileKind) -> Option<u64> {
        match kind {
            TileKind::Tensix => Some(self.tensix.l1_bytes),
            TileKind::Eth => Some(self.eth.l1_bytes),
            _ => None,
        }
    }

    /// Returns the number of Ethernet channels of a chip.
    pub fn eth_channels(&self) -> u8 {
        self.tiles.eth.channels.len() as u8
    }

    /// Returns the ARC tile.
    pub fn arc_tile(&self) -> NocXy {
        let (x, y) = self.tiles.other.arc;
        NocXy { x, y }
    }

    /// Returns the group of this name, as ranges refer to it.
    pub fn group(&self, name: &str) -> Option<&dyn AnyGroup> {
        match name {
            "eth_l1" => Some(&self.eth.l1),
            "tensix_l1" => Some(&self.tensix.l1),
            _ => self.registers.group(name),
        }
    }

    /// Returns the first byte of a named block of a space, such as `niu1` of an Ethernet tile.
    pub fn block(&self, space: Space, name: &str) -> Option<u64> {
        self.ranges.of(space).iter().find(|range| range.name == name).map(|range| range.start)
    }

    /// Converts a core's address to a NoC address.
    ///
    /// # Errors
    /// [`Reason::Private`] for memory that only the core can access, [`Reason::Unmapped`] for an
    /// unknown address.
    pub fn core_to_noc(&self, core: CoreId, addr: CoreAddr) -> Result<NocAddr, Reason> {
        let offset = u64::from(addr.0);
        let kind = if core.core == CoreKind::Erisc { TileKind::Eth } else { TileKind::Tensix };
        match self.ranges.at(Space::Tile(kind), offset) {
            None => Err(Reason::Unmapped { offset }),
            Some(range) if range.private => Err(private(range)),
            Some(_) => Ok(NocAddr { chip: core.chip, tile: core.tile, offset }),
        }
    }
}

pub(crate) fn private(range: &Range) -> Reason {
    Reason::Private { range: range.name.clone(), why: range.why.clone().unwrap_or_default() }
}

pub(crate) fn refusal(name: String, access: ReadAccess, why: Option<&String>) -> Option<Reason> {
    let why = why.cloned().unwrap_or_else(|| "it must not be read".into());
    match access {
        ReadAccess::Read => None,
        ReadAccess::Effect => Some(Reason::SideEffect { name, why }),
        ReadAccess::Never => Some(Reason::Forbidden { name, why }),
    }
}

/// A register or word with the address from a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located<'a> {
    /// Byte offset in the space.
    pub offset: u64,
    /// Its entry.
    pub entry: &'a Entry,
    /// Source of the numbers.
    pub source: &'a str,
}
