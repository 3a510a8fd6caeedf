//! Studies: measurements on emulated meshes, each with a seed and a length, for the verb `study` and for tests.

pub mod relaunch;
mod rig;
pub mod watching;

pub use rig::Rig;
