//! Layouts of chips and meshes: data files first, a thin typed reader second.
//!
//! The data is in `layouts/data`: a folder of TOML files for each [`ChipKind`] (tiles, registers,
//! L1 words, BARs, the allow-list of ranges), the refusals of each target (`targets`), and the
//! specifications of shipped meshes (`systems`). `layouts/doc/wormhole.md` has the source of each
//! number.
//!
//! - [`ChipKind::layout`] returns the [`ChipLayout`]: tiles by coordinates and Ethernet channel,
//!   register [`Group`]s, windows. It is read once and borrowed.
//! - [`NocAddr`] is a host-readable address: chip, NOC 0 coordinates, offset. [`CoreAddr`] is an
//!   address as one core sees it. [`ChipLayout::core_to_noc`] converts; "private to the core" is a
//!   possible answer.
//! - [`Ranges`] is the allow-list: whether an address may be read, and the permission that a write
//!   needs.
//! - [`SystemSpec`] describes boards and cables. It and UMD's files yield a [`ClusterDescriptor`],
//!   which has chips, links and [`Routes`].
//!
//! ```
//! use layouts::{ChipKind, ClusterDescriptor, NocXy};
//!
//! let chip = ChipKind::Wormhole.layout();
//! assert_eq!(chip.eth_channel(8), Some(NocXy { x: 9, y: 6 }));
//!
//! let n300 = ClusterDescriptor::shipped("n300").expect("it is shipped")?;
//! assert_eq!((n300.chips.len(), n300.links.len()), (2, 2));
//! # Ok::<(), layouts::DescriptorError>(())
//! ```
//!
//! # Invariants
//!
//! Only this crate converts between address spaces. Facts that the compiler knows are not here, but
//! in DWARF. This crate does no I/O and does not use DWARF.
#![forbid(unsafe_code)]

mod address;
mod bar;
mod chip;
mod cluster;
mod coordinates;
mod debug_bus;
mod entry;
mod lookup;
mod map;
mod ranges;
mod registers;
mod risc_debug;
mod seat;
mod soc_descriptor;
mod system;
mod targets;
mod tensix_isa;
mod tiles;
mod tree;

pub use address::{ChipCoord, ChipId, CoreAddr, CoreId, CoreKind, EthId, NocAddr, NocXy, TileKind};
pub use bar::{Arc, ArcBlock, Bar, Board, Ordering, WindowClass, WindowSpec, short_board_id};
pub use chip::{
    Blocks, ChipKind, ChipLayout, EthValues, Ethernet, Located, NoChannel, Routing, Tensix,
    TensixCore,
};
pub use cluster::{
    ClusterDescriptor, DescribedBoard, DescribedChip, DescriptorError, DescriptorProblem,
    MOST_CHIPS, OutwardLink, Routes,
};
pub use debug_bus::{DebugBus, ShownPc};
pub use entry::{AnyGroup, Entry, Group, Named, ReadAccess, WritePermission};
pub use map::ReadMode;
pub use ranges::{Range, Ranges, Reason, Space};
pub use registers::{
    ArcReset, Debug, EthCtrl, EthL1, Niu, NiuCommand, NiuCounters, Queue, QueueEntry, Queues,
    Registers, Rxq, Stream, TensixL1, Txq,
};
pub use risc_debug::{RiscDebug, WatchModes};
pub use seat::{Seat, Stand};
pub use system::{PLAIN_CABLING, SystemSpec};
pub use targets::{Refusal, silicon_refusals, ttsim_refusals};
pub use tensix_isa::TensixIsa;
pub use tiles::{Tile, Tiles};
pub use tree::{Node, Spanned, TextError};
