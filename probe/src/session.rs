//! An open target with the state needed to inspect it repeatedly.

mod captured;
mod error;
mod files;
mod open;
mod operations;
mod pacer;
mod parts;
mod past;
mod pause;
mod places;
mod recorded;
mod rerun;
mod silent;
mod spin;
mod stages;
mod watch;

use decode::inspect::{
    ReadSet, TargetFacts, cores, decode, plan, plan_launches, plan_proofs, plan_tables, plan_texts,
};
use decode::state::{LedgerState, MeshState};
use diagnosis::Sampled;
pub use error::OpenError;
use files::Files;
use images::fabric::manifest::FabricManifest;
use images::{Catalog, ImageMap, Library};
use launch::outcome::{Cause, RunError};
use launch::sampling::Sampling;
use layouts::{ChipId, CoreId, Seat};
use machine::clients::MetalProcess;
use machine::clients::ServedHistory;
use machine::past::PastWatcher;
use machine::progress::{ChipCount, Progress};
use machine::samples::{SampleOrder, Samples};
use machine::snapshot::{AccessError, Plan, Snapshot};
use machine::target::{Arrived, Mesh, Past, Preview, Target};
pub use open::{OpenOptions, served_simulator};
use operations::Operations;
use pacer::Pacer;
pub use parts::{PartLimits, Parts};
pub use pause::Balance;
pub use rerun::Rerun;
pub use stages::{StageChange, StageMove};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
pub use watch::{WATCHED_CYCLES, Watch, Watched};
use workloads::scene::Pace;

/// The number of snapshots between two reads of all proofs. Between them the proofs of a core are
/// read when a word has changed that says that other images may be there.
const VERIFY_EVERY: u64 = 64;

/// One snapshot and the state decoded from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// The bytes.
    pub snapshot: Snapshot,
    /// The decoded state.
    pub state: MeshState,
    /// Program counters of cores that were sampled after it.
    pub sampled: Sampled,
}

/// A snapshot that is still being read.
pub struct Partly<'a> {
    /// How far it has come.
    pub progress: Progress,
    /// Whether anything was added since it was last seen.
    pub fresh: bool,
    inspect: &'a dyn Fn() -> Inspected,
}

impl Partly<'_> {
    /// Decodes what was read so far; tiles that were not read yet are as they were before.
    pub fn inspect(&self) -> Inspected {
        (self.inspect)()
    }
}

/// A file whose moments a session reads.
#[derive(Clone, Debug)]
pub struct RecordedFile {
    /// The file.
    pub path: PathBuf,
    /// What a recording says of itself; none: it is a fabric snapshot of tt-metal.
    pub head: Option<RecordingHead>,
}

/// What a recording says of itself.
#[derive(Clone, Debug)]
pub struct RecordingHead {
    /// The version of the meshscope that recorded.
    pub made_by: String,
    /// The words that opened the recorded target.
    pub target: String,
    /// What the person who recorded asked for.
    pub asked: String,
    /// The names of the attached files.
    pub attached: Vec<String>,
    /// The run of the recorded mesh.
    pub run: Option<Rerun>,
}

/// A fabric manifest with its file.
type NamedManifest = (PathBuf, FabricManifest);

/// Who sees a snapshot while it is being read, and what was read before it.
struct Watcher<'a> {
    before: Option<&'a Snapshot>,
    see: &'a mut dyn FnMut(&Partly<'_>),
}

/// An open target.
pub struct Session {
    target: Box<dyn Target>,
    images: ImageMap,
    library: Option<Library>,
    problems: Vec<String>,
    /// Where the files of what runs are sought.
    files: Files,
    /// The processes that run tt-metal on the target and whose files were looked for.
    processes: Vec<MetalProcess>,
    /// What their Inspectors have told.
    operations: Operations,
    /// How many of them are damage of the file that is read.
    damage: usize,
    before: ServedHistory,
    pacer: Option<Pacer>,
    snapshots: u64,
    last: ReadSet,
    /// What was read to identify the images.
    proofs: Snapshot,
    /// What was read for the snapshot that is taken, which it need not read again.
    just_read: Snapshot,
    /// The file that is read; none: a machine.
    file: Option<RecordedFile>,
    /// Whether the machine ends with this process.
    ends_with_process: bool,
    /// The credits of links in the previous snapshot, and in the newest.
    ledgers: Vec<LedgerState>,
    next_ledgers: Vec<LedgerState>,
    /// Where chips stand.
    seats: BTreeMap<ChipId, Arc<Seat>>,
}

impl Session {
    /// Returns a session over an open target.
    pub fn with_target(target: Box<dyn Target>, images: ImageMap) -> Self {
        Self {
            target,
            images,
            library: None,
            problems: Vec::new(),
            files: Files::default(),
            processes: Vec::new(),
            operations: Operations::default(),
            damage: 0,
            before: ServedHistory::default(),
            pacer: None,
            snapshots: 0,
            last: ReadSet::default(),
            proofs: Snapshot::default(),
            just_read: Snapshot::default(),
            file: None,
            ends_with_process: false,
            ledgers: Vec::new(),
            next_ledgers: Vec::new(),
            seats: BTreeMap::new(),
        }
    }

    /// Returns the file whose moments it reads; none: it reads a machine.
    pub fn file(&self) -> Option<&RecordedFile> {
        self.file.as_ref()
    }

    /// Returns the run of a recorded mesh, if the recording has it.
    pub fn run(&self) -> Option<&Rerun> {
        self.file.as_ref()?.head.as_ref()?.run.as_ref()
    }

    /// Whether the machine ends with this process.
    pub fn ends_with_process(&self) -> bool {
        self.ends_with_process
    }

    /// Returns the past of the target; that of a recorded mesh is executed again.
    ///
    /// # Errors
    /// Why there is none; or `watcher` returned false.
    pub fn past(&mut self, watcher: &mut PastWatcher<'_>) -> Result<Box<dyn Past>, OpenError> {
        match self.run().cloned() {
            Some(run) => run.past(watcher),
            None if self.target.history().is_some() => Err(OpenError::NoRun),
            None => self.target.past().map_err(OpenError::NotKept),
        }
    }

    /// Adds the images of these directories to those that may run.
    pub fn add_catalog(&mut self, catalog: Catalog) {
        self.library = Some(Library::new(catalog));
        self.snapshots = 0;
    }

    /// Adds the routers that a fabric manifest describes.
    pub fn add_manifest(&mut self, file: &Path, manifest: &FabricManifest) {
        let file = file.display().to_string();
        self.images.add_manifest(&file, manifest, self.target.mesh());
        self.snapshots = 0;
    }

    /// Returns the target alone.
    pub fn into_target(self) -> Box<dyn Target> {
        self.target
    }

    /// Returns the target.
    pub fn target(&mut self) -> &mut dyn Target {
        self.target.as_mut()
    }

    /// Returns the map of the images known to run.
    pub fn images(&mut self) -> &mut ImageMap {
        &mut self.images
    }

    /// Returns what was read to identify the images, as it was read last: another session that has
    /// it with a snapshot identifies them too.
    pub fn proofs(&self) -> &Snapshot {
        &self.proofs
    }

    /// Returns the target and the images at once, for commands.
    pub fn parts(&mut self) -> (&mut dyn Target, &mut ImageMap) {
        (self.target.as_mut(), &mut self.images)
    }

    /// Reads a snapshot and decodes it.
    pub fn inspect(&mut self, read_set: &ReadSet) -> Inspected {
        self.inspect_by_chip(read_set, None, &mut |_| ())
    }

    /// Reads a snapshot as [`Session::inspect`] does, and shows it after each chip. Tiles that were
    /// not read yet, or that the read set leaves out, are shown as they were in the snapshot before,
    /// if one is given.
    pub fn inspect_by_chip(
        &mut self,
        read_set: &ReadSet,
        before: Option<&Snapshot>,
        see: &mut dyn FnMut(&Partly<'_>),
    ) -> Inspected {
        let mut watcher = Watcher { before, see };
        let before = self.target.transactions();
        let plan = self.plan(read_set, self.snapshots.is_multiple_of(VERIFY_EVERY), &mut watcher);
        self.snapshots += 1;
        self.ledgers.clone_from(&self.next_ledgers);
        let just_read = self.just_read.part_of(&plan);
        let plan = plan.missing_from(&just_read);
        let parts = watcher.before.filter(|_| read_set.only.is_some());
        // The bytes of the snapshot before do not say when this one began.
        let began = parts.and_then(|_| self.target.now().ok());
        let mut snapshot = self.read(&plan, Progress::Snapshot, &mut watcher);
        if !just_read.pieces.is_empty() {
            snapshot = just_read.extended_by(&snapshot);
        }
        if parts.is_some() {
            snapshot = snapshot.over(parts);
        }
        self.decode(snapshot, read_set, (before, began), &mut watcher)
    }

    /// Reads what a read set has and a snapshot lacks, and decodes both as one snapshot.
    fn inspect_rest(
        &mut self,
        read_set: &ReadSet,
        inspected: &Inspected,
        see: &mut dyn FnMut(&Partly<'_>),
    ) -> Inspected {
        let mut watcher = Watcher { before: Some(&inspected.snapshot), see };
        let before = self.target.transactions();
        let plan = self.plan(&just_proved(read_set), false, &mut watcher);
        let plan = plan.missing_from(&inspected.snapshot);
        let rest = self.read(&plan, Progress::Snapshot, &mut watcher);
        self.decode(
            inspected.snapshot.extended_by(&rest),
            read_set,
            (before, Some(inspected.state.cycles)),
            &mut watcher,
        )
    }

    /// Plans the reads of a read set, once its images are verified.
    fn plan(&mut self, read_set: &ReadSet, again: bool, watcher: &mut Watcher<'_>) -> Plan {
        let verify = again || !self.last.proves(read_set);
        if verify {
            self.verify(read_set, again, watcher);
            // Extra ranges do not affect the images.
            self.last = ReadSet { spans: Vec::new(), ..read_set.clone() };
        }
        let rest = if verify { just_proved(read_set) } else { read_set.clone() };
        plan(self.target.mesh(), &self.images, &rest)
    }

    /// Decodes a snapshot that began at a count of transactions, and at a time if its bytes do not
    /// tell.
    fn decode(
        &mut self,
        mut snapshot: Snapshot,
        read_set: &ReadSet,
        (before, began): (u64, Option<u64>),
        watcher: &mut Watcher<'_>,
    ) -> Inspected {
        let launches = plan_launches(self.target.mesh(), &self.images, &snapshot);
        if !launches.spans.is_empty() {
            let just_read = self.just_read.part_of(&launches);
            let launches = launches.missing_from(&just_read);
            let read = self.read(&launches, Progress::Snapshot, watcher);
            snapshot = snapshot.extended_by(&just_read).extended_by(&read);
        }
        self.images.learn(self.target.mesh(), &snapshot);
        self.verify_changed(read_set, watcher);
        // Where nothing was read, nothing says when it began; a moment of a recording has older bytes.
        let now = if snapshot.pieces.is_empty() { self.target.now().ok() } else { None };
        let began = began.max(self.target.history().and_then(|history| history.began_cycles()));
        let mut problems = self.problems.clone();
        problems.extend(self.files.problems.iter().cloned());
        problems.extend(self.library.iter().flat_map(Library::problems).cloned());
        let (lost, mut holders) = (self.target.quarantined(), Vec::new());
        if let Some(bus) = self.target.bus() {
            problems.extend(bus.remarks());
            holders = bus.holders();
            self.before.writer = bus.writer();
        }
        let facts = TargetFacts {
            began_cycles: now.max(began),
            lost: &lost,
            ledgers: Some(&self.ledgers),
            holders: &holders,
            processes: &self.processes,
            usual_places: &self.files.usual,
            problems: &problems,
            damage: self.damage,
            transactions: self.target.transactions().saturating_sub(before),
            before: Some(&self.before),
        };
        let mut state = decode(&snapshot, self.target.mesh(), &self.images, &facts);
        // What is asked depends on what was decoded.
        self.operations.add_to(&mut state, &self.processes, self.target.as_mut());
        state.problems.extend(self.operations.problems().cloned());
        for chip in &mut state.chips {
            chip.chip.seat = self.seats.get(&chip.chip.id).cloned();
        }
        self.next_ledgers.clone_from(&state.fabric.ledgers);
        self.find_more_files(&state);
        self.just_read = Snapshot::default();
        Inspected { snapshot, state, sampled: Sampled::default() }
    }

    /// Reads a snapshot of another target with what is known of the images, such as a copy of this
    /// target as it was.
    pub fn inspect_instead(&mut self, other: Box<dyn Target>, read_set: &ReadSet) -> Inspected {
        let own = std::mem::replace(&mut self.target, other);
        let inspected = self.inspect(read_set);
        self.target = own;
        inspected
    }

    /// Samples the program counters of some cores over the debug buses of their tiles, which halts
    /// no core. Time passes.
    ///
    /// # Errors
    /// When the target does not permit it, or is gone.
    pub fn sample(&mut self, cores: &[CoreId], order: SampleOrder) -> Result<Samples, RunError> {
        self.sample_while(cores, order, &mut || true)
    }

    /// Samples as [`Session::sample`] does, as long as the caller wants it.
    ///
    /// # Errors
    /// As [`Session::sample`].
    pub fn sample_while(
        &mut self,
        cores: &[CoreId],
        order: SampleOrder,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Samples, RunError> {
        let target = self.target.as_mut();
        target.commanded_by("sample");
        let mut sampling = Sampling::new(target, cores, order)?;
        while wanted() {
            match sampling.poll(target) {
                Ok(true) => break,
                Ok(false) => {}
                Err(gone) => {
                    sampling.end(target);
                    return Err(RunError::new(Cause::Access(gone)));
                }
            }
        }
        Ok(sampling.end(target))
    }

    /// Returns what the next snapshot would touch, without touching it. Reads that depend on its
    /// first results, such as those of a newly recognised image, are not included.
    pub fn preview(&mut self, read_set: &ReadSet) -> Preview {
        let (target, images) = (self.target.as_mut(), &self.images);
        let cores = cores(target.mesh(), images, read_set);
        let search = self.library.as_mut().map(|library| library.first_plan(images, &cores));
        let plan_texts = |_: &Mesh, images: &_, read_set: &_| plan_texts(images, read_set, true);
        let plans = [plan_proofs, plan_texts, plan_tables];
        let plans = plans.map(|plan| plan(target.mesh(), images, read_set)).into_iter();
        let last = plan(target.mesh(), images, &just_proved(read_set));
        let plans: Vec<_> = search.into_iter().chain(plans).chain([last]).collect();
        target.preview(&plans)
    }

    /// Verifies what runs on a core, with few reads.
    pub fn verify_on(&mut self, core: CoreId) {
        self.verify(&everything_on(core), true, &mut Watcher { before: None, see: &mut |_| () });
        self.just_read = Snapshot::default();
    }

    /// Verifies what runs on every core of the mesh.
    pub fn verify_all(&mut self) {
        let everything = ReadSet::everything(self.target.mesh());
        self.verify(&everything, true, &mut Watcher { before: None, see: &mut |_| () });
        self.just_read = Snapshot::default();
    }

    /// Compares the whole texts of a core's images with its memory.
    fn compare_texts(&mut self, core: CoreId) {
        let inspected = self.inspect(&ReadSet { proofs: true, texts: true, ..everything_on(core) });
        self.proofs = inspected.snapshot.completed_by(&self.proofs);
    }

    /// Returns the reads of [`Session::verify_on`].
    pub fn plans_to_verify(&self, core: CoreId) -> Vec<Plan> {
        let plan_texts = |_: &Mesh, images: &_, read_set: &_| plan_texts(images, read_set, true);
        let plans = [plan_proofs, plan_texts, plan_tables];
        plans.map(|plan| plan(self.target.mesh(), &self.images, &everything_on(core))).into()
    }

    /// Reads what verifies the running images, and the tables that locate live words, so that the
    /// snapshot's reads can be planned.
    fn verify(&mut self, read_set: &ReadSet, again: bool, watcher: &mut Watcher<'_>) {
        let cores = cores(self.target.mesh(), &self.images, read_set);
        if again || read_set.texts {
            for core in &cores {
                self.images.unprove(*core);
            }
        }
        self.prove(&cores, read_set, watcher);
        // The texts' images are known only now.
        if read_set.members.is_some() {
            let texts = |_: &Mesh, images: &_, read_set: &_| plan_texts(images, read_set, again);
            self.learn(texts, read_set, watcher);
        }
        self.learn(plan_tables, read_set, watcher);
    }

    /// Verifies the images of cores whose watched words have changed.
    fn verify_changed(&mut self, read_set: &ReadSet, watcher: &mut Watcher<'_>) {
        let changed: Vec<CoreId> = self.images.take_changed().into_iter().collect();
        if !changed.is_empty() {
            self.prove(&changed, read_set, watcher);
        }
    }

    /// Reads the proofs of images that were not read yet, and searches the cores' images in the
    /// directories.
    fn prove(&mut self, cores: &[CoreId], read_set: &ReadSet, watcher: &mut Watcher<'_>) {
        self.read_ahead(cores, read_set);
        self.learn(plan_proofs, read_set, watcher);
        // Which build ids can be there is known from the beginnings of the texts.
        self.learn(plan_proofs, read_set, watcher);
        if let Some(library) = &mut self.library {
            let mut read = |plan: &Plan| {
                let read = read_once(self.target.as_mut(), &mut self.just_read, plan);
                self.proofs = read.completed_by(&self.proofs);
                read
            };
            library.search(&mut read, &mut self.images, cores);
        }
    }

    /// Reads at once what proves the images most likely, and what the snapshot has whatever they are, where
    /// directories are searched for the firmware of cores.
    fn read_ahead(&mut self, cores: &[CoreId], read_set: &ReadSet) {
        let Some(library) = &mut self.library else { return };
        let mut read = |plan: &Plan| read_once(self.target.as_mut(), &mut self.just_read, plan);
        let mut likely = library.likely(&mut read, &mut self.images, cores);
        if likely.spans.is_empty() {
            return;
        }
        likely.spans.extend(plan(self.target.mesh(), &self.images, &just_proved(read_set)).spans);
        read_once(self.target.as_mut(), &mut self.just_read, &likely);
        let mut read = |plan: &Plan| {
            let read = read_once(self.target.as_mut(), &mut self.just_read, plan);
            self.proofs = read.completed_by(&self.proofs);
            read
        };
        // Where it is found, other firmware need not be disproved, and its mailbox says what ever ran.
        library.find_like_first(&mut read, &mut self.images, cores);
        self.images.learn(self.target.mesh(), &self.just_read);
    }

    fn learn(
        &mut self,
        plan: impl Fn(&Mesh, &ImageMap, &ReadSet) -> Plan,
        read_set: &ReadSet,
        watcher: &mut Watcher<'_>,
    ) {
        let plan = plan(self.target.mesh(), &self.images, read_set);
        if plan.spans.is_empty() {
            return;
        }
        let known = self.just_read.part_of(&plan);
        let snapshot = self.read(&plan.missing_from(&known), Progress::Images, watcher);
        self.just_read = snapshot.completed_by(&self.just_read);
        let snapshot = snapshot.completed_by(&known);
        self.images.learn(self.target.mesh(), &snapshot);
        self.proofs = snapshot.completed_by(&self.proofs);
    }

    /// Reads a plan, and shows the snapshot after each chip.
    fn read(
        &mut self,
        plan: &Plan,
        progress: fn(ChipCount) -> Progress,
        watcher: &mut Watcher<'_>,
    ) -> Snapshot {
        let lost = self.target.quarantined();
        let Self { target, images, problems, before, ledgers, .. } = self;
        let (ledgers, before) = (Some(&**ledgers), Some(&*before));
        let facts =
            TargetFacts { lost: &lost, ledgers, problems, before, ..TargetFacts::default() };
        let Some(bus) = target.bus() else { return target.read(plan) };
        bus.read_by_chip(plan, &mut |Arrived { mesh, snapshot, chips, fresh }| {
            let inspect = || {
                let snapshot = snapshot.over(watcher.before);
                let state = decode(&snapshot, mesh, images, &facts);
                Inspected { snapshot, state, sampled: Sampled::default() }
            };
            (watcher.see)(&Partly { progress: progress(chips), fresh, inspect: &inspect });
        })
    }

    /// Lets time pass at the session's pace since the last call; nothing on a machine whose time
    /// passes without it.
    ///
    /// # Errors
    /// If the target is gone.
    pub fn keep_pace(&mut self) -> Result<(), AccessError> {
        match &mut self.pacer {
            Some(pacer) => pacer.keep(self.target.as_mut()),
            None if self.target.abilities().stepped_time => self.target.pass(UNPACED_CYCLES),
            // Only checks that the target is still reachable.
            None => self.target.now().map(drop),
        }
    }

    /// Changes the pace; returns false if time passes independently of the session.
    pub fn set_pace(&mut self, pace: Pace) -> bool {
        let paced = self.pacer.is_some();
        if paced {
            self.pacer = Some(Pacer::new(pace));
        }
        paced
    }

    /// Notes that time was stopped on purpose, so that it is not caught up.
    pub fn paused(&mut self) {
        if let Some(pacer) = &mut self.pacer {
            pacer.since = None;
        }
    }
}

/// Reads of a plan what was not just read, and returns all of it.
fn read_once(target: &mut dyn Target, just_read: &mut Snapshot, plan: &Plan) -> Snapshot {
    let known = just_read.part_of(plan);
    let read = target.read(&plan.missing_from(&known));
    *just_read = read.completed_by(just_read);
    read.completed_by(&known)
}

/// Returns what is left of a read set once the images are verified: without what identifies them,
/// unless whole texts are compared.
fn just_proved(read_set: &ReadSet) -> ReadSet {
    ReadSet { proofs: read_set.proofs && read_set.texts, ..read_set.clone() }
}

/// Returns the read set of everything about one core.
fn everything_on(core: CoreId) -> ReadSet {
    let tile = Some((core.chip, core.tile));
    ReadSet { tile, members: Some(core), ..ReadSet::default() }
}

/// The cycles given to an external simulator between two snapshots: it runs at a few MHz at most.
const UNPACED_CYCLES: u64 = 20_000;
