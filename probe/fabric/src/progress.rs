//! How far a fabric is.

use launch::task::Progress;

/// What a fabric is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FabricStage {
    /// Looks at every tile that it needs, and judges whether they are free.
    Survey,
    /// Ethernet tiles are taken over from base firmware.
    TakeOver,
    /// Tables, status queues and kernels are written, and the routers are told to go.
    Launch,
    /// The routers meet their peers and each other.
    Handshake,
    /// The masters were told that there may be traffic, and hand it on.
    Ready,
    /// The routers are told to return.
    Stop,
    /// Base firmware gets its cores back.
    GiveBack,
}

impl FabricStage {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Survey => "reads the tiles",
            Self::TakeOver => "takes Ethernet tiles over",
            Self::Launch => "launches routers",
            Self::Handshake => "waits for the handshake of the routers",
            Self::Ready => "waits for the routers to be ready",
            Self::Stop => "stops the routers",
            Self::GiveBack => "gives the tiles back",
        }
    }
}

/// Where a fabric stands. What is done is routers, or else steps.
pub type FabricProgress = Progress<FabricStage, FabricOutcome>;

/// What a fabric comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricOutcome {
    /// All routers are ready for traffic.
    Up,
    /// No router runs any more, and everything is given back.
    Down,
}

/// How routers are told to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
    /// No new packets; those that are under way arrive first.
    Gracefully,
    /// Wherever they are.
    Immediately,
}

impl Termination {
    /// Its enumerator in `TerminationSignal`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gracefully => "GRACEFULLY_TERMINATE",
            Self::Immediately => "IMMEDIATELY_TERMINATE",
        }
    }
}
