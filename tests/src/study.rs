//! The studies by which the house tests itself, each with a seed, and the program that runs them and
//! those of the vendor's claims: `tests/studies.md`.

pub mod clean;
pub mod collectives;
pub mod pause;
mod printer;
mod program;
pub mod relaunch;
pub mod reroute;
mod rig;
pub mod traffic;
pub mod transport;
pub mod watching;
pub mod why;

pub use program::{all, run};
pub use rig::Rig;
