//! Opens the target of `--target` and reads it: the one place where screens and verbs use a
//! machine.

mod captured;
mod clean;
mod pace;
mod stop;
mod watching;
mod work;

use crate::exit::Failure;
use crate::feed::{Inspect, MeshSnapshot, PACE, now_micros};
use crate::run::{Board, KernelStages, MachineOrder};
use crate::traffic::{Meter, Traffic};
use crate::words::cycles as cycles_in_words;
use decode::inspect::ReadSet;
use diagnosis::Diagnosis;
use images::fabric::manifest::FabricManifest;
use images::{Catalog, ImageMap};
use machine::past::{Keeps, KeptPast};
use machine::progress::{Listener, Progress};
use machine::snapshot::AccessError;
use machine::target::{Allow, Mesh, Preview, Quarantined, Target};
use probe::session::{
    Inspected, NO_RUN, OpenError, Partly, Rerun, Session, WATCHED_CYCLES, Watched,
};
use probe::spec::Moment;
use recordings::Replay;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use transport::ttsim::HostCommand;
use watching::Watching;
use work::Work;

/// An open target with its decoder.
pub struct Machine {
    session: Session,
    problems: Vec<String>,
    number: u64,
    listener: Listener,
    budget: Option<u32>,
    meter: Meter,
    work: Work,
    stages: Arc<KernelStages>,
    watching: Watching,
    /// Host time that the last snapshot took.
    took: Duration,
}

/// A snapshot that takes longer is shown at this interval while it is read.
const PARTLY: Duration = Duration::from_millis(200);

/// Where it is this host that executes what is read, snapshots take one part in this of its time,
/// and nobody waits longer than this for the next one.
const PART: u32 = 40;
const MOST_PACE: Duration = Duration::from_millis(1500);

/// What is known of a snapshot before it is read.
struct PartialSnapshot<'a> {
    target: String,
    read_only: bool,
    quarantined: Vec<Quarantined>,
    traffic: Traffic,
    /// When the snapshot before was taken, of which a part is still shown.
    taken_micros: Option<u64>,
    number: u64,
    board: Arc<Board>,
    stages: Arc<KernelStages>,
    verdict: Option<Arc<Diagnosis>>,
    past: Option<KeptPast>,
    problems: &'a [String],
}

impl PartialSnapshot<'_> {
    fn with(&self, partly: &Partly<'_>) -> MeshSnapshot {
        let Inspected { snapshot: memory, mut state } = partly.inspect();
        state.problems.extend(self.problems.iter().cloned());
        MeshSnapshot {
            target: self.target.clone(),
            read_only: self.read_only,
            quarantined: self.quarantined.clone(),
            traffic: self.traffic,
            state,
            memory,
            taken_micros: self.taken_micros.unwrap_or_else(now_micros),
            number: self.number,
            board: Arc::clone(&self.board),
            stages: Arc::clone(&self.stages),
            verdict: self.verdict.clone(),
            past: self.past,
            // A recording is read at once.
            timeline: None,
            reading: Some(partly.progress),
        }
    }
}

/// The target to open, and what is permitted on it.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The `--target` words.
    pub words: String,
    /// Permissions on it.
    pub allow: Allow,
    /// Bus transactions per second that the live view may cost, if stated.
    pub budget: Option<u32>,
    /// Directories of ELFs that may run there.
    pub elfs: Vec<PathBuf>,
    /// Fabric manifests.
    pub manifests: Vec<PathBuf>,
    /// What an emulated mesh keeps of its past.
    pub keeps: Keeps,
}

impl Opening {
    /// Nothing but the words.
    pub fn of_words(words: &str) -> Self {
        Self {
            words: words.to_owned(),
            allow: Allow::default(),
            budget: None,
            elfs: Vec::new(),
            manifests: Vec::new(),
            keeps: Keeps::Nothing,
        }
    }

    /// The same, with what an emulated mesh keeps of its past.
    #[must_use]
    pub fn keeping(&self, keeps: Keeps) -> Self {
        Self { keeps, ..self.clone() }
    }
}

impl Machine {
    /// Opens the target, and tells how far it has come; likewise of the snapshots of
    /// [`Machine::take`].
    ///
    /// # Errors
    /// `Usage` for words that name no target, `Unreachable` for a machine that does not answer.
    pub fn open(opening: &Opening, listener: &Listener) -> Result<Self, Failure> {
        let Opening { words, allow, budget, elfs, manifests, keeps } = opening;
        // Unreadable ELFs are reported before a machine is touched.
        let mut catalog = Catalog::read(elfs).map_err(|error| Failure::Usage(error.to_string()))?;
        let mut given = Vec::new();
        for path in manifests {
            given.push((path.clone(), FabricManifest::read(path).map_err(Failure::Usage)?));
        }
        let host = HostCommand::default();
        let mut machine = match Session::open_telling(words, &host, *allow, listener, *keeps) {
            Ok(session) => Self { budget: *budget, ..Self::over(session, Vec::new()) },
            Err(OpenError::IsRecording(path, moment)) => {
                Self::replay(words, &path, moment, &mut catalog)?
            }
            Err(OpenError::IsRerun(path, moment)) => {
                Self::rerun(words, &path, moment, &mut catalog, listener)?
            }
            Err(OpenError::IsFabricSnapshot(path)) => Self::captured(words, &path, &mut given)?,
            Err(error) => return Err(Failure::of_open(words, &error)),
        };
        machine.listener = listener.clone();
        for path in elfs.iter().flat_map(|folder| FabricManifest::beside(folder)) {
            match FabricManifest::read(&path) {
                Ok(manifest) => given.push((path, manifest)),
                Err(problem) => machine.problems.push(problem),
            }
        }
        for (path, manifest) in given {
            machine.session.add_manifest(&path.display().to_string(), &manifest);
        }
        if !catalog.is_empty() {
            machine.session.add_catalog(catalog);
        }
        Ok(machine)
    }

    fn replay(
        words: &str,
        path: &Path,
        moment: Option<Moment>,
        catalog: &mut Catalog,
    ) -> Result<Self, Failure> {
        let mut replay = opened(words, path, catalog)?;
        let named = moment.map_or(Ok(()), |moment| moment.seek(&mut replay));
        named.map_err(|error| Failure::Usage(format!("{words}: {error}")))?;
        let (images, mut problems) = ImageMap::firmware();
        problems.extend(replay.problems().iter().cloned());
        let run = replay.run().map(Rerun::new);
        let session = Session::with_target(Box::new(replay), images).with_run(run);
        Ok(Self::over(session, problems))
    }

    /// Opens a copy of a recorded mesh as it was at a time: its run is executed again.
    fn rerun(
        words: &str,
        path: &Path,
        moment: Moment,
        catalog: &mut Catalog,
        listener: &Listener,
    ) -> Result<Self, Failure> {
        let failed = |why: String| Failure::Usage(format!("{words}: {why}"));
        let replay = opened(words, path, catalog)?;
        let run = replay.run().ok_or_else(|| failed(NO_RUN.to_owned()))?;
        listener.tell(Progress::Start("the recorded mesh, whose run is executed again"));
        let past = Rerun::new(run).past(&mut |_| true).map_err(failed)?;
        let outside = || {
            let (first, last) = past.cycles();
            let (first, last) = (cycles_in_words(first), cycles_in_words(last));
            failed(format!("its run is from {first} to {last}"))
        };
        let cycles = moment.cycle_in(past.cycles()).ok_or_else(outside)?;
        let copy = past.at(cycles, &mut |_| true).map_err(|error| failed(error.to_string()))?;
        let (images, problems) = ImageMap::firmware();
        Ok(Self::over(Session::with_target(copy, images), problems))
    }

    /// Opens a fabric snapshot; adds its manifest to the given ones if it was found.
    fn captured(
        words: &str,
        path: &Path,
        given: &mut Vec<captured::Given>,
    ) -> Result<Self, Failure> {
        let (target, found) = captured::open(words, path, given)?;
        given.extend(found);
        let (images, problems) = ImageMap::firmware();
        Ok(Self::over(Session::with_target(Box::new(target), images), problems))
    }

    /// Returns a machine over an open session.
    pub fn with_session(session: Session) -> Self {
        Self::over(session, Vec::new())
    }

    fn over(session: Session, problems: Vec<String>) -> Self {
        Self {
            session,
            problems,
            number: 0,
            listener: Listener::default(),
            budget: None,
            meter: Meter::default(),
            work: Work::default(),
            stages: Arc::default(),
            watching: Watching::over(WATCHED_CYCLES),
            took: Duration::ZERO,
        }
    }

    /// The mesh that discovery found.
    pub fn mesh(&mut self) -> Mesh {
        self.session.target().mesh().clone()
    }

    /// What a snapshot would touch.
    pub fn preview(&mut self, read_set: &ReadSet) -> Preview {
        self.session.preview(read_set)
    }

    /// The target with what is known of its images.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The target itself, for commands.
    pub fn target(&mut self) -> &mut dyn Target {
        self.session.target()
    }

    /// The images known to run.
    pub fn images(&mut self) -> &ImageMap {
        self.session.images()
    }

    /// Takes a snapshot of the read set.
    pub fn take(&mut self, read_set: &ReadSet) -> MeshSnapshot {
        let listener = &self.listener;
        let inspected = self.session.inspect_by_chip(read_set, None, &mut |partly| {
            if partly.fresh {
                listener.tell(partly.progress);
            }
        });
        self.finished(inspected)
    }

    /// Judges the mesh by snapshots that are spread over a time, in device cycles.
    ///
    /// # Errors
    /// When the target is gone.
    pub fn diagnose(&mut self, over_cycles: u64) -> Result<Watched, AccessError> {
        self.session.diagnose(over_cycles)
    }

    /// The snapshot of what was inspected, with what else is known of the target.
    fn finished(&mut self, inspected: Inspected) -> MeshSnapshot {
        let mut state = inspected.state;
        state.problems.extend(self.problems.iter().cloned());
        self.number += 1;
        self.work.note_time(state.cycles);
        let taken_micros = now_micros();
        let target = self.session.target();
        Arc::make_mut(&mut self.stages).note(state.party_stages(target.mesh()), state.cycles);
        let total = target.transactions();
        let traffic = Traffic {
            total,
            per_second: self.meter.note(taken_micros, total),
            budget: self.budget.or(target.abilities().budget),
        };
        MeshSnapshot {
            target: target.name().to_owned(),
            traffic,
            quarantined: target.quarantined(),
            read_only: target.abilities().allow.is_nothing(),
            state,
            memory: inspected.snapshot,
            taken_micros,
            number: self.number,
            board: self.work.board(),
            stages: Arc::clone(&self.stages),
            verdict: self.watching.verdict(),
            past: target.kept_past(),
            timeline: self.work.timeline(&mut self.session),
            reading: None,
        }
    }

    /// Takes a snapshot, and publishes it from time to time while it is read.
    fn take_by_chip(
        &mut self,
        read_set: &ReadSet,
        before: Option<&MeshSnapshot>,
        publish: &mut dyn FnMut(MeshSnapshot),
    ) -> MeshSnapshot {
        let board = self.work.board();
        let target = self.session.target();
        let partial = PartialSnapshot {
            target: target.name().to_owned(),
            read_only: target.abilities().allow.is_nothing(),
            quarantined: target.quarantined(),
            traffic: before.map(|before| before.traffic).unwrap_or_default(),
            taken_micros: before.map(|before| before.taken_micros),
            number: self.number + 1,
            board,
            stages: Arc::clone(&self.stages),
            verdict: self.watching.verdict(),
            past: target.kept_past(),
            problems: &self.problems,
        };
        // Until anything is shown, every chip counts.
        let pause = before.map_or(Duration::ZERO, |_| PARTLY);
        let (mut due, mut pending) = (Instant::now() + pause, false);
        let memory = before.map(|before| &before.memory);
        let inspected = self.session.inspect_by_chip(read_set, memory, &mut |partly| {
            let now = Instant::now();
            pending |= partly.fresh;
            if pending && now >= due {
                publish(partial.with(partly));
                // Decoding takes a fifth of the time at most.
                due = Instant::now() + pause.max(now.elapsed() * 4);
                pending = false;
            }
        });
        self.finished(inspected)
    }
}

/// Opens a recording, and adds the ELFs that it has to the catalog.
fn opened(words: &str, path: &Path, catalog: &mut Catalog) -> Result<Replay, Failure> {
    let replay = Replay::open(path).map_err(|error| {
        let text = error.to_string();
        Failure::Usage(if text.contains(words) { text } else { format!("{words}: {text}") })
    })?;
    for file in replay.attachments() {
        catalog.attach(path, &file.name, file.bytes.clone());
    }
    Ok(replay)
}

impl Inspect for Machine {
    fn inspect(
        &mut self,
        read_set: &ReadSet,
        before: Option<&MeshSnapshot>,
        publish: &mut dyn FnMut(MeshSnapshot),
    ) -> Result<MeshSnapshot, AccessError> {
        if let Some(inspected) = self.work.inspect_past(&mut self.session, read_set) {
            return Ok(self.finished(inspected));
        }
        if self.number > 0 && !self.work.carry_on(&mut self.session)? {
            self.session.keep_pace()?;
        }
        self.work.judge_pace(self.session.target())?;
        // The first snapshot is shown as soon as it can be.
        if self.number > 0 {
            let budget = self.budget.or(self.session.target().abilities().budget);
            if let Some((newest, verdict)) = self.watching.turn(&mut self.session, budget) {
                self.work.look(&mut self.session, newest, verdict);
            }
        }
        let began = Instant::now();
        let snapshot = self.take_by_chip(read_set, before, publish);
        self.took = began.elapsed();
        self.work.add(&snapshot.memory, &mut self.session);
        Ok(snapshot)
    }

    fn clear_quarantine(&mut self) {
        self.session.target().clear_quarantine();
    }

    fn order(&mut self, order: MachineOrder) {
        self.work.order(order, &mut self.session);
        self.watching.look_soon();
    }

    fn rests(&mut self) -> bool {
        self.work.rests(&mut self.session) && self.watching.rests(&mut self.session)
    }

    fn pace(&mut self) -> Duration {
        // On other machines, who reads waits for the bus, and costs this host little.
        let costs = self.session.target().abilities().stepped_time && !self.work.needs_snapshots();
        if costs { (self.took * (PART - 1)).clamp(PACE, MOST_PACE) } else { PACE }
    }

    fn wait(&mut self) -> Result<(), AccessError> {
        self.session.keep_pace()
    }

    fn tear_down(&mut self) {
        self.work.tear_down(&mut self.session);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::feed::Feed;
    use crate::player::PlayOrder;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    /// Counts the snapshots of a machine, and how often it rested.
    struct Counted(Machine, Arc<[AtomicU32; 2]>);

    impl Inspect for Counted {
        fn inspect(
            &mut self,
            read_set: &ReadSet,
            before: Option<&MeshSnapshot>,
            publish: &mut dyn FnMut(MeshSnapshot),
        ) -> Result<MeshSnapshot, AccessError> {
            self.1[0].fetch_add(1, Relaxed);
            self.0.inspect(read_set, before, publish)
        }

        fn clear_quarantine(&mut self) {}

        fn order(&mut self, order: MachineOrder) {
            self.0.order(order);
        }

        fn rests(&mut self) -> bool {
            let rests = self.0.rests();
            self.1[1].fetch_add(rests.into(), Relaxed);
            rests
        }

        fn tear_down(&mut self) {}
    }

    #[test]
    fn a_recording_that_stands_is_read_when_something_is_requested() {
        let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../../recordings/library");
        let opening = Opening::of_words(&format!("{library}/n300_router_stuck.mcap"));
        let counts: Arc<[AtomicU32; 2]> = Arc::default();
        let [taken, rested] = &*counts;
        let counted = Arc::clone(&counts);
        let open =
            move |listener: &Listener| Ok(Counted(Machine::open(&opening, listener)?, counted));
        let feed = Feed::start(open).unwrap();
        let stands = |times: u32| {
            let began = Instant::now();
            while rested.load(Relaxed) < times {
                assert!(began.elapsed() < Duration::from_mins(1), "{counts:?}");
                std::thread::sleep(Duration::from_millis(10));
            }
            let read = taken.load(Relaxed);
            std::thread::sleep(Duration::from_millis(500));
            assert_eq!((taken.load(Relaxed), rested.load(Relaxed)), (read, times));
            read
        };
        let opened = stands(1);
        feed.read(ReadSet { fabric: true, ..ReadSet::default() });
        let asked = stands(2);
        feed.order(MachineOrder::Play(PlayOrder::Step(-1)));
        let moved = stands(3);
        assert!(opened < asked && asked < moved, "{opened} {asked} {moved}");
        feed.end(false);
    }
}
