//! What the tests of collectives share, and the proof that compiled programs do what they should.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod interpreter;
mod memory;
mod proof;
mod reference;

use layouts::EthId;
use machine::target::{Chip, Link, Mesh};
use workloads::scene::described;

/// A shipped mesh, such as `galaxy,cabling=torus`, as discovery would find it.
pub(crate) fn mesh(name: &str) -> Mesh {
    let descriptor = described(name, name).unwrap();
    let chips = descriptor.chips.iter().map(|chip| Chip {
        id: chip.id,
        coord: chip.coord,
        pcie: chip.pcie.is_some(),
        unique_id: chip.unique_id,
        board: None,
        gateway: None,
        harvested_rows: chip.harvested_rows.clone(),
    });
    let links = descriptor.links.iter().map(|&(a, b): &(EthId, EthId)| Link { a, b });
    Mesh { chips: chips.collect(), links: links.collect(), problems: Vec::new() }
}
