//! The nouns of a mesh: what can be read, what was read, who has it, what goes wrong.
//!
//! - [`target::Target`] is a machine that can be read and written, whatever stands behind it. [`target::Abilities`] says what
//!   it can do and what must not be touched.
//! - [`bar::Bar`] is where silicon and simulators meet: config space, BARs and time, in batches.
//! - [`snapshot::Plan`] is what to read, [`snapshot::Snapshot`] what a read gave, [`snapshot::Gap`] what it did not give and
//!   why ([`snapshot::AccessError`]).
//! - [`target::Mesh`] is chips and links as discovery found them, with the kind of chip.
//! - [`fault::Fault`] is what an emulated mesh can be made to suffer; [`fabric`] has the names of tt-metal's fabric.
//!
//! Data goes from a `Plan` through `Target::read` to a `Snapshot`; a command goes through `Target::write`.
//!
//! ```
//! use layouts::{ChipId, ClusterDescriptor, NocAddr, NocXy};
//! use machine::snapshot::{AccessError, Snapshot};
//! use machine::target::Mesh;
//!
//! let n300 = ClusterDescriptor::shipped("n300").expect("it is shipped").expect("it is sound");
//! let mesh = Mesh::described_by(&n300);
//! assert!(mesh.chip(ChipId(0)).is_some_and(|chip| chip.pcie));
//!
//! let addr = NocAddr { chip: ChipId(0), tile: NocXy { x: 9, y: 6 }, offset: 0x1104 };
//! assert_eq!(Snapshot::default().bytes(addr, 4), Err(AccessError::NotAsked));
//! ```
//!
//! # Invariants
//!
//! A snapshot is immutable. Every byte that was asked for is in a piece or in a gap; no value stands for "could not read".

pub mod bar;
pub mod clients;
pub mod clock;
pub mod fabric;
pub mod fault;
pub mod patience;
pub mod place;
pub mod snapshot;
pub mod target;
pub mod window;
pub mod words;
