//! The meaning of the bytes: the state of the mesh from a snapshot.
//!
//! - [`inspect::ReadSet`] names what to read; plans are made from it, and a target reads them.
//! - [`inspect::inspect`] turns the snapshot into a [`state::MeshState`]: chips, tiles, cores,
//!   links, fabric. Each value is a [`images::Reading`]: known, or the reason why not.
//! - [`requests::Interface`] tells which requests of a tile were not answered.
//! - [`profile::profile`] turns sampled program counters into source lines and their shares.
//!
//! ```
//! use decode::inspect::inspect;
//! use images::ImageMap;
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
//! The crate is pure: no clock, no file, no target. Names and addresses come from the images.

pub mod inspect;
pub mod profile;
pub mod requests;
pub mod spin;
pub mod state;
