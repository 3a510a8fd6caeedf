//! Safe reads and writes: the target behind a BAR, over its windows and routing queues.
//!
//! [`bar_target::BarTarget`] is the [`machine::target::Target`] of every live machine. It discovers
//! the mesh, checks each span against the allow-list of its tile (the guard), merges the permitted
//! ranges into few bus transactions (the planner), reads PCIe chips through TLB windows and others
//! through the queues of the base firmware, and puts into quarantine what hangs. [`AuditLog`]
//! records each commanded write before it is made. [`expect::differences`] compares a mesh with a
//! cluster descriptor, and [`descriptor`] creates one.
//!
//! ```
//! use layouts::ClusterDescriptor;
//! use machine::target::Mesh;
//!
//! let shipped = |mesh| ClusterDescriptor::shipped(mesh).expect("shipped").expect("valid");
//! let found = Mesh::from_descriptor(&shipped("n300"));
//! assert!(access::expect::differences(&found, &shipped("n300")).is_empty());
//! assert!(!access::expect::differences(&found, &shipped("t3000")).is_empty());
//! ```
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
pub mod expect;
mod guard;
mod parallel;
mod planner;
mod queue;
mod telemetry;
mod windows;

pub use guard::{AuditLog, state_folder};
