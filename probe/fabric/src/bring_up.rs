//! Brings a fabric up and takes it down: a queue of tasks that is polled, as a collective's run is.
//!
//! Every router meets its peer and the routers of its chip before the masters are made ready for
//! traffic. A fabric that does not come up is taken down, and then the error is returned.

mod begin;
mod ending;
mod rebuild;

pub use rebuild::Rebuild;

use super::follow::Follow;
use super::progress::{FabricOutcome, FabricProgress, FabricStage, Termination};
use super::words::RouterWords;
use super::{FabricPlan, FabricSettings};
use crate::tables::routing_tables;
use ending::Returns;
use images::ImageMap;
use launch::cause;
use launch::outcome::{Cause, RunError};
use launch::{Operation, OperationGroup, step, task};
use layouts::ChipId;
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
    tasks: VecDeque<BringUpTask>,
    /// Ethernet tiles to give back.
    taken: BTreeSet<Place>,
    /// Tiles whose router was launched and has not returned.
    running: BTreeSet<Place>,
    /// Chips whose routers need not return.
    given_up: BTreeSet<ChipId>,
    /// The outcome of the tasks; an error is the reason why the fabric is taken down.
    end: Result<FabricOutcome, RunError>,
    /// Whether it failed while routers were being launched: then routers that do not run are not
    /// reported.
    half_launched: bool,
    /// Problems of taking it down, one sentence each.
    problems: Vec<String>,
}

#[derive(Debug)]
enum BringUpTask {
    /// Checks that the tiles are free.
    Survey,
    /// Composes the launch.
    Launch,
    /// Carries out operations in parallel.
    Steps(FabricStage, OperationGroup),
    /// Waits for a status of all routers.
    Follow(Box<Follow>),
    /// Finds the running routers, and signals them to return.
    Stop(Termination),
    /// Waits until they have returned.
    Returns(Box<Returns>),
    /// Composes the operations that give the tiles back.
    GiveBack,
}

impl BringUpTask {
    fn progress(&self) -> FabricProgress {
        let (stage, (done, of)) = match self {
            Self::Survey => (FabricStage::Survey, (0, 1)),
            Self::Launch => (FabricStage::Launch, (0, 1)),
            Self::Steps(stage, together) => (*stage, together.done()),
            Self::Follow(follow) => (follow.stage(), follow.done()),
            Self::Stop(_) => (FabricStage::Stop, (0, 1)),
            Self::Returns(returns) => (FabricStage::Stop, returns.done()),
            Self::GiveBack => (FabricStage::GiveBack, (0, 1)),
        };
        FabricProgress::Running { stage, done, of }
    }
}

impl Fabric {
    /// Makes a fabric that polls bring up. The first poll surveys the mesh.
    pub fn new(plan: FabricPlan, settings: FabricSettings) -> Self {
        let tables = routing_tables(&plan);
        Self {
            tasks: VecDeque::from([BringUpTask::Survey, BringUpTask::Launch]),
            ..Self::idle(plan, settings, tables)
        }
    }

    /// Makes a fabric that was found running on the mesh: polls report that it is up, and it can be
    /// terminated.
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
            given_up: BTreeSet::new(),
            running: BTreeSet::new(),
            end: Ok(FabricOutcome::Up),
            half_launched: false,
            problems: Vec::new(),
        }
    }

    /// Replaces the plan's tables, for example to make a loop; they are checked before anything is
    /// written.
    #[must_use]
    pub fn with_tables(mut self, tables: Vec<RoutingTables>) -> Self {
        self.tables = tables;
        self
    }

    /// Returns the plan.
    pub fn plan(&self) -> &FabricPlan {
        &self.plan
    }

    /// Takes the fabric down in the next polls, also while it comes up.
    pub fn terminate(&mut self, route: Termination) {
        if !self.is_going_down() {
            self.go_down(route, Ok(FabricOutcome::Down));
        }
    }

    /// Whether the routers are launched and have not all met: those that were launched to park may be
    /// held meanwhile, and the fabric not be polled until they are resumed.
    pub fn is_meeting(&self) -> bool {
        let Some(BringUpTask::Follow(follow)) = self.tasks.front() else { return false };
        follow.stage() == FabricStage::Handshake
    }

    /// Counts the deadline of the routers from this time on, as they were parked until now.
    pub fn resumed(&mut self, now_cycles: u64) {
        if let Some(BringUpTask::Follow(follow)) = self.tasks.front_mut() {
            follow.restart(now_cycles);
        }
    }

    fn is_going_down(&self) -> bool {
        self.end != Ok(FabricOutcome::Up)
    }

    /// Takes the fabric down. Pending takeovers are finished first, so that no firmware is left
    /// half started.
    fn go_down(&mut self, route: Termination, end: Result<FabricOutcome, RunError>) {
        let half =
            |task: &BringUpTask| matches!(task, BringUpTask::Steps(FabricStage::TakeOver, _));
        let failed = end.is_err();
        let launches =
            |task: &BringUpTask| matches!(task, BringUpTask::Steps(FabricStage::Launch, _));
        self.half_launched = failed || self.tasks.iter().any(launches);
        self.tasks.retain(|task| half(task) && !failed);
        self.tasks.extend([BringUpTask::Stop(route), BringUpTask::GiveBack]);
        self.end = end;
    }

    /// Runs tasks until one has to wait; the caller lets time pass. A failed fabric is first taken
    /// down, then the error is returned.
    ///
    /// # Errors
    /// Why it did not come up, or did not go down.
    pub fn poll(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<FabricProgress, RunError> {
        target.commanded_by("fabric");
        let carry_out = |fabric: &mut Self, task: &mut BringUpTask| {
            let carried = fabric.carry_out(task, target, images);
            Ok(carried.unwrap_or_else(|error| fabric.failed(target, error)))
        };
        let going = task::poll(self, |fabric| &mut fabric.tasks, BringUpTask::progress, carry_out)?;
        going.map_or_else(|| self.ended(target), Ok)
    }

    /// Records an error: the first one is returned at the end.
    fn failed(&mut self, target: &dyn Target, error: RunError) -> bool {
        if self.is_going_down() {
            self.problems.push(error.sentence(target.mesh().layout()));
        } else {
            self.go_down(Termination::Immediately, Err(error));
        }
        true
    }

    /// Polls until the fabric is up or down, with `step_cycles` between polls: for scenes, scripts
    /// and tests.
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
        let problems = std::mem::take(&mut self.problems);
        match std::mem::replace(&mut self.end, Ok(FabricOutcome::Down)) {
            Ok(outcome) if problems.is_empty() => {
                self.end = Ok(outcome);
                Ok(FabricProgress::Finished(outcome))
            }
            Ok(_) => Err(RunError::new(Cause::CleanupFailed).and(problems)),
            Err(error) => {
                let routes = cause::gateway_notes(target, &error);
                Err(error.and(routes).and(problems))
            }
        }
    }

    /// Carries out a task until it has to wait; returns whether it is done.
    fn carry_out(
        &mut self,
        task: &mut BringUpTask,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<bool, RunError> {
        match task {
            BringUpTask::Survey => self.begin(target, images)?,
            BringUpTask::Launch => self.launch(target, images)?,
            BringUpTask::Steps(_, together) => {
                let done = together.poll(target)?;
                if done {
                    let layout = target.mesh().layout();
                    let failed = together.failed().iter().map(|error| step(layout, error));
                    self.problems.extend(failed);
                }
                return Ok(done);
            }
            BringUpTask::Follow(follow) => {
                if !follow.poll(target, images, &self.plan)? {
                    return Ok(false);
                }
                if follow.stage() == FabricStage::Handshake {
                    self.make_ready(images)?;
                }
            }
            BringUpTask::Stop(route) => {
                let route = *route;
                self.stop(route, target, images)?;
            }
            BringUpTask::Returns(returns) => return self.returns(returns, target),
            BringUpTask::GiveBack => self.give_back(images)?,
        }
        Ok(true)
    }

    /// Makes the masters ready for traffic, after all routers have met.
    fn make_ready(&mut self, images: &ImageMap) -> Result<(), RunError> {
        let words = RouterWords::of(images, self.plan.router_image())?;
        let ready = words.image.constant("READY_FOR_TRAFFIC")?;
        let operations = self.plan.masters().map(|master| {
            let mut operation = Operation::new(format!("make {} ready for traffic", master.eth));
            operation.write_word(master.place.at(words.status), ready);
            operation
        });
        let operations = OperationGroup::new(operations);
        let follow = self.follow(words, FabricStage::Ready)?;
        self.tasks.push_front(BringUpTask::Follow(Box::new(follow)));
        self.tasks.push_front(BringUpTask::Steps(FabricStage::Ready, operations));
        Ok(())
    }

    fn follow(&self, words: RouterWords, stage: FabricStage) -> Result<Follow, RunError> {
        Ok(Follow::new(words, &self.plan, stage, self.settings.deadline_cycles)?)
    }
}
