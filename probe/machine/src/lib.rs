//! Vocabulary of a mesh: targets, BARs, snapshots, clients, faults.
//!
//! - [`target::Target`] is a machine that can be read and written, live or recorded.
//!   [`target::Abilities`] lists what it supports and what must not be touched.
//! - [`bar::Bar`] is the interface of silicon and simulators: config space, BARs, time, in batches.
//! - [`snapshot::Plan`] is what to read, [`snapshot::Snapshot`] what was read,
//!   [`snapshot::Gap`] what was not read and why ([`snapshot::AccessError`]).
//! - [`samples::Samples`] is where cores were at some moments, without having been halted.
//! - [`progress::Progress`] is how far opening or reading a target has come.
//! - [`target::Mesh`] holds the chips and links that discovery found, with the kind of chip.
//! - [`target::Past`] is the past of a target that keeps it.
//! - [`notes::Note`] is what was done and reported while a target was watched.
//! - [`fault::Fault`] is a fault of an emulated mesh; [`fabric`] has tt-metal's terms of a fabric.
//!
//! Data goes from a `Plan` through `Target::read` to a `Snapshot`; commands use `Target::write`.
//!
//! ```
//! use layouts::{ChipId, ClusterDescriptor, NocAddr, NocXy};
//! use machine::snapshot::{AccessError, Snapshot};
//! use machine::target::Mesh;
//!
//! let n300 = ClusterDescriptor::shipped("n300").expect("shipped").expect("valid");
//! let mesh = Mesh::from_descriptor(&n300);
//! assert!(mesh.chip(ChipId(0)).is_some_and(|chip| chip.pcie));
//!
//! let addr = NocAddr { chip: ChipId(0), tile: NocXy { x: 9, y: 6 }, offset: 0x1104 };
//! assert_eq!(Snapshot::default().bytes(addr, 4), Err(AccessError::NotRequested));
//! ```
//!
//! # Invariants
//!
//! A snapshot is immutable. Every requested byte is in a piece or in a gap; no value stands for
//! "could not read".

pub mod bar;
pub mod clients;
pub mod clock;
pub mod fabric;
pub mod fault;
pub mod history;
pub mod notes;
pub mod past;
pub mod patience;
pub mod place;
pub mod progress;
pub mod samples;
pub mod snapshot;
pub mod target;
pub mod window;
pub mod words;
