//! A fabric of tt-metal's own kernels: the document that describes it, and its bring-up.
//!
//! A router of tt-metal is compiled for its direction, channel and neighbours. `tests/tt-fabric.md`
//! describes the program that compiles a fabric's kernels into a folder. The folder's `fabric.json`
//! is a [`Document`]: what a host knows about the kernels that is not in their ELFs.

mod bring_up;
mod document;
mod mesh;

pub use bring_up::MetalFabric;
pub use document::{
    DOCUMENT, Delivery, Document, Kernel, L1Words, MetalMux, MetalRouter, MetalWorker, Ncrisc,
    SCHEMA,
};
pub use mesh::MetalMesh;
