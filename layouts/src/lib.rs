//! Where things are on a Wormhole: data files first, a thin typed reader second.
//!
//! This room knows coordinates, registers, L1 words and meshes. It has never heard of DWARF or I/O on devices.
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
