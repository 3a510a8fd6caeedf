//! Where things are on a chip and in a mesh: data files first, a thin typed reader second.
//!
//! The data lies in `layouts/data`: a folder of TOML files for each [`ChipKind`] (tiles, registers, L1 words, BARs, the
//! allow-list of ranges), what each target must not be asked (`targets`), and the specifications of shipped meshes (`systems`).
//! `layouts/doc/wormhole.md` says where each number comes from.
//!
//! - [`ChipKind::layout`] leads to the [`ChipLayout`]: tiles by coordinates and Ethernet channel, register [`Group`]s, windows.
//!   It is read once, and everything else borrows it.
//! - [`NocAddr`] is what a host can read: chip, NOC 0 coordinates, offset. [`CoreAddr`] is what one core sees.
//!   [`ChipLayout::core_to_noc`] converts; "private to the core" is an answer.
//! - [`Ranges`] is the allow-list: whether an address may be read, and what a person must allow before it is written.
//! - [`SystemSpec`] describes boards and cables; it and UMD's files give a [`ClusterDescriptor`], which has chips, links and
//!   [`Routes`].
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
//! Only this crate converts between address spaces. A fact that the compiler knows is not here: DWARF has it. Nothing here
//! does I/O or knows DWARF.
#![forbid(unsafe_code)]

mod address;
mod bar;
mod chip;
mod cluster;
mod coordinates;
mod entry;
mod lookup;
mod map;
mod ranges;
mod registers;
mod system;
mod targets;
mod tiles;
mod tree;

pub use address::{ChipCoord, ChipId, CoreAddr, CoreId, CoreKind, EthId, NocAddr, NocXy, TileKind};
pub use bar::{Arc, ArcBlock, Bar, Board, Ordering, WindowClass, WindowSpec, short_board_id};
pub use chip::{
    Blocks, ChipKind, ChipLayout, EthValues, Ethernet, LayoutError, Located, NoChannel, Routing,
    Tensix, TensixCore,
};
pub use cluster::{
    ClusterDescriptor, DescribedBoard, DescribedChip, DescriptorError, DescriptorProblem,
    OutwardLink, Routes,
};
pub use coordinates::TranslatedXy;
pub use entry::{Access, AnyGroup, Entry, Group, Named, Writing};
pub use map::Stand;
pub use ranges::{Range, Ranges, Reason, Space};
pub use registers::{
    ArcReset, Debug, EthCtrl, EthL1, Niu, NiuCommand, NiuCounters, Queue, QueueEntry, Queues,
    Registers, Rxq, Stream, TensixL1, Txq,
};
pub use system::{PLAIN_CABLING, SystemSpec};
pub use targets::{Refusal, ttsim_refusals};
pub use tiles::{Tile, Tiles};
pub use tree::{Node, TextError};
