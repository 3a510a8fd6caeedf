//! Safe reads and writes: the target behind a BAR, over its windows and routing queues.
//!
//! [`bar_target::BarTarget`] is the [`machine::target::Target`] of every live machine. It discovers the mesh, judges each span
//! by the allow-list of its tile (the guard), merges what is left into few bus transactions (the planner), reads chips with PCIe
//! through TLB windows and others through the queues of the base firmware, and puts in quarantine what hangs. [`AuditLog`] keeps
//! each commanded write before it is made. [`expect::differences`] compares a mesh with a cluster descriptor, and
//! [`descriptor`] writes one.
//!
//! ```
//! use layouts::ClusterDescriptor;
//! use machine::target::Mesh;
//!
//! let shipped = |name| ClusterDescriptor::shipped(name).expect("it is shipped").expect("it is sound");
//! let found = Mesh::described_by(&shipped("n300"));
//! assert!(access::expect::differences(&found, &shipped("n300")).is_empty());
//! assert!(!access::expect::differences(&found, &shipped("t3000")).is_empty());
//! ```
//!
//! # Invariants
//!
//! Nothing is touched that was not judged. An attach writes nothing but windows and read requests. A write is never sent a second
//! time. What cannot be logged is not written.

mod access;
pub mod bar_target;
mod bus;
pub mod descriptor;
mod discover;
mod eth_firmware;
pub mod expect;
mod guard;
mod parallel;
mod planner;
mod queue;
mod telemetry;
mod windows;

pub use guard::AuditLog;
