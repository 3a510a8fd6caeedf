//! The things that a run does, one after the other.

use super::check::Comparison;
use super::launcher::Layer;
use super::report::{RunProgress, Stage};
use super::watch::Watch;
use fabric::Release;
use launch::Together;

/// One thing to do.
#[derive(Debug)]
pub(super) enum Task {
    /// Looks whether the mesh is free.
    Judge,
    /// Composes the launch of a layer.
    Launch(Layer),
    /// Carries commands out, side by side.
    Steps(Stage, Together),
    /// From now on data moves: the time from which faults count.
    Moves,
    /// The last go message of a launch is on its way.
    Gone(Layer),
    /// Follows kernels to their end.
    Watch(Layer, Box<Watch>),
    /// Looks at the digests.
    Digests,
    /// Reads a stretch that differs.
    Compare(Box<Comparison>),
    /// No kernel runs any more.
    Returned,
    /// Polls the fabric until it is up, or down; how far it is.
    Fabric(Stage, (u64, u64)),
    /// Looks who does not answer, after all were told to return at once.
    RollCall,
    /// Composes what closes the channels of a fabric that goes on.
    Release,
    /// Closes them.
    Close(Box<Release>),
    /// Waits for muxes, which end when their workers have told them.
    Muxes,
    /// Composes what clears away.
    GiveBack,
}

impl Task {
    /// How far it is.
    pub(super) fn progress(&self) -> RunProgress {
        let (stage, (done, of)) = match self {
            Self::Judge | Self::Launch(_) | Self::Moves | Self::Gone(_) => (Stage::Survey, (0, 1)),
            Self::Steps(stage, together) => (*stage, together.done()),
            Self::Watch(Layer::Fill, watch) => (Stage::Fill, watch.done()),
            Self::Watch(Layer::Transfer, watch) => (Stage::Transfer, watch.done()),
            Self::Watch(Layer::Check, watch) => (Stage::Check, watch.done()),
            Self::Digests => (Stage::Check, (0, 1)),
            Self::Compare(comparison) => (Stage::Compare, comparison.done()),
            Self::Fabric(stage, done) => (*stage, *done),
            Self::Close(release) => (Stage::GiveBack, release.done()),
            Self::Returned | Self::RollCall | Self::Release | Self::Muxes | Self::GiveBack => {
                (Stage::GiveBack, (0, 1))
            }
        };
        RunProgress::Going { stage, done, of }
    }
}
