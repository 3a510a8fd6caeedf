//! An open target with the state needed to inspect it repeatedly.

use crate::spec::{Simulator, SpecError, TargetSpec};
use access::AuditLog;
use access::bar_target::BarTarget;
use decode::fabric::manifest::FabricManifest;
use decode::images::{Catalog, ImageMap, Library};
use decode::inspect::{ReadSet, cores, decode, plan, plan_proofs, plan_tables, plan_texts};
use decode::state::{LedgerState, MeshState};
use layouts::CoreId;
use machine::bar::Bar;
use machine::clients::ServedHistory;
use machine::patience::Deadlines;
use machine::progress::{ChipCount, Listener, Progress};
use machine::snapshot::{AccessError, Plan, Snapshot};
use machine::target::{Abilities, Allow, Arrived, Mesh, Preview, Quarantined, Target};
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};
use transport::hosts::JoinedBar;
use transport::silicon::{self, DeviceError, SiliconBar};
use transport::socket_bar::SocketBar;
use transport::ttsim::{self, HostCommand};
use transport::wire::Welcome;
use workloads::scene::external::External;
use workloads::scene::firmware::allowed;
use workloads::scene::{DEFAULT_PACE, Pace, SceneError};

/// The number of snapshots between two reads of the build ids, which detect newly loaded images.
const VERIFY_EVERY: u64 = 64;

/// Why a target cannot be opened; each variant has its own exit code.
#[derive(Debug)]
pub enum OpenError {
    /// The words name no target.
    Spec(SpecError),
    /// The scene cannot be built.
    Scene(SceneError),
    /// The machine cannot be reached.
    Unreachable {
        /// The words that name it.
        target: String,
        /// The reason.
        reason: AccessError,
    },
    /// The driver's device cannot be opened.
    Device(DeviceError),
    /// The file is not a library of a Wormhole simulator.
    Library {
        /// The words that name it.
        target: String,
        /// What it is, or what it lacks.
        why: String,
    },
    /// The target is a recording, which the crate `recordings` opens.
    IsRecording(std::path::PathBuf),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spec(error) => write!(f, "{error}"),
            Self::Scene(error) => write!(f, "{error}"),
            Self::Unreachable { target, reason } => write!(f, "{target}: {reason}"),
            Self::Device(error) => write!(f, "{error}"),
            Self::Library { target, why } => write!(f, "{target}: {why}"),
            Self::IsRecording(path) => write!(f, "{} is a recording", path.display()),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<SpecError> for OpenError {
    fn from(error: SpecError) -> Self {
        Self::Spec(error)
    }
}

impl From<SceneError> for OpenError {
    fn from(error: SceneError) -> Self {
        Self::Scene(error)
    }
}

/// One snapshot and the state decoded from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspected {
    /// The bytes.
    pub snapshot: Snapshot,
    /// The decoded state.
    pub state: MeshState,
}

/// A snapshot that is still being read.
pub struct Partly<'a> {
    /// How far it has come.
    pub progress: Progress,
    inspect: &'a dyn Fn() -> Inspected,
}

impl Partly<'_> {
    /// Decodes what was read so far; tiles that were not read yet are as they were before.
    pub fn inspect(&self) -> Inspected {
        (self.inspect)()
    }
}

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
    before: ServedHistory,
    pacer: Option<Pacer>,
    snapshots: u64,
    last: ReadSet,
    /// The credits of links in the previous snapshot.
    ledgers: Vec<LedgerState>,
}

impl Session {
    /// Opens the target that the words name, with these permissions. A mesh that this process
    /// emulates allows everything. Recordings are not opened here.
    ///
    /// # Errors
    /// The reason why it cannot be opened.
    pub fn open(words: &str, host: &HostCommand, allow: Allow) -> Result<Self, OpenError> {
        Self::open_telling(words, host, allow, &Listener::default())
    }

    /// Opens the target as [`Session::open`] does, and tells how far it has come.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn open_telling(
        words: &str,
        host: &HostCommand,
        allow: Allow,
        listener: &Listener,
    ) -> Result<Self, OpenError> {
        let unreachable = |reason| OpenError::Unreachable { target: words.to_owned(), reason };
        let no_socket = || unreachable(AccessError::Unreachable("no socket is named".to_owned()));
        match TargetSpec::parse(words)? {
            TargetSpec::Recording(path) => Err(OpenError::IsRecording(path)),
            TargetSpec::Emulator(scene) => {
                let (mut images, problems) = ImageMap::firmware();
                let mut target = scene.build_telling(&mut images, listener)?;
                target.rename(words);
                // Bringing up the mesh is not a user's command, so auditing starts here.
                target.keep_audit(AuditLog::from_environment(words));
                let pacer = Some(Pacer::new(scene.pace));
                Ok(Self { problems, pacer, ..Self::with_target(Box::new(target), images) })
            }
            TargetSpec::Ttsim(simulator) => {
                // What cannot be started, or must not be, is told before anything is opened.
                let external = simulator.external()?;
                external.as_ref().map(|_| allowed(allow)).transpose()?;
                let open = || over_ttsim(words, &simulator.library, host, (allow, listener));
                Self::open_external(words, None, open, (external, listener))
            }
            TargetSpec::Sockets(paths) => {
                // A client without permissions reads only, next to the one with write access.
                let writes = !allow.is_nothing();
                listener.tell(Progress::Start("the server at the socket"));
                let bars = paths.iter().map(|path| SocketBar::connect(path, writes));
                let bars: Vec<_> = bars.collect::<Result<_, _>>().map_err(unreachable)?;
                let (first, others) = bars.split_first().ok_or_else(no_socket)?;
                let Welcome { abilities, before, .. } = first.welcome().clone();
                if others.iter().any(|other| other.welcome().abilities != abilities) {
                    let why = "the sockets serve machines of different kinds";
                    return Err(unreachable(AccessError::Refused(why.into())));
                }
                let pacer = abilities.paced.then(|| Pacer::new(DEFAULT_PACE));
                let open = || {
                    let mut bars: Vec<Box<dyn Bar>> =
                        bars.into_iter().map(|bar| Box::new(bar) as Box<dyn Bar>).collect();
                    let bar = match bars.pop() {
                        Some(only) if bars.is_empty() => only,
                        last => {
                            bars.extend(last);
                            Box::new(JoinedBar::new(bars).map_err(unreachable)?)
                        }
                    };
                    over_bar(words, bar, abilities, (allow, listener)).map_err(unreachable)
                };
                Ok(Self { before, ..Self::open_external(words, pacer, open, (None, listener))? })
            }
            TargetSpec::Silicon(which) => {
                let open = || {
                    listener.tell(Progress::Start("the driver's devices"));
                    let bar = Box::new(SiliconBar::open(&which).map_err(OpenError::Device)?);
                    let abilities = Abilities { allow, ..silicon::abilities() };
                    let patience = silicon::PATIENCE;
                    BarTarget::open_telling(words, bar, abilities, patience, listener)
                        .map_err(unreachable)
                };
                Self::open_external(words, None, open, (None, listener))
            }
        }
    }

    /// Opens a machine outside this process, and starts on it what is given.
    fn open_external(
        words: &str,
        pacer: Option<Pacer>,
        open: impl FnOnce() -> Result<BarTarget, OpenError>,
        (external, listener): (Option<External>, &Listener),
    ) -> Result<Self, OpenError> {
        let mut target = open()?;
        target.keep_audit(AuditLog::from_environment(words));
        let (mut images, problems) = ImageMap::firmware();
        target.tell_boot(listener);
        external.map(|external| external.start(&mut target, &mut images)).transpose()?;
        target.tell_boot(&Listener::default());
        Ok(Self { problems, pacer, ..Self::with_target(Box::new(target), images) })
    }

    /// Returns a session over an open target.
    pub fn with_target(target: Box<dyn Target>, images: ImageMap) -> Self {
        Self {
            target,
            images,
            library: None,
            problems: Vec::new(),
            before: ServedHistory::default(),
            pacer: None,
            snapshots: 0,
            last: ReadSet::default(),
            ledgers: Vec::new(),
        }
    }

    /// Adds the images of these directories to those that may run.
    pub fn add_catalog(&mut self, catalog: Catalog) {
        self.library = Some(Library::new(catalog));
        self.snapshots = 0;
    }

    /// Adds the routers that a fabric manifest describes.
    pub fn add_manifest(&mut self, file: &str, manifest: &FabricManifest) {
        self.images.add_manifest(file, manifest, self.target.mesh());
        self.snapshots = 0;
    }

    /// Returns the target.
    pub fn target(&mut self) -> &mut dyn Target {
        self.target.as_mut()
    }

    /// Returns the map of the images known to run.
    pub fn images(&mut self) -> &mut ImageMap {
        &mut self.images
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
    /// not read yet are shown as they were in the snapshot before, if one is given.
    pub fn inspect_by_chip(
        &mut self,
        read_set: &ReadSet,
        before: Option<&Snapshot>,
        see: &mut dyn FnMut(&Partly<'_>),
    ) -> Inspected {
        let mut watcher = Watcher { before, see };
        let before = self.target.transactions();
        let again = self.snapshots.is_multiple_of(VERIFY_EVERY);
        // Extra ranges do not affect the images.
        let images = ReadSet { spans: Vec::new(), ..read_set.clone() };
        if again || images != self.last {
            self.verify(read_set, again, &mut watcher);
            self.last = images;
        }
        self.snapshots += 1;
        let plan = plan(self.target.mesh(), &self.images, read_set);
        let snapshot = self.read(&plan, Progress::Snapshot, &mut watcher);
        self.images.learn(self.target.mesh(), &snapshot);
        let mut state = decode(&snapshot, self.target.mesh(), &self.images);
        // Where nothing was read, nothing says when the look began.
        if snapshot.pieces.is_empty()
            && let Ok(now) = self.target.now()
        {
            state.cycles = now;
        }
        without_lost_gateways(&mut state, self.target.mesh(), &self.target.quarantined());
        let ledgers = state.fabric.ledgers.clone();
        state.fabric.correct_verdicts(&self.ledgers);
        self.ledgers = ledgers;
        // The cost of verification is part of the snapshot.
        let cost = self.target.transactions().saturating_sub(before);
        state.transactions = state.transactions.max(cost);
        state.problems.extend(self.problems.iter().cloned());
        state.problems.extend(self.library.iter().flat_map(Library::problems).cloned());
        state.problems.extend(self.target.remarks());
        state.before.clone_from(&self.before);
        for (chip, holder) in self.target.holders() {
            if let Some(state) = state.chips.iter_mut().find(|state| state.chip.id == chip) {
                state.holders.push(holder);
            }
        }
        Inspected { snapshot, state }
    }

    /// Returns what the next snapshot would touch, without touching it. Reads that depend on its
    /// first results, such as those of a newly recognised image, are not included.
    pub fn preview(&mut self, read_set: &ReadSet) -> Preview {
        let (target, images) = (self.target.as_mut(), &self.images);
        let cores = cores(target.mesh(), images, read_set);
        let search = self.library.as_mut().map(|library| library.first_plan(images, &cores));
        let plan_texts = |_: &Mesh, images: &_, read_set: &_| plan_texts(images, read_set, true);
        let plans = [plan_proofs, plan_texts, plan_tables, plan];
        let plans = plans.map(|plan| plan(target.mesh(), images, read_set));
        let plans: Vec<_> = search.into_iter().chain(plans).collect();
        target.preview(&plans)
    }

    /// Verifies what runs on a core, with few reads.
    pub fn verify_on(&mut self, core: CoreId) {
        self.verify(&everything_on(core), true, &mut Watcher { before: None, see: &mut |_| () });
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
        // The snapshot itself reads whole texts.
        let without_texts = ReadSet { texts: false, ..read_set.clone() };
        self.learn(plan_proofs, &without_texts, watcher);
        if let Some(library) = &mut self.library {
            let cores = cores(self.target.mesh(), &self.images, read_set);
            library.search(self.target.as_mut(), &mut self.images, &cores);
        }
        // The texts' images are known only now.
        if read_set.members.is_some() {
            let texts = |_: &Mesh, images: &_, read_set: &_| plan_texts(images, read_set, again);
            self.learn(texts, read_set, watcher);
        }
        self.learn(plan_tables, read_set, watcher);
    }

    fn learn(
        &mut self,
        plan: impl Fn(&Mesh, &ImageMap, &ReadSet) -> Plan,
        read_set: &ReadSet,
        watcher: &mut Watcher<'_>,
    ) {
        let plan = plan(self.target.mesh(), &self.images, read_set);
        let snapshot = self.read(&plan, Progress::Images, watcher);
        self.images.learn(self.target.mesh(), &snapshot);
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
        target.read_by_chip(plan, &mut |Arrived { mesh, snapshot, chips }| {
            let inspect = || {
                let snapshot = snapshot.over(watcher.before);
                let mut state = decode(&snapshot, mesh, images);
                without_lost_gateways(&mut state, mesh, &lost);
                state.fabric.correct_verdicts(ledgers);
                state.problems.extend(problems.iter().cloned());
                state.before.clone_from(before);
                Inspected { snapshot, state }
            };
            (watcher.see)(&Partly { progress: progress(chips), inspect: &inspect });
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

/// Drops gateways in quarantine, which are not used, whatever the state of their links.
fn without_lost_gateways(state: &mut MeshState, mesh: &Mesh, lost: &[Quarantined]) {
    for lost in lost {
        let far = lost.towards.and_then(|far| state.chips.iter_mut().find(|c| c.chip.id == far));
        if let (Some(far), Some(tile)) = (far, lost.tile) {
            far.gateways.retain(|end| mesh.layout().eth_channel(end.channel) != Some(tile));
        }
    }
}

/// Returns the read set of everything about one core.
fn everything_on(core: CoreId) -> ReadSet {
    let tile = Some((core.chip, core.tile));
    ReadSet { tile, members: Some(core), ..ReadSet::default() }
}

/// The cycles given to an external simulator between two snapshots: it runs at a few MHz at most.
const UNPACED_CYCLES: u64 = 20_000;

/// Turns host time into emulated time.
#[derive(Debug)]
struct Pacer {
    pace: Pace,
    since: Option<(Instant, u64)>,
}

impl Pacer {
    /// The cycles between two snapshots at pace `max`.
    const MAX_CYCLES: u64 = 10_000_000;
    /// The most host time that is caught up.
    const MAX_BEHIND: Duration = Duration::from_millis(250);

    fn new(pace: Pace) -> Self {
        Self { pace, since: None }
    }

    /// Lets time pass up to the pace. Cycles that reads cost count as passed.
    fn keep(&mut self, target: &mut dyn Target) -> Result<(), AccessError> {
        let now = target.now()?;
        let Pace::CyclesPerSecond(pace) = self.pace else { return target.pass(Self::MAX_CYCLES) };
        let (then, cycles) = *self.since.get_or_insert((Instant::now(), now));
        let elapsed = then.elapsed().min(Self::MAX_BEHIND);
        let due = cycles + (elapsed.as_secs_f64() * pace as f64) as u64;
        target.pass(due.saturating_sub(now))?;
        self.since = Some((Instant::now(), due.max(now)));
        Ok(())
    }
}

/// Opens the vendor's simulator for a server: prepared as its words say, with what it supports.
///
/// # Errors
/// Why it cannot be opened or prepared.
pub fn served_simulator(
    words: &str,
    simulator: &Simulator,
    host: &HostCommand,
    listener: &Listener,
) -> Result<(Box<dyn Bar>, Abilities), OpenError> {
    let external = simulator.external()?;
    let mut target = over_ttsim(words, &simulator.library, host, (Allow::ALL, listener))?;
    target.tell_boot(listener);
    if let Some(external) = external {
        let (mut images, _) = ImageMap::firmware();
        external.start(&mut target, &mut images)?;
    }
    let abilities = Abilities { allow: Allow::default(), ..target.abilities().clone() };
    Ok((target.into_bar(), abilities))
}

fn over_ttsim(
    words: &str,
    library: &Path,
    host: &HostCommand,
    (allow, listener): (Allow, &Listener),
) -> Result<BarTarget, OpenError> {
    let target = || words.to_owned();
    let unreachable = |reason| OpenError::Unreachable { target: target(), reason };
    let unusable = |reason| match reason {
        AccessError::DeviceGone(why) => OpenError::Library { target: target(), why },
        other => unreachable(other),
    };
    listener.tell(Progress::Start("the library and its process"));
    let bar = ttsim::open(library, host).map_err(unusable)?;
    let abilities = bar.welcome().abilities.clone();
    over_bar(words, Box::new(bar), abilities, (allow, listener)).map_err(unreachable)
}

/// Opens a target with the user's permissions, over a machine outside this process.
fn over_bar(
    words: &str,
    bar: Box<dyn Bar>,
    abilities: Abilities,
    (allow, listener): (Allow, &Listener),
) -> Result<BarTarget, AccessError> {
    let abilities = Abilities { allow, ..abilities };
    BarTarget::open_telling(words, bar, abilities, Deadlines::default(), listener)
}
