//! Brings a fabric up and takes it down again: a list of tasks that is polled, as a collective's run is.
//!
//! Every router has met its peer and the others of its chip before the masters are told that there may be traffic. A fabric that
//! does not come up is taken down again, and then says why.

mod begin;
mod ending;

use super::follow::Follow;
use super::progress::{FabricOutcome, FabricProgress, FabricStage, Termination};
use super::words::RouterWords;
use super::{FabricPlan, FabricSettings};
use crate::tables::routing_tables;
use decode::images::ImageMap;
use ending::Returns;
use launch::cause;
use launch::outcome::{Cause, RunError};
use launch::{Operation, Together, step, task};
use machine::fabric::RoutingTables;
use machine::place::Place;
use machine::target::Target;
use std::collections::{BTreeSet, VecDeque};

/// A fabric on a mesh.
#[derive(Debug)]
pub struct Fabric {
    plan: FabricPlan,
    settings: FabricSettings,
    tables: Vec<RoutingTables>,
    run_id: u32,
    tasks: VecDeque<Task>,
    /// Ethernet tiles that are to be given back.
    taken: BTreeSet<Place>,
    /// Tiles whose router was told to go and has not returned.
    running: BTreeSet<Place>,
    /// Where the tasks lead; an error is why it goes down.
    end: Result<FabricOutcome, RunError>,
    /// It was given up while routers were still being launched: that some do not run is no news.
    half_launched: bool,
    /// What could not be cleared away, one sentence each.
    left: Vec<String>,
}

/// One thing to do.
#[derive(Debug)]
enum Task {
    /// Looks whether the mesh is free.
    Judge,
    /// Composes the launch.
    Launch,
    /// Carries commands out, side by side.
    Steps(FabricStage, Together),
    /// Waits for a status of all routers.
    Follow(Box<Follow>),
    /// Looks which routers run, and tells them to return.
    Stop(Termination),
    /// Waits until they have.
    Returns(Box<Returns>),
    /// Composes what gives the tiles back.
    GiveBack,
}

impl Task {
    fn progress(&self) -> FabricProgress {
        let (stage, (done, of)) = match self {
            Self::Judge => (FabricStage::Survey, (0, 1)),
            Self::Launch => (FabricStage::Launch, (0, 1)),
            Self::Steps(stage, together) => (*stage, together.done()),
            Self::Follow(follow) => (follow.stage(), follow.done()),
            Self::Stop(_) => (FabricStage::Stop, (0, 1)),
            Self::Returns(returns) => (FabricStage::Stop, returns.done()),
            Self::GiveBack => (FabricStage::GiveBack, (0, 1)),
        };
        FabricProgress::Going { stage, done, of }
    }
}

impl Fabric {
    /// A fabric that has not begun: polls bring it up. The first one looks at the mesh.
    pub fn new(plan: FabricPlan, settings: FabricSettings) -> Self {
        let tables = routing_tables(&plan);
        Self {
            tasks: VecDeque::from([Task::Judge, Task::Launch]),
            ..Self::idle(plan, settings, tables)
        }
    }

    /// One that somebody brought up and that was found on the mesh: polls say that it is up, and it can be terminated.
    pub fn found(plan: FabricPlan, settings: FabricSettings) -> Self {
        let tables = routing_tables(&plan);
        let running = plan.routers.iter().map(|router| router.place).collect();
        let taken = BTreeSet::clone(&running);
        Self { taken, running, ..Self::idle(plan, settings, tables) }
    }

    fn idle(plan: FabricPlan, settings: FabricSettings, tables: Vec<RoutingTables>) -> Self {
        Self {
            plan,
            settings,
            tables,
            run_id: 1,
            tasks: VecDeque::new(),
            taken: BTreeSet::new(),
            running: BTreeSet::new(),
            end: Ok(FabricOutcome::Up),
            half_launched: false,
            left: Vec::new(),
        }
    }

    /// With other tables than the plan's, say with a loop; they are checked before anything is written.
    #[must_use]
    pub fn with_tables(mut self, tables: Vec<RoutingTables>) -> Self {
        self.tables = tables;
        self
    }

    /// What it is made of.
    pub fn plan(&self) -> &FabricPlan {
        &self.plan
    }

    /// How its routers are run.
    pub fn settings(&self) -> &FabricSettings {
        &self.settings
    }

    /// The next polls take it down.
    pub fn terminate(&mut self, route: Termination) {
        if !self.is_going_down() {
            self.go_down(route, Ok(FabricOutcome::Down));
        }
    }

    /// A person does not want it to come up any more: the next polls stop what runs, and give everything back.
    pub fn cancel(&mut self) {
        self.terminate(Termination::Immediately);
    }

    fn is_going_down(&self) -> bool {
        self.end != Ok(FabricOutcome::Up)
    }

    /// Firmware that is half started is not left so: those tasks come first.
    fn go_down(&mut self, route: Termination, end: Result<FabricOutcome, RunError>) {
        let half = |task: &Task| matches!(task, Task::Steps(FabricStage::TakeOver, _));
        let failed = end.is_err();
        let launches = |task: &Task| matches!(task, Task::Steps(FabricStage::Launch, _));
        self.half_launched = failed || self.tasks.iter().any(launches);
        self.tasks.retain(|task| half(task) && !failed);
        self.tasks.extend([Task::Stop(route), Task::GiveBack]);
        self.end = end;
    }

    /// Goes on until it has to wait; time passes outside. A fabric that failed is first taken down, and then says why.
    ///
    /// # Errors
    /// Why it did not come up, or did not go down.
    pub fn poll(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<FabricProgress, RunError> {
        target.commanded_by("fabric");
        let carry_out = |fabric: &mut Self, task: &mut Task| {
            let carried = fabric.carry_out(task, target, images);
            Ok(carried.unwrap_or_else(|error| fabric.failed(target, error)))
        };
        let going = task::poll(self, |fabric| &mut fabric.tasks, Task::progress, carry_out)?;
        going.map_or_else(|| self.ended(target), Ok)
    }

    /// What was wrong first is what is told.
    fn failed(&mut self, target: &dyn Target, error: RunError) -> bool {
        if self.is_going_down() {
            self.left.push(error.sentence(target.mesh().layout()));
        } else {
            self.go_down(Termination::Immediately, Err(error));
        }
        true
    }

    /// Polls until it is up or down, letting so many cycles pass in between: for scenes, scripts and tests.
    ///
    /// # Errors
    /// As [`Fabric::poll`], and when time cannot pass.
    pub fn finish(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
        step_cycles: u64,
    ) -> Result<FabricOutcome, RunError> {
        task::finish(target, step_cycles, |target| self.poll(target, images))
    }

    fn ended(&mut self, target: &mut dyn Target) -> Result<FabricProgress, RunError> {
        let left = std::mem::take(&mut self.left);
        match std::mem::replace(&mut self.end, Ok(FabricOutcome::Down)) {
            Ok(outcome) if left.is_empty() => {
                self.end = Ok(outcome);
                Ok(FabricProgress::Over(outcome))
            }
            Ok(_) => Err(RunError::new(Cause::Left).and(left)),
            Err(error) => {
                let routes = cause::gateway_notes(target, &error);
                Err(error.and(routes).and(left))
            }
        }
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
            Task::Launch => self.launch(target, images)?,
            Task::Steps(_, together) => {
                let done = together.poll(target)?;
                if done {
                    let layout = target.mesh().layout();
                    let failed = together.failed().iter().map(|error| step(layout, error));
                    self.left.extend(failed);
                }
                return Ok(done);
            }
            Task::Follow(follow) => {
                if !follow.poll(target, images, &self.plan)? {
                    return Ok(false);
                }
                if follow.stage() == FabricStage::Handshake {
                    self.make_ready(images)?;
                }
            }
            Task::Stop(route) => {
                let route = *route;
                self.stop(route, target, images)?;
            }
            Task::Returns(returns) => return self.returns(returns, target),
            Task::GiveBack => self.give_back(images)?,
        }
        Ok(true)
    }

    /// All have met: the masters hear that there may be traffic.
    fn make_ready(&mut self, images: &ImageMap) -> Result<(), RunError> {
        let words = RouterWords::of(images, self.plan.topology)?;
        let ready = words.image.constant("READY_FOR_TRAFFIC")?;
        let tell = self.plan.masters().map(|master| {
            let mut operation = Operation::new(format!("make {} ready for traffic", master.eth));
            operation.write_word(master.place.at(words.status), ready);
            operation
        });
        let tell = Together::new(tell);
        let follow = self.follow(words, FabricStage::Ready)?;
        self.tasks.push_front(Task::Follow(Box::new(follow)));
        self.tasks.push_front(Task::Steps(FabricStage::Ready, tell));
        Ok(())
    }

    fn follow(&self, words: RouterWords, stage: FabricStage) -> Result<Follow, RunError> {
        let parks = self.settings.pause_at_stage != 0;
        let patience = if parks { u64::MAX } else { self.settings.deadline_cycles };
        Ok(Follow::new(words, &self.plan, stage, patience)?)
    }
}
