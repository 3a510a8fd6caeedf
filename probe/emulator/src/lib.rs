//! The emulated Wormhole mesh as the bus sees it.

pub mod hart;
pub mod memory;
