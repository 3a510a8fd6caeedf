//! The machine: targets, safe access, discovery, snapshots, inspection and control.
//!
//! This room has never heard of terminals or async.

pub mod bar;
pub mod snapshot;
pub mod state;
pub mod target;
