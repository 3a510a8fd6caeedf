//! What stands beside memory and harts: the blocks of a tile, and the tiles without cores.

pub(crate) mod arc;
pub(crate) mod blocks;
pub(crate) mod debug;
pub(crate) mod dram;
pub(crate) mod endpoint;
pub(crate) mod eth;
pub(crate) mod mover;
pub(crate) mod passive;
pub(crate) mod pci;
mod risc_debug;
pub(crate) mod stream;
pub(crate) mod tape;
mod tensix;
pub(crate) mod tlb;
pub(crate) mod txq;
