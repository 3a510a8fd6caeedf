//! What the bytes mean: which image runs where, and from a snapshot to the state of the mesh. Pure.

pub mod images;
pub mod inspect;
pub mod state;
