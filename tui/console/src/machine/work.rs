//! Host actions of the user: one run or teardown at a time, advanced between two snapshots.

mod flight;
mod follow;
mod hold;
mod launched;
mod replaying;

use super::clean::Cleaning;
use super::pace::RequestedPace;
use super::stop::StoppingKernels;
use crate::exit::Failure;
use crate::halted::HeldCores;
use crate::player::{Player, Timeline};
use crate::run::{Board, Job, MachineOrder, Sheet, SheetState, Sweep, SweepTurn, may_change};
use crate::words;
use collectives::{CleanSettings, Stage};
use decode::inspect::ReadSet;
use flight::{Flight, OrderNote};
use hold::Hold;
use launched::Launched;
use machine::fault::Fault;
use machine::snapshot::AccessError;
use machine::target::{Allow, Target};
use probe::session::{Inspected, Session};
use replaying::Replaying;
use std::sync::Arc;
use std::time::{Duration, Instant};
use workloads::scene::Pace;

/// Cycles between two polls.
const STEP_CYCLES: u64 = 20_000;
/// Limit of the host's time between two snapshots for work that is not followed.
const SLICE: Duration = Duration::from_millis(70);
/// Time limit of a teardown at the end of the program.
const LAST_PATIENCE: Duration = Duration::from_secs(10);

/// What is running.
#[derive(Default)]
enum MachineTask {
    #[default]
    None,
    Run(Box<Job>),
    Launch(Box<Launched>),
    Replay(Box<Replaying>),
    Stop(Box<StoppingKernels>),
    Clean(Box<Cleaning>),
}

/// Host actions and their results.
#[derive(Default)]
pub(super) struct Work {
    task: MachineTask,
    hold: Hold,
    board: Arc<Board>,
    held: HeldCores,
    player: Player,
    flight: Flight,
    /// The requested pace.
    pace: Option<RequestedPace>,
    /// When the followed stage began: host time and target's time.
    since: Option<(Instant, u64)>,
    /// The followed stage.
    followed: Option<Stage>,
}

impl Work {
    /// The results.
    pub(super) fn board(&mut self) -> Arc<Board> {
        let launched = matches!(self.task, MachineTask::Launch(_));
        if self.board.launched != launched {
            self.board_mut().launched = launched;
        }
        let logged = self.flight.take_logged();
        if !logged.is_empty() {
            self.board_mut().log(logged);
        }
        Arc::clone(&self.board)
    }

    /// Returns the snapshot of the past that is visited, if one is.
    pub(super) fn inspect_past(
        &mut self,
        session: &mut Session,
        read_set: &ReadSet,
    ) -> Option<Inspected> {
        if let Some(found) = self.player.found() {
            self.board_mut().say(found);
        }
        match self.player.inspect(session, read_set)? {
            Ok(inspected) => Some(inspected),
            Err(why) => {
                self.board_mut().say(why);
                None
            }
        }
    }

    /// Notes the time of a snapshot.
    pub(super) fn note_time(&mut self, cycles: u64) {
        self.player.note(cycles);
    }

    /// The time line of a recording, or of the past.
    pub(super) fn timeline(&mut self, session: &mut Session) -> Option<Timeline> {
        self.player.timeline(session)
    }

    /// Whether a moment of the past stands on screen.
    pub(super) fn rests(&self, session: &mut Session) -> bool {
        self.player.rests(session)
    }

    /// Whether what goes on needs a snapshot as soon as it can be had.
    pub(super) fn needs_snapshots(&self) -> bool {
        let shown = !self.held.is_empty() || self.board.recording.is_some();
        let past = self.player.visited().is_some() || self.player.is_moving();
        shown || past || self.is_busy()
    }

    /// Whether anything is running.
    pub(super) fn is_busy(&self) -> bool {
        !matches!((&self.task, &self.hold), (MachineTask::None, Hold::None | Hold::Rests))
    }

    fn check_idle(&self) -> Result<(), Failure> {
        let busy = || Failure::Refused("something runs already; :stop ends it".into());
        if self.is_busy() { Err(busy()) } else { Ok(()) }
    }

    /// Whether the kernel of `:launch` runs, which takes no time of its own.
    fn only_watches(&self) -> bool {
        matches!(&self.task, MachineTask::Launch(launched) if launched.is_watched())
    }

    fn board_mut(&mut self) -> &mut Board {
        Arc::make_mut(&mut self.board)
    }

    /// Starts a host action, or reports why not.
    pub(super) fn order(&mut self, order: MachineOrder, session: &mut Session) {
        let visits = matches!(
            order,
            MachineOrder::Play(_) | MachineOrder::Record(_) | MachineOrder::Bundle(_)
        );
        let note = OrderNote::of(&order);
        let done = match order {
            _ if self.player.visited().is_some() && !visits && order != MachineOrder::Stop => {
                Err(Failure::Refused(
                    "the past is on screen and cannot be changed: Space returns to the present"
                        .into(),
                ))
            }
            MachineOrder::Run(sweep) => self.begin(*sweep, session),
            MachineOrder::Schedule(sweep) => self.schedule(&sweep, session),
            MachineOrder::Launch(order) => self.launch(*order, session),
            MachineOrder::Replay(order) => self.replay(&order, session),
            MachineOrder::Stop if self.player.cancel_search() => Ok(()),
            MachineOrder::Stop => {
                // A core that is halted could not end its kernel.
                self.release(session);
                self.stop(session)
            }
            MachineOrder::Pause => self.pause(session),
            MachineOrder::Resume => self.resume(session),
            MachineOrder::Step(order) => self.step(&order, session),
            MachineOrder::Clean(settings) => self.clean(settings, session),
            MachineOrder::Fault(fault) => self.disturb(fault, session.target()),
            MachineOrder::Play(order) => match self.player.order(order, session) {
                Ok(notice) => {
                    if let Some(notice) = notice {
                        self.board_mut().say(notice);
                    }
                    Ok(())
                }
                Err(why) => Err(Failure::Usage(why)),
            },
            MachineOrder::Pace(pace) => self.keep(pace, session),
            MachineOrder::Record(file) => self.record(file, session),
            MachineOrder::Bundle(archive) => self.bundle(archive, session),
            MachineOrder::Core(core, command) => {
                let notice = self.held.order(core, &command, session);
                self.show_held();
                notice.map(|notice| notice.into_iter().for_each(|it| self.board_mut().say(it)))
            }
        };
        if done.is_ok() {
            self.flight.note(note, self.player.visited());
        }
        if let Err(failure) = done {
            self.board_mut().say(failure.to_string());
            self.board_mut().retries = matches!(failure, Failure::Unreachable(_))
                && !session.target().quarantined().is_empty();
        }
    }

    /// Shows the cores under control as they are now.
    fn show_held(&mut self) {
        let held = self.held.shown();
        if self.board.held != held {
            self.board_mut().held = held;
        }
    }

    /// Lets all cores go on.
    fn release(&mut self, session: &mut Session) {
        for failed in self.held.release(session) {
            self.board_mut().say(failed);
        }
        self.show_held();
    }

    /// Looks at the cores under control.
    fn poll_held(&mut self, session: &mut Session) {
        if !self.held.is_empty() {
            for notice in self.held.poll(session) {
                self.board_mut().say(notice);
            }
            self.show_held();
        }
    }

    fn begin(&mut self, sweep: Sweep, session: &mut Session) -> Result<(), Failure> {
        self.check_idle()?;
        let (target, images) = session.parts();
        let mut job = Job::new(sweep, target, images)?;
        job.refuse(target, images).map_err(|failure| match failure {
            Failure::Refused(why) => Failure::Refused(format!(
                "{why} (:stop ends a ring ping and its workers; in emulator:<mesh>,run=idle nothing runs)"
            )),
            other => other,
        })?;
        let scheduled = job.scheduled(target.mesh());
        let title = scheduled.as_ref().map(|it| it.title.clone()).unwrap_or_default();
        if let Some(scheduled) = scheduled {
            self.board_mut().schedule(scheduled);
        }
        let state = SheetState::Going(None);
        self.board_mut().sheets.push(Sheet { title, rows: Vec::new(), state });
        self.task = MachineTask::Run(Box::new(job));
        Ok(())
    }

    /// Shows what the ranks of a sweep would hand to each other.
    fn schedule(&mut self, sweep: &Sweep, session: &mut Session) -> Result<(), Failure> {
        let (target, images) = session.parts();
        if let Some(scheduled) = sweep.scheduled(target, images).map_err(Failure::Usage)? {
            self.board_mut().schedule(scheduled);
        }
        Ok(())
    }

    fn stop(&mut self, session: &mut Session) -> Result<(), Failure> {
        self.let_go(session)?;
        match &mut self.task {
            MachineTask::Run(job) => {
                job.cancel();
                self.set(SheetState::Stopping);
            }
            MachineTask::Launch(launched) => {
                let notice = launched.cancel();
                self.board_mut().say(notice);
            }
            MachineTask::Replay(replaying) => {
                let notice = replaying.cancel(session);
                self.board_mut().say(notice);
            }
            MachineTask::Stop(stop) => {
                let begins = stop.begins();
                self.board_mut().say(format!("{begins} already"));
            }
            MachineTask::Clean(_) => self.board_mut().say("clean ends by itself"),
            MachineTask::None => {
                let (target, images) = session.parts();
                may_launch(target)?;
                let name = target.name().to_owned();
                let failed = |error| Failure::of_control(&name, &error);
                match StoppingKernels::find(target, images).map_err(failed)? {
                    Some(stop) => {
                        self.board_mut().say(stop.begins());
                        self.task = MachineTask::Stop(Box::new(stop));
                    }
                    None => self
                        .board_mut()
                        .say("nothing runs here that :stop could end; :clean ends whatever runs"),
                }
            }
        }
        Ok(())
    }

    fn clean(&mut self, settings: CleanSettings, session: &mut Session) -> Result<(), Failure> {
        self.check_idle()?;
        // What is parked drains nothing.
        if let Err(failure) = self.let_go(session) {
            self.board_mut().say(failure.to_string());
        }
        self.task = MachineTask::Clean(Box::new(Cleaning::begin(settings, session)?));
        Ok(())
    }

    fn disturb(&mut self, fault: Fault, target: &mut dyn Target) -> Result<(), Failure> {
        target.mesh().check_fault(&fault).map_err(|error| Failure::Usage(error.to_string()))?;
        let name = fault.to_string();
        if !target.abilities().emulated {
            return Err(Failure::of_access(&name, &Fault::unsupported()));
        }
        let failed = |error| Failure::of_access(&name, &error);
        let now = target.now().map_err(failed)?;
        let fault = fault.counted_from(now);
        target.commanded_by("fault");
        target.disrupt(&fault).map_err(failed)?;
        self.board_mut().say(format!("fault {name}, from {} on", words::cycles(fault.from_cycles)));
        Ok(())
    }

    fn keep(&mut self, pace: Pace, session: &mut Session) -> Result<(), Failure> {
        if !session.set_pace(pace) {
            let why = "this target's time cannot be paced; only that of an emulated mesh can, and :play plays a recording";
            return Err(Failure::Usage(format!("{}: {why}", session.target().name())));
        }
        let failed = |error| Failure::of_access("pace", &error);
        let pace_request = RequestedPace::new(pace, session.target().now().map_err(failed)?);
        self.board_mut().say(pace_request.begins());
        (self.pace, self.since) = (Some(pace_request), None);
        Ok(())
    }

    /// Reports the measured pace once it is known.
    pub(super) fn judge_pace(&mut self, target: &mut dyn Target) -> Result<(), AccessError> {
        let Some(pace_request) = self.pace.as_mut().filter(|pace_request| pace_request.is_due())
        else {
            return Ok(());
        };
        let notice = pace_request.judge(target.now()?);
        self.board_mut().say(notice);
        Ok(())
    }

    /// Advances what is running, and the target's time with it; returns false if nothing is.
    pub(super) fn carry_on(&mut self, session: &mut Session) -> Result<bool, AccessError> {
        self.player.turn(session);
        self.poll_held(session);
        if matches!(self.hold, Hold::Rests) || !self.is_busy() {
            return Ok(false);
        }
        let end = Instant::now() + SLICE;
        loop {
            if self.holds(session) {
                if matches!(self.hold, Hold::Rests) {
                    session.paused();
                    return Ok(true);
                }
                session.target().pass(STEP_CYCLES)?;
                if Instant::now() >= end {
                    return Ok(true);
                }
                continue;
            }
            let watched = self.only_watches();
            let stage = self.poll(session).filter(|stage| self.follows(*stage));
            if self.only_watches() {
                if !watched {
                    session.paused();
                }
                return Ok(!watched);
            }
            if stage != self.followed {
                self.leave_stage(session.target())?;
                self.followed = stage;
            }
            if !self.is_busy() {
                session.paused();
                return Ok(true);
            }
            let cycles = if stage.is_some() { self.due(session.target())? } else { STEP_CYCLES };
            if cycles > 0 {
                session.target().pass(cycles)?;
            }
            if cycles < STEP_CYCLES || Instant::now() >= end {
                return Ok(true);
            }
        }
    }

    /// Polls once; returns the stage of a run.
    fn poll(&mut self, session: &mut Session) -> Option<Stage> {
        let polled = match &mut self.task {
            MachineTask::Clean(clean) => Some(clean.poll(session)),
            MachineTask::Launch(launched) => Some(launched.poll(session)),
            MachineTask::Replay(replaying) => Some(replaying.poll(session)),
            _ => None,
        };
        if let Some((notice, over)) = polled {
            if over {
                self.task = MachineTask::None;
            }
            if let Some(notice) = notice {
                self.board_mut().say(notice);
                self.board_mut().retries = over && !session.target().quarantined().is_empty();
            }
            return None;
        }
        let (target, images) = session.parts();
        match &mut self.task {
            MachineTask::None
            | MachineTask::Clean(_)
            | MachineTask::Launch(_)
            | MachineTask::Replay(_) => None,
            MachineTask::Stop(stop) => {
                let notice = match stop.poll(target, images) {
                    Ok(None) => return None,
                    Ok(Some(done)) => done,
                    Err(error) => Failure::of_control(target.name(), &error).to_string(),
                };
                self.task = MachineTask::None;
                self.board_mut().say(notice);
                None
            }
            MachineTask::Run(job) => {
                let turn = job.poll(target, images);
                self.note(turn)
            }
        }
    }

    fn note(&mut self, turn: Result<SweepTurn, Failure>) -> Option<Stage> {
        let state = match turn {
            Ok(SweepTurn::Going(going)) => {
                if let MachineTask::Run(job) = &mut self.task
                    && job.takes_pause(&going)
                {
                    self.hold = Hold::Asked;
                }
                self.note_done();
                let stopping = |sheet: &Sheet| sheet.state == SheetState::Stopping;
                if !self.board.sheets.last().is_some_and(stopping) {
                    self.set(SheetState::Going(Some(going)));
                }
                return Some(going.stage);
            }
            Ok(SweepTurn::Row(row)) => {
                if let Some(sheet) = self.board_mut().sheets.last_mut() {
                    sheet.rows.push(row);
                }
                return None;
            }
            Ok(SweepTurn::Done) => SheetState::Done,
            Ok(SweepTurn::Cancelled) => SheetState::Stopped,
            Err(failure) => SheetState::Failed(failure.to_string()),
        };
        self.task = MachineTask::None;
        if matches!(std::mem::take(&mut self.hold), Hold::Asked) && state == SheetState::Done {
            self.board_mut().say("the run ended before its kernels could be paused");
        }
        self.set(state);
        None
    }

    /// Marks what the workers of the run have handed on.
    fn note_done(&mut self) {
        let MachineTask::Run(job) = &self.task else { return };
        let Some(done) = job.commands_done() else { return };
        // Others may have been asked for since it began.
        let title = self.board.sheets.last().map(|sheet| &sheet.title);
        let own = self.board.schedules.iter().rposition(|it| Some(&it.title) == title);
        let Some(own) = own else { return };
        let changed = self.board.schedules.get(own).is_some_and(|it| it.done != done);
        if changed && let Some(scheduled) = self.board_mut().schedules.get_mut(own) {
            scheduled.done = done;
        }
    }

    fn set(&mut self, state: SheetState) {
        if let Some(sheet) = self.board_mut().sheets.last_mut() {
            sheet.state = state;
        }
    }

    /// Tears down what is running, within a time limit, at the end of the program.
    pub(super) fn tear_down(&mut self, session: &mut Session) {
        // The file is complete however tearing down ends.
        if let Err(failure) = self.flight.end(session) {
            self.board_mut().say(failure.to_string());
        }
        self.release(session);
        if let Err(failure) = self.let_go(session) {
            self.board_mut().say(failure.to_string());
        }
        match &mut self.task {
            MachineTask::Run(job) => job.cancel(),
            MachineTask::Launch(launched) => drop(launched.cancel()),
            MachineTask::Replay(replaying) => drop(replaying.cancel(session)),
            _ => {}
        }
        let end = Instant::now() + LAST_PATIENCE;
        while self.is_busy() && Instant::now() < end {
            self.poll(session);
            if session.target().pass(STEP_CYCLES).is_err() {
                return;
            }
        }
    }
}

fn may_launch(target: &dyn Target) -> Result<(), Failure> {
    may_change(target)?;
    let Allow { launch, .. } = target.abilities().allow;
    let why = "nothing may be launched or torn down there: --allow launch,write,reset";
    let refused = || Failure::Refused(format!("{}: {why}", target.name()));
    if launch { Ok(()) } else { Err(refused()) }
}
