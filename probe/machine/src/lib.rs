//! The nouns of a mesh: what can be read, what was read, who has it, what goes wrong.
//!
//! [`target::Target`] is a machine that can be read and written, whatever stands behind it; [`bar::Bar`] is where the live ones
//! meet; [`snapshot::Snapshot`] is what a read gave, with its gaps.

pub mod bar;
pub mod clock;
pub mod fabric;
pub mod fault;
pub mod patience;
pub mod place;
pub mod snapshot;
pub mod target;
pub mod visit;
pub mod window;
pub mod words;
