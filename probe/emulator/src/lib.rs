//! The emulated Wormhole mesh as the bus sees it.
#![forbid(unsafe_code)]

mod arc;
mod assembly;
mod atomic;
mod bar;
mod blocks;
mod chip;
mod condition;
mod config;
mod debug;
mod dram;
mod elf;
mod eth;
mod event;
mod grid;
pub mod hart;
mod journal;
mod link;
pub mod memory;
mod mesh;
mod mover;
mod niu;
mod passive;
mod preset;
mod request;
mod stream;
mod tensix;
mod tile;
pub mod timing;
mod tlb;
mod traffic;
mod txq;

pub use condition::{Actor, Condition};
pub use config::{
    ChipConfig, ConfigError, GRID_HEIGHT, GRID_WIDTH, Image, LinkConfig, MeshConfig, PowerOn,
    TileConfig, TileKind,
};
pub use journal::{Deed, Entry, Journal};
pub use mesh::Mesh;
pub use timing::Timing;
