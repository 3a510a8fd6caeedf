//! One moment after the other: everything at first, and then what may change.

use console::feed::MeshSnapshot;
use console::machine::Machine;
use decode::inspect::{ReadSet, fabric_read_set};
use decode::state::{CoreState, ImageUse, LaunchState, MeshState};
use diagnosis::{Look, wanted};
use fabric::trace_read::packet_lists;
use images::Reading;
use layouts::CoreId;
use machine::snapshot::Snapshot;
use machine::target::Mesh;

/// Most snapshots that are taken until everything is read that one of them leads to.
const MOST_SNAPSHOTS: usize = 6;

/// What a core runs: its images by name and address, and the launch message.
type Runs = (CoreId, Vec<(String, u32)>, Reading<LaunchState>);

/// What is read again only when a core runs something else: the texts of kernels, by which a replay
/// knows them, the routing tables, and the packets that traffic kernels list.
#[derive(Default)]
struct Texts(Option<(Snapshot, Vec<Runs>)>);

impl Texts {
    /// What reads them, with everything else.
    fn read_set(mesh: &Mesh) -> ReadSet {
        ReadSet {
            details: true,
            fabric: true,
            fabric_tables: true,
            texts: true,
            ..ReadSet::everything(mesh)
        }
    }

    /// Whether they are those of what runs now.
    fn are_of(&self, state: &MeshState) -> bool {
        self.0.as_ref().is_some_and(|(_, runs)| running(state) == *runs)
    }

    /// Keeps them, from a snapshot that has them.
    fn keep(&mut self, snapshot: Snapshot, state: &MeshState) {
        self.0 = Some((snapshot, running(state)));
    }

    /// Returns a snapshot with them as they were read, each with that time.
    fn complete(&self, snapshot: &Snapshot) -> Snapshot {
        match &self.0 {
            Some((texts, _)) => snapshot.completed_by(texts),
            None => snapshot.clone(),
        }
    }
}

fn running(state: &MeshState) -> Vec<Runs> {
    let tiles = state.chips.iter().flat_map(|chip| &chip.tiles);
    let cores = tiles.flat_map(|tile| &tile.cores);
    let image = |image: &ImageUse| (image.name.clone(), image.load_addr);
    let runs =
        |core: &CoreState| (core.id, core.images.iter().map(image).collect(), core.launch.clone());
    cores.map(runs).collect()
}

/// Takes the moments of a recording.
pub(in crate::verbs) struct Moments {
    everything: ReadSet,
    /// None: only what identifies the images is kept of the texts.
    texts: Option<Texts>,
    /// What the next snapshot reads; none: everything.
    next: Option<ReadSet>,
}

impl Moments {
    /// Every core is recorded, as the recording may be opened at any.
    pub(in crate::verbs) fn new(machine: &mut Machine) -> Self {
        let everything = Texts::read_set(&machine.mesh());
        Self { everything, texts: Some(Texts::default()), next: None }
    }

    /// The same of a mesh on which other kernels are launched all the time: reading their texts
    /// would take longer than they run.
    pub(in crate::verbs) fn without_texts(machine: &mut Machine) -> Self {
        Self { texts: None, ..Self::new(machine) }
    }

    /// Takes a moment.
    pub(in crate::verbs) fn take(&mut self, machine: &mut Machine) -> MeshSnapshot {
        let Some(texts) = &self.texts else {
            let next = self.next.take().unwrap_or_else(|| self.later());
            let mut snapshot = machine.take(&next);
            snapshot.memory = snapshot.memory.completed_by(machine.session().proofs());
            self.follow(&snapshot, &machine.mesh());
            return snapshot;
        };
        if let Some(next) = &self.next {
            let mut snapshot = machine.take(next);
            if texts.are_of(&snapshot.state) {
                snapshot.memory = texts.complete(&snapshot.memory);
                self.follow(&snapshot, &machine.mesh());
                return snapshot;
            }
        }
        let mut snapshot = whole(machine, &self.everything);
        // What a verdict wants is known only now.
        let mesh = machine.mesh();
        let mut next = self.follow(&snapshot, &mesh);
        next.spans.extend(packet_lists(&mesh, machine.images(), &snapshot.memory));
        let wanted = machine.take(&next);
        snapshot.memory = wanted.memory.completed_by(&snapshot.memory);
        let texts = self.texts.get_or_insert_default();
        texts.keep(snapshot.memory.clone(), &snapshot.state);
        snapshot
    }

    /// What snapshots read once the texts and tables are known.
    fn later(&self) -> ReadSet {
        ReadSet { texts: false, fabric_tables: false, ..self.everything.clone() }
    }

    /// The next snapshot reads what this one leads to: parts of the fabric, and the words by which
    /// a verdict tells what a core waits for.
    fn follow(&mut self, snapshot: &MeshSnapshot, mesh: &Mesh) -> ReadSet {
        let mut next = fabric_read_set(&snapshot.state.fabric, &self.later());
        let look = Look::new(&snapshot.memory, &snapshot.state);
        next.spans.extend(wanted(mesh, look));
        next.spans.sort_unstable();
        next.spans.dedup();
        self.next.insert(next).clone()
    }
}

/// A snapshot of the whole fabric, if there is one: words and packets are read after a snapshot
/// that locates them.
fn whole(machine: &mut Machine, read_set: &ReadSet) -> MeshSnapshot {
    let mut requested = read_set.clone();
    let mut snapshot = machine.take(&requested);
    for _ in 0..MOST_SNAPSHOTS {
        let fabric = &snapshot.state.fabric;
        let none =
            fabric.routers.is_empty() && fabric.muxes.is_empty() && fabric.clients.is_empty();
        let next = fabric_read_set(fabric, &requested);
        if none || next == requested {
            break;
        }
        requested = next;
        snapshot = machine.take(&requested);
    }
    snapshot
}
