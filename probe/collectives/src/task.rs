//! The tasks of a run, carried out in sequence.

use super::check::Comparison;
use super::clean::Clean;
use super::launcher::Layer;
use super::report::{RunProgress, Stage};
use super::watch::Watch;
use fabric::Release;
use launch::OperationGroup;
use layouts::ChipId;

#[derive(Debug)]
pub(super) enum RunTask {
    /// Checks that the mesh is free.
    Judge,
    /// Composes the launch of a layer.
    Launch(Layer),
    /// Carries out operations in parallel.
    Steps(Stage, OperationGroup),
    /// Notes the time before the go messages of a chip.
    Goes(ChipId),
    /// Marks the start of the data transfer, from which the times of faults count.
    Moves,
    /// Starts the watch, after the last go message of a launch.
    Gone(Layer),
    /// Observes kernels until they end.
    Watch(Layer, Box<Watch>),
    /// Compares the digests.
    Digests,
    /// Reads a range that differs.
    Compare(Box<Comparison>),
    /// Records that no kernel is running.
    Returned,
    /// Leaves the mesh as it stands for one poll, before the cleanup of a failed run; whether that
    /// was done.
    Stands(bool),
    /// Polls the fabric until it is up or down; with its progress.
    Fabric(Stage, (u64, u64)),
    /// Finds the cores that do not answer the immediate termination signal.
    RollCall,
    /// Composes the closing of the channels of a fabric that continues.
    Release,
    /// Closes the channels.
    Close(Box<Release>),
    /// Waits for muxes, which end when their workers have signalled them.
    Muxes,
    /// Composes the return of the tiles to base firmware.
    GiveBack,
    /// Begins to look for what is left on the tiles of a run that failed, or whose cleanup did.
    Restore,
    /// Tears down what is left on them.
    Clean(Box<Clean>, (u64, u64)),
}

impl RunTask {
    pub(super) fn progress(&self) -> RunProgress {
        let (stage, (done, of)) = match self {
            Self::Judge | Self::Launch(_) | Self::Goes(_) | Self::Moves | Self::Gone(_) => {
                (Stage::Survey, (0, 1))
            }
            Self::Steps(stage, together) => (*stage, together.done()),
            Self::Watch(layer, watch) => (layer.stage(), watch.done()),
            Self::Digests => (Stage::Check, (0, 1)),
            Self::Compare(comparison) => (Stage::Compare, comparison.done()),
            Self::Fabric(stage, done) => (*stage, *done),
            Self::Close(release) => (Stage::GiveBack, release.done()),
            Self::Stands(_) => (Stage::Stop, (0, 1)),
            Self::Clean(_, done) => (Stage::GiveBack, *done),
            Self::Returned
            | Self::RollCall
            | Self::Release
            | Self::Muxes
            | Self::GiveBack
            | Self::Restore => (Stage::GiveBack, (0, 1)),
        };
        RunProgress::Running { stage, done, of }
    }
}
