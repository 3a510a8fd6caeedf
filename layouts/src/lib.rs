//! Where things are on a Wormhole: data files first, a thin typed reader second.
//!
//! This room knows coordinates, registers, L1 words and meshes. It has never heard of DWARF or I/O on devices.
#![forbid(unsafe_code)]

mod address;

pub use address::{ChipCoord, ChipId, CoreAddr, CoreId, CoreKind, EthId, NocAddr, NocXy, TileKind};
