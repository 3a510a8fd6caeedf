//! The meaning of the bytes: which image runs where, and the state of the mesh from a snapshot.
//!
//! - [`images::ImageMap`] holds for each core the image of each layer, its load address and its
//!   [`images::Provenance`]. [`images::Catalog`] finds ELFs in folders of tt-metal.
//! - [`inspect::ReadSet`] names what to read; plans are made from it, and a target reads them.
//! - [`inspect::inspect`] turns the snapshot into a [`state::MeshState`]: chips, tiles, cores,
//!   links, fabric. Each value is a [`state::Reading`]: known, or the reason why not.
//! - [`code::listing`] disassembles, and [`code::code_at`] finds the code of a name.
//! - [`profile::profile`] turns sampled program counters into source lines and their shares.
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
//! let state = inspect(&Snapshot::default(), &Mesh::from_descriptor(&n300), &images);
//! assert_eq!((state.chips.len(), state.links.len()), (2, 2));
//! ```
//!
//! # Invariants
//!
//! The crate is pure: no clock, no file but an image, no target. Members are found by type and name
//! in the loaded image; no address that DWARF has is assumed. A built-in image is recognised by the
//! index that `firmware` has of it; its DWARF is opened at the first question about its contents.

pub mod code;
pub mod fabric;
pub mod images;
pub mod inspect;
pub mod profile;
mod reading;
pub mod state;
