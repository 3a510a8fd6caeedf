//! `mesh --expect`: the differences from a cluster descriptor.

use crate::output::{Columns, Part};
use console::exit::Failure;
use decode::state::MeshState;
use diagnosis::expect::{Difference, differences, summed_up};
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
pub(super) fn compare(state: &MeshState, expected: &ClusterDescriptor) -> Vec<Difference> {
    differences(&state.mesh(), expected)
}

/// The differences as a table, or that there are none.
pub(super) fn table(all: &[Difference], expected: &ClusterDescriptor) -> Part {
    if all.is_empty() {
        return format!("as {} describes it\n", expected.name).into();
    }
    let mut table = Columns::new(&["DIFFERENCE", &format!("FROM {}", expected.name)]);
    for (condition, words) in summed_up(all) {
        table.row(vec![condition.name().to_owned(), words]);
    }
    table.into()
}
