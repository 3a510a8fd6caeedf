//! A mesh that runs again from a checkpoint is the mesh that ran forward, byte for byte.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::determinism::{busy_mesh, disrupted};
use emulator::Mesh;

/// Fails if two meshes differ.
fn same(a: &mut Mesh, b: &mut Mesh) {
    if let Some(difference) = a.difference(b) {
        panic!("at cycle {}: {difference}", a.now());
    }
}

#[test]
fn a_copy_runs_on_like_its_original() {
    let mut random = fastrand::Rng::with_seed(1);
    for (sleep, threads) in [(true, 1), (false, 1), (true, 2)] {
        let mut mesh = disrupted(busy_mesh(5, sleep, threads));
        let mut forward = disrupted(busy_mesh(5, sleep, 1));
        let mut copies = Vec::new();
        for _ in 0..12 {
            let cycles = random.u64(1..3000);
            mesh.clock(cycles);
            forward.clock(cycles);
            copies.push(mesh.checkpoint());
        }
        same(&mut mesh, &mut forward);
        for checkpoint in copies {
            let mut copy = Mesh::from_checkpoint(&checkpoint);
            let left = mesh.now() - copy.now();
            copy.clock(left / 3);
            // A copy of a copy.
            let mut copy = Mesh::from_checkpoint(&copy.checkpoint());
            copy.clock(left - left / 3);
            same(&mut copy, &mut forward);
        }
    }
}
