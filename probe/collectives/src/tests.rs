//! Shared by the tests of collectives; the tests run compiled programs in an interpreter.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod interpreter;
mod memory;
mod proof;
mod reference;
mod schedules;

use machine::target::Mesh;

/// Returns a shipped mesh, such as `galaxy,cabling=torus`.
pub(crate) fn mesh(name: &str) -> Mesh {
    Mesh::from_descriptor(&workloads::scene::described(name, name).unwrap())
}
