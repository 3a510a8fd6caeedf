//! Tears down what stands on a mesh, whoever launched it: finds it by reading the mesh, ends it in
//! stages, and checks that nothing is left.
//!
//! Kernels are ended gracefully by their termination words, those that feed others first. With
//! [`CleanSettings::escalate`] those that stay, and those of other tools, are told to end at once;
//! then compute tiles are reset. An Ethernet core is never held or reset: it serves its link.

mod check;
mod find;
mod report;
mod steps;

pub use report::{CleanReport, CleanTile, Done, Found, Remains};

use crate::rest::Unrest;
use find::{Search, Standing};
use images::ImageMap;
use launch::occupancy::{check_holders, check_permissions};
use launch::outcome::RunError;
use launch::task::{self, Progress};
use launch::{ControlError, Operation, OperationGroup};
use layouts::{ChipId, WritePermission};
use machine::place::Place;
use machine::target::Target;
use std::collections::{BTreeSet, VecDeque};

/// What a teardown may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CleanSettings {
    /// Whether kernels that stay, and those of other tools, are ended at once, and their compute
    /// tiles reset.
    pub escalate: bool,
}

/// The stages of a teardown, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanStage {
    /// Reads what stands on the mesh.
    Find,
    /// Ends the kernels of a rank gracefully.
    Gracefully(KernelRank),
    /// Ends the kernels that stay at once.
    AtOnce,
    /// Ends kernels of Ethernet cores with their application.
    Exit,
    /// Resets compute tiles whose kernels stay.
    Reset,
    /// Holds compute tiles in reset whose firmware did not boot again.
    Hold,
    /// Clears credits and semaphores.
    Clear,
    /// Returns Ethernet cores to base firmware.
    GiveBack,
    /// Checks that nothing is left, and that every chip answers.
    Check,
}

/// The order in which kernels end: each rank feeds the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KernelRank {
    /// Workers, traffic, ring pings, and others.
    Worker,
    /// ERISC data movers.
    Edm,
    /// Muxes of a fabric.
    Mux,
    /// Routers of a fabric.
    Router,
}

impl KernelRank {
    /// All ranks, in the order in which they end.
    const ALL: [Self; 4] = [Self::Worker, Self::Edm, Self::Mux, Self::Router];
}

impl CleanStage {
    /// Returns what is done in it, for a progress line.
    pub fn words(self) -> &'static str {
        match self {
            Self::Find => "looking for what runs",
            Self::Gracefully(KernelRank::Worker) => "ending workers",
            Self::Gracefully(KernelRank::Edm) => "ending EDMs",
            Self::Gracefully(KernelRank::Mux) => "ending muxes",
            Self::Gracefully(KernelRank::Router) => "ending routers",
            Self::AtOnce | Self::Exit => "ending at once what stays",
            Self::Reset | Self::Hold => "resetting compute tiles",
            Self::Clear => "clearing credits",
            Self::GiveBack => "returning Ethernet cores",
            Self::Check => "checking that nothing is left",
        }
    }
}

/// The progress of a teardown.
pub type CleanProgress = Progress<CleanStage, CleanReport>;

/// A teardown in progress.
#[derive(Debug)]
pub struct Clean {
    settings: CleanSettings,
    /// The only tiles that are looked at; without them all.
    only: Option<BTreeSet<Place>>,
    tiles: Vec<Standing>,
    /// Words that are not at rest although no kernel uses them any more.
    unrest: Vec<Unrest>,
    tasks: VecDeque<CleanTask>,
    /// Chips that do not answer, and why.
    lost: Vec<(ChipId, String)>,
    problems: Vec<String>,
}

#[derive(Debug)]
enum CleanTask {
    /// Begins a stage.
    Begin(CleanStage),
    /// Reads the mesh chip by chip, before or after the other stages.
    Search(CleanStage, Box<Search>),
    /// Carries out the operations of a stage; each tile with what is done when they are.
    Steps(CleanStage, Box<OperationGroup>, Vec<(Place, Done)>),
}

impl Clean {
    /// Makes a teardown that has not begun. The images on the cores must have been verified, by a
    /// snapshot of everything.
    pub fn new(settings: CleanSettings) -> Self {
        let mut stages = vec![CleanStage::Find];
        stages.extend(KernelRank::ALL.map(CleanStage::Gracefully));
        if settings.escalate {
            let more = [CleanStage::AtOnce, CleanStage::Exit, CleanStage::Reset, CleanStage::Hold];
            stages.extend(more);
        }
        stages.extend([CleanStage::Clear, CleanStage::GiveBack, CleanStage::Check]);
        let tasks = stages.into_iter().map(CleanTask::Begin).collect();
        let (tiles, unrest, lost, problems) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { settings, only: None, tiles, unrest, tasks, lost, problems }
    }

    /// Makes a teardown of these tiles alone.
    pub fn of_tiles(settings: CleanSettings, only: BTreeSet<Place>) -> Self {
        Self { only: Some(only), ..Self::new(settings) }
    }

    fn search(&self, target: &dyn Target) -> Search {
        Search::new(target, self.only.clone())
    }

    /// Refuses a target that may not be changed, or whose devices another process has open. Writes
    /// nothing.
    ///
    /// # Errors
    /// The reason for the refusal.
    pub fn refuse(target: &mut dyn Target) -> Result<(), RunError> {
        let needs = [WritePermission::Write, WritePermission::Launch];
        check_permissions(target, "a teardown", &needs)?;
        check_holders(target)
    }

    /// Reads what stands on the mesh, and returns it with the writes of the graceful stages. Writes
    /// nothing.
    ///
    /// # Errors
    /// When an image is missing or lacks a member, or the target is gone.
    pub fn preview(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<(CleanReport, Vec<Operation>), RunError> {
        let mut search = self.search(target);
        while !search.poll(target, images)? {}
        self.found(search);
        let ranks = KernelRank::ALL.map(CleanStage::Gracefully);
        let mut operations = Vec::new();
        for stage in ranks.into_iter().chain([CleanStage::Clear, CleanStage::GiveBack]) {
            let steps = self.steps(stage, target, images)?;
            operations.extend(steps.into_iter().map(|(operation, ..)| operation));
        }
        Ok((self.report(target), operations))
    }

    /// Continues until it has to wait; the caller lets time pass. A step that fails does not keep
    /// the others from being tried: the report names it.
    ///
    /// # Errors
    /// Why the mesh may not be changed, or that the target is gone.
    pub fn poll(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<CleanProgress, RunError> {
        target.commanded_by("clean");
        let carry_out = |clean: &mut Self, task: &mut CleanTask| match task {
            CleanTask::Begin(stage) => clean.begin(*stage, target, images),
            CleanTask::Search(stage, search) => {
                let done = search.poll(target, images)?;
                if done {
                    let search = std::mem::replace(&mut **search, clean.search(target));
                    match stage {
                        CleanStage::Check => clean.check(search, target, images)?,
                        _ => clean.found(search),
                    }
                }
                Ok(done)
            }
            CleanTask::Steps(stage, group, effects) => {
                let done = group.poll(target)?;
                if done {
                    clean.note(*stage, group.failed(), effects);
                }
                Ok(done)
            }
        };
        let going = task::poll(self, |clean| &mut clean.tasks, CleanTask::progress, carry_out)?;
        Ok(going.unwrap_or_else(|| Progress::Finished(self.report(target))))
    }

    /// Polls to the end and passes `step_cycles` cycles between polls: for scripts and tests.
    ///
    /// # Errors
    /// As [`Clean::poll`], or if time cannot advance.
    pub fn finish(
        &mut self,
        target: &mut dyn Target,
        images: &mut ImageMap,
        step_cycles: u64,
    ) -> Result<CleanReport, RunError> {
        task::finish(target, step_cycles, |target| self.poll(target, images))
    }

    fn begin(
        &mut self,
        stage: CleanStage,
        target: &mut dyn Target,
        images: &mut ImageMap,
    ) -> Result<bool, RunError> {
        match stage {
            CleanStage::Find => {
                Self::refuse(target)?;
                target.never_stop_for_audit();
                self.tasks.push_front(CleanTask::Search(stage, Box::new(self.search(target))));
            }
            CleanStage::Check => {
                self.tasks.push_front(CleanTask::Search(stage, Box::new(self.search(target))));
            }
            _ => {
                let steps = self.steps(stage, target, images)?;
                let effects = steps.iter().map(|(_, place, done)| (*place, *done)).collect();
                let operations = steps.into_iter().map(|(operation, ..)| operation);
                let group = Box::new(OperationGroup::tolerant(operations));
                self.tasks.push_front(CleanTask::Steps(stage, group, effects));
            }
        }
        Ok(true)
    }

    fn found(&mut self, Search { mut tiles, unrest, problems, .. }: Search) {
        tiles.sort_by_key(|tile| tile.place);
        (self.tiles, self.unrest) = (tiles, unrest);
        self.problems.extend(problems);
    }

    /// Notes what a stage has done on each tile, and what failed.
    fn note(&mut self, stage: CleanStage, failed: &[ControlError], effects: &[(Place, Done)]) {
        for &(place, done) in effects {
            let of_place = |error: &&ControlError| at(error) == Some(place);
            let error = failed.iter().find(of_place);
            if let Some(tile) = self.tiles.iter_mut().find(|tile| tile.place == place) {
                tile.note(stage, done, error);
            }
        }
        let nowhere = failed.iter().filter(|error| at(error).is_none());
        self.problems.extend(nowhere.map(ToString::to_string));
    }
}

/// Returns the tile of a failed step.
fn at(error: &ControlError) -> Option<Place> {
    match error {
        ControlError::Access { addr, .. } | ControlError::TookTooLong { addr, .. } => {
            Some((*addr).into())
        }
        _ => None,
    }
}

impl CleanTask {
    fn progress(&self) -> CleanProgress {
        let (stage, (done, of)) = match self {
            Self::Begin(stage) => (*stage, (0, 1)),
            Self::Search(stage, search) => (*stage, search.done()),
            Self::Steps(stage, group, _) => (*stage, group.done()),
        };
        Progress::Running { stage, done, of }
    }
}
