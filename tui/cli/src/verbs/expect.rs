//! `mesh --expect`: the differences from a descriptor.

use crate::output::{Columns, Part, say};
use console::exit::Failure;
use decode::state::MeshState;
use diagnosis::expect::{Comparison, compare as compared};
use layouts::ClusterDescriptor;
use probe::session::OpenError;
use workloads::scene::described;

/// The descriptor of the command line.
///
/// # Errors
/// `Usage` if it does not exist or is unusable.
pub(super) fn load(words: &str) -> Result<ClusterDescriptor, Failure> {
    described(words, words).map_err(|error| Failure::of_open(words, &OpenError::Scene(error)))
}

/// The differences between a snapshot's mesh and the descriptor.
pub(super) fn compare(state: &MeshState, expected: &ClusterDescriptor) -> Comparison {
    let pinned = expected.chips.iter().any(|chip| !chip.pinned.is_empty());
    if pinned && state.chips.iter().all(|chip| chip.chip.seat.is_none()) {
        say(&format!("{}: its pinnings are not compared without --places", expected.name));
    }
    compared(&state.mesh(), expected)
}

/// The differences as a table, or that there are none.
pub(super) fn table(all: &Comparison, expected: &ClusterDescriptor) -> Part {
    if all.differences.is_empty() {
        return format!("as {} describes it\n", expected.name).into();
    }
    let mut table = Columns::new(&["DIFFERENCE", &format!("FROM {}", expected.name)]);
    for (condition, words) in &all.summary {
        table.row(vec![condition.name().to_owned(), words.clone()]);
    }
    table.into()
}
