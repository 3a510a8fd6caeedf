//! A program on a mesh: launched, followed, checked and cleared away.
//!
//! A run is a list of tasks that is polled. Cancelling it, or a failure, replaces the list by the one that clears away.

mod begin;
mod ending;
mod fabric;
mod outcome;

use super::check::{Comparison, differing};
use super::launcher::{Launcher, Layer};
use super::program::Program;
use super::report::{RunProgress, RunReport, RunSettings, Stage};
use super::task::Task;
use super::teardown;
use super::times::Times;
use super::watch::Watch;
use ::fabric::Fabric;
use decode::images::ImageMap;
use fabric::{is_mux, ownership};
use launch::cause::gateway_notes;
use launch::occupancy::Loaded;
use launch::outcome::RunError;
use launch::{ControlError, Together, task};
use layouts::ChipId;
use machine::fault::Fault;
use machine::place::Place;
use machine::target::Target;
use outcome::RunEnd;
use std::collections::{BTreeMap, VecDeque};

/// A program under way. All times are cycles of the target.
#[derive(Debug)]
pub struct Run {
    program: Program,
    settings: RunSettings,
    tasks: VecDeque<Task>,
    /// The fabric that the program goes over, if it does.
    fabric: Option<Fabric>,
    launcher: Launcher,
    /// Ethernet tiles that were taken over, to be given back.
    taken: Vec<Place>,
    /// Kernels that were told to go and have not returned.
    running: BTreeMap<Place, &'static str>,
    times: Times,
    /// The chip that was launched last.
    last: ChipId,
    /// What is to go wrong; counted from the first go message once that was sent.
    faults: Vec<Fault>,
    moving: bool,
    report: RunReport,
    outcome: RunEnd,
    /// Who does not answer though he was told to return at once.
    dead: Vec<Place>,
    /// What could not be cleared away.
    left: Vec<ControlError>,
    cancel: bool,
}

impl Run {
    /// A run that has not begun: the first poll looks at the mesh.
    pub fn new(program: Program, settings: RunSettings) -> Self {
        let mut tasks = VecDeque::from([Task::Judge]);
        let fabric = program.crossing.as_ref().map(ownership);
        if fabric.is_some() {
            tasks.push_back(Task::Fabric(Stage::FabricUp, (0, 1)));
        }
        // Without a look at the data it does not matter what moves.
        let check = settings.check && !program.checks.is_empty();
        if check && !program.fills.is_empty() {
            tasks.push_back(Task::Launch(Layer::Fill));
        }
        let launches = settings.warmups + settings.iterations.max(1);
        tasks.extend((0..launches).map(|_| Task::Launch(Layer::Transfer)));
        if check {
            tasks.extend([Task::Launch(Layer::Check), Task::Digests]);
        }
        if fabric.is_some() {
            tasks.push_back(Task::Fabric(Stage::FabricDown, (0, 1)));
        }
        tasks.push_back(Task::GiveBack);
        // A program without ranks launches nothing: the times of its report are 0, and of no chip.
        let last = program.ranks.last().map_or(ChipId(0), |chip| *chip);
        Self {
            times: Times::new(settings.warmups),
            report: RunReport::new(last, &settings),
            faults: settings.faults.clone(),
            moving: false,
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
            cancel: false,
        }
    }

    /// For somebody who has the mesh for himself, and knows what the last run left there.
    #[must_use]
    pub fn knowing(mut self, loaded: Loaded) -> Self {
        self.launcher.loaded = loaded;
        self
    }

    /// What is known to be on the tiles now.
    pub fn into_loaded(self) -> Loaded {
        self.launcher.loaded
    }

    /// What is run.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// How it is run.
    pub fn settings(&self) -> &RunSettings {
        &self.settings
    }

    /// Something goes wrong from now on, or from the first go message on where that is still to come.
    pub fn fault(&mut self, fault: Fault) {
        self.faults.push(fault);
    }

    /// The next polls stop the kernels, give everything back, and then say so.
    pub fn cancel(&mut self) {
        self.cancel = true;
    }

    /// Goes on until it has to wait; time passes outside. A run that failed first clears away, and then says why.
    ///
    /// # Errors
    /// Why it cannot be made, or was not finished.
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
        let carry_out = |run: &mut Self, task: &mut Task| {
            let carried = run.carry_out(task, target, images);
            carried.or_else(|error| run.failed(error, target, images))
        };
        let going = task::poll(self, |run| &mut run.tasks, Task::progress, carry_out)?;
        going.map_or_else(|| self.end(), Ok)
    }

    /// Puts what clears away in place of the tasks that are left.
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
            // Who does not drain in time is stopped where it is.
            RunEnd::Cancelled => RunEnd::Stuck,
            // What was wrong first is what is told.
            RunEnd::Stuck | RunEnd::Failed(_) => {
                self.tasks.clear();
                return self.end().and(Err(error));
            }
        };
        self.abandon(images, outcome).map(|()| true)
    }

    /// Polls to the end, letting so many cycles pass in between: for scripts and tests.
    ///
    /// # Errors
    /// As [`Run::poll`], and when time cannot pass.
    pub fn finish(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
        step_cycles: u64,
    ) -> Result<Option<RunReport>, RunError> {
        task::finish(target, step_cycles, |target| self.poll(target, images))
    }

    /// Lets go wrong what is to go wrong; times count from now.
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

    /// Firmware that is half started is not left so.
    fn is_bringing_up(&self) -> bool {
        let up = [Stage::Boot, Stage::TakeOver];
        self.tasks.iter().any(|task| matches!(task, Task::Steps(stage, _) if up.contains(stage)))
    }

    /// Carries a task out as far as it goes; tells whether it is done.
    fn carry_out(
        &mut self,
        task: &mut Task,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<bool, RunError> {
        match task {
            Task::Judge => self.judge(target, images)?,
            Task::Launch(layer) => self.launch(*layer, target, images)?,
            Task::Steps(_, together) => {
                let done = together.poll(target)?;
                if done {
                    self.left.extend_from_slice(together.failed());
                }
                return Ok(done);
            }
            Task::Gone(layer) => {
                // Whatever is still in a queue has arrived when the time is told.
                target.now()?;
                let deadline = self.settings.deadline_cycles;
                let watch = Watch::new(images, &self.program, *layer, deadline)?;
                self.tasks.push_front(Task::Watch(*layer, Box::new(watch)));
            }
            Task::Watch(layer, watch) => {
                if !watch.poll(target, images)? {
                    return Ok(false);
                }
                self.running.retain(|_, kernel| is_mux(kernel));
                if !self.running.is_empty() {
                    self.tasks.push_front(Task::Returned);
                    self.tasks.push_front(Task::Muxes);
                }
                if *layer == Layer::Transfer {
                    self.times.take(watch, self.last);
                    self.times.report(&mut self.report);
                }
            }
            Task::Digests => {
                self.report.wrong = Some(0);
                for index in differing(target, images, &self.program)? {
                    let comparison = Comparison::new(&self.program, index)?;
                    self.tasks.push_front(Task::Compare(Box::new(comparison)));
                }
            }
            Task::Compare(comparison) => {
                let Some(wrong) = comparison.poll(target, &self.program)? else { return Ok(false) };
                self.report.wrong = self.report.wrong.map(|sum| sum + wrong.elements);
                self.report.wrong_stretches.push(wrong);
            }
            Task::Moves => {
                self.moving = true;
                self.disrupt(target)?;
            }
            Task::Returned => self.running.clear(),
            Task::RollCall => self.call_roll(target, images)?,
            Task::Release => self.release(target, images)?,
            Task::Close(release) => {
                if !release.poll(target)? {
                    return Ok(false);
                }
                self.left.extend(release.left().into_iter().map(ControlError::Settings));
            }
            Task::Muxes => {
                let patience = self.settings.deadline_cycles;
                let waits = self.running.iter().map(|(&place, &kernel)| {
                    teardown::await_return(images, place, kernel, patience)
                });
                let waits = Together::new(waits.collect::<Result<Vec<_>, _>>()?);
                self.tasks.push_front(Task::Steps(Stage::Transfer, waits));
            }
            Task::Fabric(stage, done) => return self.poll_fabric(*stage, done, target, images),
            Task::GiveBack => {
                let back = self.taken.drain(..).map(|place| teardown::give_back(images, place));
                let back = back.collect::<Result<Vec<_>, _>>()?;
                self.tasks.push_front(Task::Steps(Stage::GiveBack, Together::as_can_be(back)));
            }
        }
        Ok(true)
    }
}
