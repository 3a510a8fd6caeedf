//! A program on a mesh: launched, observed, checked and cleaned up.
//!
//! A run is a list of tasks that is polled. Cancellation or a failure replaces the list by one that
//! cleans up.

mod begin;
mod ending;
mod fabric;
mod outcome;
mod restore;

use super::check::{Comparison, differing};
use super::launcher::{Launcher, Layer};
use super::program::Program;
use super::report::{Park, RunProgress, RunReport, RunSettings, Stage};
use super::task::RunTask;
use super::teardown;
use super::times::Times;
use super::watch::Watch;
use ::fabric::Fabric;
use fabric::{is_mux, ownership};
use images::ImageMap;
use launch::cause::gateway_notes;
use launch::occupancy::Loaded;
use launch::outcome::RunError;
use launch::{ControlError, OperationGroup, task};
use layouts::ChipId;
use machine::fault::Fault;
use machine::place::Place;
use machine::target::Target;
use outcome::RunEnd;
use restore::Restore;
use std::collections::{BTreeMap, VecDeque};

/// A running program. All times are cycles of the target.
#[derive(Debug)]
pub struct Run {
    program: Program,
    settings: RunSettings,
    tasks: VecDeque<RunTask>,
    /// The fabric that the program uses, if any.
    fabric: Option<Fabric>,
    launcher: Launcher,
    /// Ethernet tiles taken over, to be given back.
    taken: Vec<Place>,
    /// Kernels that received a go message and have not returned.
    running: BTreeMap<Place, &'static str>,
    times: Times,
    /// The chip launched last.
    last: ChipId,
    /// Faults to inject; their times count from the first go message once that was sent.
    faults: Vec<Fault>,
    moving: bool,
    /// Launches of the transfer so far.
    launched: u64,
    report: RunReport,
    outcome: RunEnd,
    /// Cores that do not answer the immediate termination signal.
    dead: Vec<Place>,
    /// Failures of the cleanup.
    left: Vec<ControlError>,
    /// What is known of the tiles of a run whose cleanup is not trusted.
    restore: Restore,
    cancel: bool,
}

impl Run {
    /// Creates a run that has not begun: the first poll reads the mesh.
    pub fn new(program: Program, settings: RunSettings) -> Self {
        let mut tasks = VecDeque::from([RunTask::Judge]);
        let fabric = program.crossing.as_ref().map(|it| ownership(it, settings.park));
        if fabric.is_some() {
            tasks.push_back(RunTask::Fabric(Stage::FabricUp, (0, 1)));
        }
        // Without a check of the data their contents do not matter.
        let check = settings.check && !program.checks.is_empty();
        if check && !program.fills.is_empty() {
            tasks.push_back(RunTask::Launch(Layer::Fill));
        }
        let launches = settings.warmups + settings.iterations.max(1);
        tasks.extend((0..launches).map(|_| RunTask::Launch(Layer::Transfer)));
        if check {
            tasks.extend([RunTask::Launch(Layer::Check), RunTask::Digests]);
        }
        if fabric.is_some() {
            tasks.push_back(RunTask::Fabric(Stage::FabricDown, (0, 1)));
        }
        tasks.extend([RunTask::GiveBack, RunTask::Restore]);
        // A program without ranks launches nothing: its report has times of 0 and an
        // arbitrary chip.
        let last = program.ranks.last().map_or(ChipId(0), |chip| *chip);
        Self {
            times: Times::new(settings.warmups),
            report: RunReport::new(last, &settings),
            faults: settings.faults.clone(),
            moving: false,
            launched: 0,
            program,
            settings,
            tasks,
            fabric,
            launcher: Launcher::default(),
            taken: Vec::new(),
            running: BTreeMap::new(),
            last,
            outcome: RunEnd::Whole,
            dead: Vec::new(),
            left: Vec::new(),
            restore: Restore::default(),
            cancel: false,
        }
    }

    /// Sets what the last run left on the tiles, for a caller with exclusive use of the mesh.
    #[must_use]
    pub fn with_loaded(mut self, loaded: Loaded) -> Self {
        self.launcher.loaded = loaded;
        self
    }

    /// Returns what is known to be on the tiles.
    pub fn into_loaded(self) -> Loaded {
        self.launcher.loaded
    }

    /// Returns the program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Injects a fault from now on, or from the first go message on if that is still to come.
    pub fn fault(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// Whether kernels work and the run only observes them: then they may be paused and the run not
    /// be polled until they are resumed.
    pub fn is_watching(&self) -> bool {
        match self.tasks.front() {
            Some(RunTask::Watch(..)) => true,
            Some(RunTask::Fabric(Stage::FabricUp, _)) => {
                let holds = self.settings.park == Some(Park::Handshake);
                holds && self.fabric.as_ref().is_some_and(Fabric::is_meeting)
            }
            _ => false,
        }
    }

    /// Returns how many commands of its current slice each worker has carried out, while data move.
    pub fn commands_done(&self) -> Option<Vec<u64>> {
        match self.tasks.front() {
            Some(RunTask::Watch(Layer::Transfer, watch)) => {
                Some(watch.commands_done(&self.program))
            }
            _ => None,
        }
    }

    /// Counts the deadline of the kernels from now on, as they were paused until now.
    ///
    /// # Errors
    /// If the machine does not tell the time.
    pub fn resumed(&mut self, target: &mut dyn Target) -> Result<(), RunError> {
        let now = target.now()?;
        if let Some(RunTask::Watch(layer, watch)) = self.tasks.front_mut() {
            watch.restart(now);
            if *layer == Layer::Transfer {
                self.times.paused();
            }
        }
        if let Some(fabric) = &mut self.fabric {
            fabric.resumed(now);
        }
        Ok(())
    }

    /// Sets where the kernels of the next launches park: of the first launch that it concerns.
    pub fn park_next(&mut self, park: Option<Park>) {
        self.settings.park = park;
    }

    /// Whether the kernels that it observes have stood for a while, and one of them is parked.
    ///
    /// # Errors
    /// If an image is missing, or the machine does not answer.
    pub fn rests(&self, target: &mut dyn Target, images: &ImageMap) -> Result<bool, RunError> {
        match self.tasks.front() {
            Some(RunTask::Watch(_, watch)) => watch.rests(target, images),
            _ => Ok(false),
        }
    }

    /// Returns the time of the measured launches that have ended, in the mean; none if there is none.
    pub fn mean_cycles(&self) -> Option<u64> {
        Some(self.report.time_cycles).filter(|cycles| *cycles > 0)
    }

    /// Returns the number of the transfer's newest launch, and of all its launches.
    pub fn launches(&self) -> (u64, u64) {
        let RunSettings { warmups, iterations, .. } = self.settings;
        (self.launched, self.launched.max(u64::from(warmups) + u64::from(iterations.max(1))))
    }

    /// Cancels the run: the next polls stop the kernels, give everything back, and then report the
    /// end.
    pub fn cancel(&mut self) {
        self.cancel = true;
    }

    /// Continues until the run has to wait; time passes outside. A failed run first cleans up, then
    /// returns its error.
    ///
    /// # Errors
    /// Why it was refused, or did not finish.
    pub fn poll(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<RunProgress, RunError> {
        target.commanded_by(self.program.op.name());
        let whole = matches!(self.outcome, RunEnd::Whole);
        if self.cancel && whole && !self.is_bringing_up() {
            self.abandon(images, RunEnd::Cancelled)?;
        }
        if self.moving {
            self.disrupt(target)?;
        }
        let carry_out = |run: &mut Self, task: &mut RunTask| {
            let carried = run.carry_out(task, target, images);
            carried.or_else(|error| run.failed(error, target, images))
        };
        let going = task::poll(self, |run| &mut run.tasks, RunTask::progress, carry_out)?;
        going.map_or_else(|| self.end(), Ok)
    }

    /// Replaces the remaining tasks by the cleanup.
    fn failed(
        &mut self,
        error: RunError,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<bool, RunError> {
        let outcome = match self.outcome {
            RunEnd::Whole => {
                let known = gateway_notes(target, &error);
                RunEnd::Failed(error.and(known))
            }
            // A kernel that does not drain in time is stopped immediately.
            RunEnd::Cancelled => RunEnd::Stuck,
            // The first error is the one reported.
            RunEnd::Stuck | RunEnd::Failed(_) => {
                self.tasks.clear();
                if !self.restore.may_begin() {
                    return self.end().and(Err(error));
                }
                let sentence = error.sentence(images.layout());
                self.left.push(ControlError::Settings(sentence));
                self.tasks.push_back(RunTask::Restore);
                return Ok(true);
            }
        };
        self.abandon(images, outcome)?;
        if self.stood() {
            self.tasks.push_front(RunTask::Stands(false));
        }
        Ok(true)
    }

    /// Whether the run failed because it stood still.
    fn stood(&self) -> bool {
        matches!(&self.outcome, RunEnd::Failed(error) if error.is_standstill())
    }

    /// Whether the run has come to a standstill, and the mesh is still as it was then: the next poll
    /// begins the cleanup, or tears down what a failed cleanup has left.
    pub fn stands(&self) -> bool {
        matches!(self.tasks.front(), Some(RunTask::Stands(_)))
    }

    /// Polls to the end and passes `step_cycles` cycles between polls: for scripts and tests.
    ///
    /// # Errors
    /// As [`Run::poll`], or if time cannot advance.
    pub fn finish(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
        step_cycles: u64,
    ) -> Result<Option<RunReport>, RunError> {
        task::finish(target, step_cycles, |target| self.poll(target, images))
    }

    /// Injects the pending faults; their times count from now.
    fn disrupt(&mut self, target: &mut dyn Target) -> Result<(), RunError> {
        if self.faults.is_empty() {
            return Ok(());
        }
        let now = target.now()?;
        for fault in self.faults.drain(..) {
            target.disrupt(&fault.counted_from(now))?;
        }
        Ok(())
    }

    /// Whether firmware is being started, which is not interrupted.
    fn is_bringing_up(&self) -> bool {
        let up = [Stage::Boot, Stage::TakeOver];
        self.tasks.iter().any(|task| matches!(task, RunTask::Steps(stage, _) if up.contains(stage)))
    }

    /// Carries out a task as far as possible; returns whether it is done.
    fn carry_out(
        &mut self,
        task: &mut RunTask,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<bool, RunError> {
        match task {
            RunTask::Judge => self.judge(target, images)?,
            RunTask::Launch(layer) => self.launch(*layer, target, images)?,
            RunTask::Steps(_, together) => {
                let done = together.poll(target)?;
                if done {
                    self.left.extend_from_slice(together.failed());
                    // What could not be taken away is looked at before the run ends.
                    let last = matches!(self.tasks.front(), Some(RunTask::Restore));
                    if !self.left.is_empty() && last && !self.stood() {
                        self.tasks.push_front(RunTask::Stands(false));
                    }
                }
                return Ok(done);
            }
            RunTask::Stands(seen) => return Ok(std::mem::replace(seen, true)),
            RunTask::Goes(chip) => {
                self.last = *chip;
                self.times.goes(*chip, target.now()?);
            }
            RunTask::Gone(layer) => {
                // Reading the time settles the accesses still in flight.
                target.now()?;
                let deadline = self.settings.deadline_cycles;
                let watch = Watch::new(images, &self.program, *layer, deadline)?;
                self.tasks.push_front(RunTask::Watch(*layer, Box::new(watch)));
            }
            RunTask::Watch(layer, watch) => {
                if !watch.poll(target, images)? {
                    return Ok(false);
                }
                if *layer == Layer::Transfer {
                    let paused = self.times.take(watch, self.last);
                    self.times.report(&mut self.report);
                    let next = |task: &RunTask| matches!(task, RunTask::Launch(Layer::Transfer));
                    if paused && self.times.lacks_launch() && !self.tasks.iter().any(next) {
                        self.tasks.push_front(RunTask::Launch(Layer::Transfer));
                    }
                }
                self.running.retain(|_, kernel| is_mux(kernel));
                if !self.running.is_empty() {
                    self.tasks.push_front(RunTask::Returned);
                    self.tasks.push_front(RunTask::Muxes);
                }
            }
            RunTask::Digests => {
                self.report.wrong = Some(0);
                for index in differing(target, images, &self.program)? {
                    let comparison = Comparison::new(&self.program, index)?;
                    self.tasks.push_front(RunTask::Compare(Box::new(comparison)));
                }
            }
            RunTask::Compare(comparison) => {
                let Some(wrong) = comparison.poll(target, &self.program)? else { return Ok(false) };
                self.report.wrong = self.report.wrong.map(|sum| sum + wrong.elements);
                self.report.wrong_ranges.push(wrong);
            }
            RunTask::Moves => {
                self.moving = true;
                self.disrupt(target)?;
            }
            RunTask::Returned => self.running.clear(),
            RunTask::RollCall => self.call_roll(target, images)?,
            RunTask::Release => self.release(target, images)?,
            RunTask::Close(release) => {
                if !release.poll(target)? {
                    return Ok(false);
                }
                self.left.extend(release.left().into_iter().map(ControlError::Settings));
            }
            RunTask::Muxes => {
                let patience = self.settings.deadline_cycles;
                let waits = self.running.iter().map(|(&place, &kernel)| {
                    teardown::await_return(images, place, kernel, patience)
                });
                let waits = OperationGroup::new(waits.collect::<Result<Vec<_>, _>>()?);
                self.tasks.push_front(RunTask::Steps(Stage::Transfer, waits));
            }
            RunTask::Fabric(stage, done) => return self.poll_fabric(*stage, done, target, images),
            RunTask::Restore => self.begin_restore(target)?,
            RunTask::Clean(clean, done) => return self.restore(clean, done, target, images),
            RunTask::GiveBack => {
                let back = self.taken.drain(..).map(|place| teardown::give_back(images, place));
                let back = back.collect::<Result<Vec<_>, _>>()?;
                self.tasks
                    .push_front(RunTask::Steps(Stage::GiveBack, OperationGroup::tolerant(back)));
            }
        }
        Ok(true)
    }
}
