//! One moment after the other: everything at first, and then what may change.

use crate::feed::MeshSnapshot;
use crate::machine::Machine;
use crate::verbs::fabric;
use decode::inspect::{ReadSet, fabric_read_set};
use decode::state::{ImageUse, LaunchState, MeshState, Reading};
use diagnosis::{Look, wanted};
use layouts::CoreId;
use machine::snapshot::Snapshot;
use machine::target::Mesh;

/// What a core runs.
type Runs = (CoreId, Vec<ImageUse>, Reading<LaunchState>);

/// Takes the moments of a recording. The texts of kernels and the routing tables are read at first,
/// and again when a core runs something else; other moments contain them as they were read then,
/// with that time.
pub(in crate::verbs) struct Moments {
    everything: ReadSet,
    /// The newest snapshot with texts, and what ran then.
    whole: Option<(Snapshot, Vec<Runs>)>,
    /// What the next snapshot reads.
    next: ReadSet,
}

impl Moments {
    /// Every core is recorded, as the recording may be opened at any.
    pub(in crate::verbs) fn new(machine: &mut Machine) -> Self {
        let everything = ReadSet {
            details: true,
            fabric: true,
            fabric_tables: true,
            // A replay knows kernels by their texts.
            texts: true,
            ..ReadSet::everything(&machine.mesh())
        };
        Self { next: everything.clone(), everything, whole: None }
    }

    /// Takes a moment.
    pub(in crate::verbs) fn take(&mut self, machine: &mut Machine) -> MeshSnapshot {
        if let Some((whole, runs)) = &self.whole {
            let mut snapshot = machine.take(&self.next);
            if running(&snapshot.state) == *runs {
                snapshot.memory = snapshot.memory.completed_by(whole);
                self.follow(&snapshot, &machine.mesh());
                return snapshot;
            }
        }
        let mut snapshot = fabric::whole(machine, &self.everything);
        self.follow(&snapshot, &machine.mesh());
        // What a verdict wants is known only now.
        let wanted = machine.take(&self.next);
        snapshot.memory = wanted.memory.completed_by(&snapshot.memory);
        self.whole = Some((snapshot.memory.clone(), running(&snapshot.state)));
        snapshot
    }

    /// The next snapshot reads what this one leads to: parts of the fabric, and the words by which
    /// a verdict tells what a core waits for.
    fn follow(&mut self, snapshot: &MeshSnapshot, mesh: &Mesh) {
        let later = ReadSet { texts: false, fabric_tables: false, ..self.everything.clone() };
        self.next = fabric_read_set(&snapshot.state.fabric, &later);
        let look = Look { snapshot: &snapshot.memory, state: &snapshot.state };
        self.next.spans.extend(wanted(mesh, look));
        self.next.spans.sort_unstable();
        self.next.spans.dedup();
    }
}

fn running(state: &MeshState) -> Vec<Runs> {
    let tiles = state.chips.iter().flat_map(|chip| &chip.tiles);
    let cores = tiles.flat_map(|tile| &tile.cores);
    cores.map(|core| (core.id, core.images.clone(), core.launch.clone())).collect()
}
