//! What the tests of collectives share, and the proof that compiled programs do what they should.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod interpreter;
mod memory;
mod proof;
mod reference;

use machine::target::Mesh;

/// A shipped mesh, such as `galaxy,cabling=torus`.
pub(crate) fn mesh(name: &str) -> Mesh {
    Mesh::described_by(&workloads::scene::described(name, name).unwrap())
}
