//! Safe reads and writes: the target behind a BAR, over its windows and routing queues.
//!
//! [`bar_target::BarTarget`] is the [`machine::target::Target`] of every live machine. It discovers
//! the mesh, checks each span against the allow-list of its tile (the guard), merges the permitted
//! ranges into few bus transactions (the planner), reads PCIe chips through TLB windows and others
//! through the queues of the base firmware, and puts into quarantine what hangs. [`AuditLog`]
//! records each commanded write before it is made. [`descriptor`] describes a mesh.
//!
//! # Invariants
//!
//! Every access is checked first. An attach writes nothing but windows and read requests. A write
//! is never sent twice. A write that cannot be logged is not made.

mod access;
pub mod bar_target;
mod bus;
pub mod descriptor;
mod discover;
mod eth_firmware;
mod guard;
mod parallel;
mod planner;
mod queue;
mod telemetry;
mod windows;

pub use guard::AuditLog;
