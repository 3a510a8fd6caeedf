//! `mesh --expect`: the differences from a cluster descriptor.

use crate::output::{Columns, Part};
use access::expect::{Difference, differences};
use console::exit::Failure;
use decode::state::MeshState;
use layouts::{ChipCoord, ClusterDescriptor};
use machine::target::Mesh;
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
    differences(&mesh(state), expected)
}

/// The mesh of a snapshot.
pub(super) fn mesh(state: &MeshState) -> Mesh {
    Mesh {
        kind: state.kind,
        chips: state.chips.iter().map(|chip| chip.chip.clone()).collect(),
        links: state.links.iter().map(|link| link.link).collect(),
        problems: Vec::new(),
    }
}

/// The differences as a table, or that there are none.
pub(super) fn table(all: &[Difference], expected: &ClusterDescriptor) -> Part {
    if all.is_empty() {
        return format!("as {} describes it\n", expected.name).into();
    }
    let mut table = Columns::new(&["DIFFERENCE", &format!("FROM {}", expected.name)]);
    for difference in all {
        table.row(vec![difference.kind().to_owned(), sentence(difference)]);
    }
    table.into()
}

pub(super) fn sentence(difference: &Difference) -> String {
    match difference {
        Difference::MissingChip { file_id, coord, unique_id } => {
            let at = coord.map(|coord| format!(" at {}", place(coord))).unwrap_or_default();
            let id = unique_id.map(|id| format!(" (unique id {id})")).unwrap_or_default();
            format!("its chip {file_id}{at}{id}")
        }
        Difference::ExtraChip(chip) => format!("chip {chip}"),
        Difference::OtherChip { chip, expected } => {
            format!("chip {chip} is in the place of unique id {expected}")
        }
        Difference::MovedChip { chip, expected } => {
            format!("chip {chip} should be at {}", place(*expected))
        }
        Difference::MissingLink(a, b) => format!("{a} to {b}"),
        Difference::ExtraLink(a, b) => format!("{a} to {b}"),
        Difference::SwappedLink { expected: (a, b), found: (c, d) } => {
            format!("{c} to {d} instead of {a} to {b}")
        }
    }
}

fn place(at: ChipCoord) -> String {
    format!("x {} y {} rack {} shelf {}", at.x, at.y, at.rack, at.shelf)
}
