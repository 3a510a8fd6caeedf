//! The end of a run: regular, cancelled, or after a failure.

use super::Run;
use super::fabric::is_mux;
use super::outcome::RunEnd;
use crate::edm_builder::EDM;
use crate::launcher::muxes;
use crate::report::{RunProgress, Stage};
use crate::task::RunTask;
use crate::teardown::{self, TeardownMode};
use crate::worker::WORKER;
use fabric::Termination;
use images::ImageMap;
use launch::occupancy::Loaded;
use launch::outcome::{Cause, RunError};
use launch::{Operation, OperationGroup, step};
use machine::place::Place;
use machine::words::counted;

impl Run {
    /// Returns the final result.
    pub(super) fn end(&mut self) -> Result<RunProgress, RunError> {
        let outcome = std::mem::replace(&mut self.outcome, RunEnd::Cancelled);
        let left = self.left.first().map(|first| {
            let steps = counted(self.left.len() as u64, "step", "steps");
            format!(
                "{steps} of the cleanup failed, the first with: {}",
                step(self.program.chip_kind.layout(), first)
            )
        });
        let left = left.into_iter().chain(self.restore.sentence());
        let left: Vec<String> = left.collect();
        match (outcome, self.left.is_empty()) {
            (RunEnd::Failed(error), _) => Err(error.and(left)),
            (RunEnd::Whole, true) => Ok(RunProgress::Finished(Some(self.report.clone()))),
            (RunEnd::Cancelled | RunEnd::Stuck, true) => Ok(RunProgress::Finished(None)),
            (_, false) => Err(RunError::new(Cause::CleanupFailed).and(left)),
        }
    }

    /// Replaces the remaining tasks by the cleanup: graceful after a cancellation, immediate after
    /// a failure.
    pub(super) fn abandon(&mut self, images: &ImageMap, outcome: RunEnd) -> Result<(), RunError> {
        let gracefully = matches!(outcome, RunEnd::Cancelled);
        let way = if gracefully { Termination::Gracefully } else { Termination::Immediately };
        self.outcome = outcome;
        self.tasks.clear();
        if gracefully {
            for kernel in [WORKER, EDM] {
                self.stop(images, TeardownMode::Graceful, |other| other == kernel)?;
            }
            // The muxes' workers terminate them, unless a worker was never launched.
            self.stop(images, TeardownMode::Graceful, is_mux)?;
            self.tasks.push_back(RunTask::Returned);
        } else {
            // What was half written cannot be relied on.
            self.launcher.loaded = Loaded::default();
            self.stop(images, TeardownMode::Immediate, |_| true)?;
            if self.fabric.is_some() {
                self.tasks.extend([RunTask::RollCall, RunTask::Release]);
            }
            let clear = self.running.iter();
            let clear = clear.map(|(place, kernel)| teardown::clear(images, *place, kernel));
            let clear = OperationGroup::tolerant(clear.collect::<Result<Vec<_>, _>>()?);
            self.tasks.extend([RunTask::Steps(Stage::GiveBack, clear), RunTask::Returned]);
        }
        if self.leave_fabric(way) {
            self.tasks.push_back(RunTask::Fabric(Stage::FabricDown, (0, 1)));
        }
        self.tasks.extend([RunTask::GiveBack, RunTask::Restore]);
        Ok(())
    }

    /// Returns the operation that signals a kernel to return. A mux has its signal among its words.
    fn signal(
        &self,
        images: &ImageMap,
        way: TeardownMode,
        place: Place,
        kernel: &'static str,
    ) -> Result<Operation, RunError> {
        let muxes = if is_mux(kernel) { muxes(images, &self.program)? } else { Vec::new() };
        let Some(mux) = muxes.iter().find(|mux| mux.place == place) else {
            return teardown::stop(images, way, place, kernel);
        };
        let signal = teardown::signal(images, way, kernel)?;
        let mut operation = Operation::new(format!("stop {kernel} on {place}"));
        operation.write_word(place.at(mux.word(images, "termination_signal")?.into()), signal);
        Ok(operation)
    }

    /// Signals some of the kernels to return, and waits for them.
    fn stop(
        &mut self,
        images: &ImageMap,
        way: TeardownMode,
        which: impl Fn(&str) -> bool,
    ) -> Result<(), RunError> {
        let (mut tell, mut wait) = (Vec::new(), Vec::new());
        for (&place, &kernel) in self.running.iter().filter(|(_, kernel)| which(kernel)) {
            tell.push(self.signal(images, way, place, kernel)?);
            let patience = self.settings.deadline_cycles;
            wait.push(teardown::await_return(images, place, kernel, patience)?);
        }
        for operations in [tell, wait] {
            let together = match way {
                TeardownMode::Graceful => OperationGroup::new(operations),
                TeardownMode::Immediate => OperationGroup::tolerant(operations),
            };
            self.tasks.push_back(RunTask::Steps(Stage::Stop, together));
        }
        Ok(())
    }
}
