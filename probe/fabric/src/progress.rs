//! The progress of a fabric.

use launch::task::Progress;

/// A stage of bring-up or teardown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FabricStage {
    /// Reads every needed tile, and checks that it is free.
    Survey,
    /// Takes Ethernet tiles over from base firmware.
    TakeOver,
    /// Writes tables, status queues and kernels, and sends the go messages.
    Launch,
    /// The routers meet their peers and each other.
    Handshake,
    /// The masters are made ready for traffic, and forward the signal.
    Ready,
    /// Signals the routers to return.
    Stop,
    /// Returns the cores to base firmware.
    GiveBack,
}

impl FabricStage {
    /// Returns the stage in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Survey => "surveys the tiles",
            Self::TakeOver => "takes Ethernet tiles over",
            Self::Launch => "launches routers",
            Self::Handshake => "waits for the handshake of the routers",
            Self::Ready => "waits for the routers to be ready",
            Self::Stop => "stops the routers",
            Self::GiveBack => "gives the tiles back",
        }
    }
}

/// The progress of a fabric, counted in routers or steps.
pub type FabricProgress = Progress<FabricStage, FabricOutcome>;

/// The outcome of a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricOutcome {
    /// All routers are ready for traffic.
    Up,
    /// No router runs, and all tiles are given back.
    Down,
}

/// The way in which routers return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
    /// Routers accept no new packets, and deliver those in flight.
    Gracefully,
    /// Routers return at once.
    Immediately,
}

impl Termination {
    /// Returns the enumerator in `TerminationSignal`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gracefully => "GRACEFULLY_TERMINATE",
            Self::Immediately => "IMMEDIATELY_TERMINATE",
        }
    }
}
