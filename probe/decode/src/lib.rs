//! What the bytes mean: which image runs where, and from a snapshot to the state of the mesh.
//!
//! - [`images::ImageMap`] knows per core which image has which layer, where it is loaded, and how that is known: proved, sampled,
//!   recorded, told. [`images::Catalog`] finds ELFs in folders of tt-metal.
//! - [`inspect::ReadSet`] says what is wanted; it becomes plans, and a target reads them.
//! - [`inspect::inspect`] turns the snapshot into a [`state::MeshState`]: chips, tiles, cores, links, fabric. Each value is a
//!   [`state::Reading`]: known, or why not.
//!
//! ```
//! use decode::images::ImageMap;
//! use decode::inspect::inspect;
//! use layouts::ClusterDescriptor;
//! use machine::{snapshot::Snapshot, target::Mesh};
//!
//! let n300 = ClusterDescriptor::shipped("n300").expect("it is shipped").expect("it is sound");
//! let (images, problems) = ImageMap::firmware();
//! assert!(problems.is_empty());
//! let state = inspect(&Snapshot::default(), &Mesh::described_by(&n300), &images);
//! assert_eq!((state.chips.len(), state.links.len()), (2, 2));
//! ```
//!
//! # Invariants
//!
//! It is pure: no clock, no file but an image, no target. Members are found by type and name in the image that is loaded; nothing
//! assumes an address that DWARF has.

pub mod fabric;
pub mod images;
pub mod inspect;
mod reading;
pub mod state;
