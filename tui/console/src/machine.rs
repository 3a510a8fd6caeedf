//! Opens the target of `--target` and reads it: the one place where screens and verbs use a
//! machine.

mod clean;
mod pace;
mod stop;
mod watching;
mod work;

use crate::exit::Failure;
use crate::feed::{Inspect, MeshSnapshot, PACE};
use crate::host_time::now_micros;
use crate::run::{KernelStages, MachineOrder};
use crate::traffic::{Meter, Traffic};
use decode::inspect::ReadSet;
use images::ImageMap;
use machine::past::Keeps;
use machine::progress::Listener;
use machine::snapshot::AccessError;
use machine::target::{Mesh, Preview, Target};
use probe::session::{Inspected, OpenOptions, PartLimits, Parts, Session, WATCHED_CYCLES, Watched};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use transport::ttsim::HostCommand;
use watching::Watching;
use work::Work;

/// An open target with its decoder.
pub struct Machine {
    session: Session,
    number: u64,
    listener: Listener,
    budget: Option<u32>,
    meter: Meter,
    work: Work,
    stages: Arc<KernelStages>,
    watching: Watching,
    /// The snapshot of the screens that is read in parts.
    parts: Parts,
    /// Host time that the last snapshot took.
    took: Duration,
}

/// A snapshot that takes longer is shown at this interval while it is read.
const PARTLY: Duration = Duration::from_millis(200);

/// A part of a snapshot may take so long.
const PART_TIME: Duration = Duration::from_secs(1);

/// Where it is this host that executes what is read, snapshots take one part in this of its time,
/// and nobody waits longer than this for the next one.
const PART: u32 = 80;
const MOST_PACE: Duration = Duration::from_secs(2);

/// The target to open.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// The `--target` words.
    pub words: String,
    /// What it is opened with.
    pub options: OpenOptions,
    /// Bus transactions per second that the live view may cost, if stated.
    pub budget: Option<u32>,
}

impl Opening {
    /// Nothing but the words.
    pub fn of_words(words: &str) -> Self {
        Self { words: words.to_owned(), ..Self::default() }
    }

    /// The same, with what an emulated mesh keeps of its past.
    #[must_use]
    pub fn keeping(&self, keeps: Keeps) -> Self {
        let options = OpenOptions { keeps, ..self.options.clone() };
        Self { options, ..self.clone() }
    }
}

impl Machine {
    /// Opens the target, and tells how far it has come; likewise of the snapshots of
    /// [`Machine::take`].
    ///
    /// # Errors
    /// `Usage` for words that name no target, `Unreachable` for a machine that does not answer.
    pub fn open(opening: &Opening, listener: &Listener) -> Result<Self, Failure> {
        let Opening { words, options, budget } = opening;
        let session = Session::open_with(words, &HostCommand::default(), options, listener);
        let session = session.map_err(|error| Failure::of_open(words, &error))?;
        let budget = budget.filter(|_| session.file().is_none());
        Ok(Self { budget, listener: listener.clone(), ..Self::with_session(session) })
    }

    /// Returns a machine over an open session.
    pub fn with_session(session: Session) -> Self {
        Self {
            session,
            number: 0,
            listener: Listener::default(),
            budget: None,
            meter: Meter::default(),
            work: Work::default(),
            stages: Arc::default(),
            watching: Watching::over(WATCHED_CYCLES),
            parts: Parts::default(),
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
        let watched = self.session.diagnose_telling(over_cycles, &self.listener)?;
        self.watching.note(Some(&watched));
        Ok(watched)
    }

    /// What is known of a snapshot before it is read.
    fn unread(&mut self, number: u64) -> MeshSnapshot {
        let board = self.work.board();
        let target = self.session.target();
        MeshSnapshot {
            target: target.name().to_owned(),
            read_only: target.abilities().allow.is_nothing(),
            quarantined: target.quarantined(),
            number,
            board,
            stages: Arc::clone(&self.stages),
            verdict: self.watching.verdict(),
            seen: self.watching.seen(),
            seen_micros: self.watching.seen_micros(),
            past: target.run().and_then(|run| run.kept()),
            ..MeshSnapshot::default()
        }
    }

    /// The snapshot of what was inspected, with what else is known of the target.
    fn finished(&mut self, inspected: Inspected) -> MeshSnapshot {
        let state = inspected.state;
        self.number += 1;
        self.work.note_time(state.cycles);
        let taken_micros = now_micros();
        let target = self.session.target();
        Arc::make_mut(&mut self.stages).note(state.party_stages(target.mesh()), state.cycles);
        MeshSnapshot {
            traffic: self.traffic(),
            state,
            memory: inspected.snapshot,
            taken_micros,
            timeline: self.work.timeline(&mut self.session),
            ..self.unread(self.number)
        }
    }

    /// What a part of a snapshot may cost, so that the screen shows something new every few seconds:
    /// a second's part of the budget that the user gave, and as much time as the screens' own snapshot
    /// takes.
    fn part(&self) -> PartLimits {
        let transactions = self.budget.map_or(u64::MAX, u64::from);
        PartLimits { transactions, time: self.took.max(PART_TIME) }
    }

    /// Takes the next part of a snapshot.
    fn take_part(&mut self, read_set: &ReadSet, before: Option<&MeshSnapshot>) -> MeshSnapshot {
        // The parts of the verdict go round all chips.
        let mut read_set = read_set.clone();
        if read_set.tile.is_none() {
            read_set.compute.clear();
        }
        let (most, none) = (self.part(), BTreeSet::new());
        let memory = (before.map(|before| &before.memory), &none);
        let inspected = self.session.inspect_part(&mut self.parts, &read_set, memory, most);
        let reading = self.parts.progress();
        if reading.is_none() {
            return self.finished(inspected);
        }
        let Inspected { snapshot: memory, state, .. } = inspected;
        let traffic = self.traffic();
        let unread = self.unread(self.number + 1);
        MeshSnapshot { state, memory, taken_micros: now_micros(), reading, traffic, ..unread }
    }

    /// The bus transactions up to now.
    fn traffic(&mut self) -> Traffic {
        let target = self.session.target();
        let (total, budget) = (target.transactions(), self.budget.or(target.abilities().budget));
        Traffic { total, per_second: self.meter.note(now_micros(), total), budget }
    }

    /// Takes a snapshot, and publishes it from time to time while it is read.
    fn take_by_chip(
        &mut self,
        read_set: &ReadSet,
        before: Option<&MeshSnapshot>,
        publish: &mut dyn FnMut(MeshSnapshot),
    ) -> MeshSnapshot {
        let traffic = before.map(|before| before.traffic).unwrap_or_default();
        let unread = MeshSnapshot { traffic, ..self.unread(self.number + 1) };
        // Of the snapshot before a part is still shown.
        let taken = before.map(|before| before.taken_micros);
        // Until anything is shown, every chip counts.
        let pause = before.map_or(Duration::ZERO, |_| PARTLY);
        let (mut due, mut pending) = (Instant::now() + pause, false);
        let memory = before.map(|before| &before.memory);
        let inspected = self.session.inspect_by_chip(read_set, memory, &mut |partly| {
            let now = Instant::now();
            pending |= partly.fresh;
            if pending && now >= due {
                let Inspected { snapshot: memory, state, .. } = partly.inspect();
                let taken_micros = taken.unwrap_or_else(now_micros);
                let reading = Some(partly.progress);
                publish(MeshSnapshot { state, memory, taken_micros, reading, ..unread.clone() });
                // Decoding takes a fifth of the time at most.
                due = Instant::now() + pause.max(now.elapsed() * 4);
                pending = false;
            }
        });
        self.finished(inspected)
    }
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
        self.watching.note_pause(self.work.board().paused);
        // The first snapshot is shown as soon as it can be.
        if self.number > 0 {
            let budget = self.budget.or(self.session.target().abilities().budget);
            let part = self.part();
            let turn = self.watching.turn(&mut self.session, (budget, part));
            if let Some((newest, verdict)) = turn {
                self.work.look(&mut self.session, newest, verdict);
            }
        }
        let began = Instant::now();
        let snapshot = match self.budget {
            Some(_) => self.take_part(read_set, before),
            None => self.take_by_chip(read_set, before, publish),
        };
        self.took = began.elapsed();
        if snapshot.reading.is_some() {
            return Ok(snapshot);
        }
        for chip in &read_set.compute {
            self.watching.see_chip(*chip, &snapshot.state, snapshot.taken_micros);
        }
        self.work.add(&snapshot.memory, &mut self.session);
        Ok(snapshot)
    }

    fn clear_quarantine(&mut self) {
        if let Some(quarantine) = self.session.target().quarantine() {
            quarantine.clear();
        }
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
