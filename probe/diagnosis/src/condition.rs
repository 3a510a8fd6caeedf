//! The citable names of findings.

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It moves, slower than its peers.
    Slow,
    /// Something is wrong, and nothing stands still because of it.
    Fault,
    /// Something stands still because of it.
    Hang,
}

impl Severity {
    /// Returns the word that is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Fault => "fault",
            Self::Hang => "hang",
        }
    }
}

macro_rules! conditions {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A finding's citable name, stable over versions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Condition {
            $($(#[$doc])* $variant,)*
        }

        impl Condition {
            /// All conditions.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the name that is cited and printed.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Returns the condition of this name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|condition| condition.name() == name)
            }
        }
    };
}

conditions! {
    /// A NoC transaction was issued and never answered.
    NocUnanswered = "noc-unanswered",
    /// The text of a kernel or firmware in L1 differs from its image.
    TextOverwritten = "text-overwritten",
    /// Two live regions of a core overlap.
    RegionsOverlap = "regions-overlap",
    /// A live word lies outside every region of its core, or in a freed one.
    StalePointer = "stale-pointer",
    /// A packet was sent the wrong way, or cannot reach its destination.
    PacketMisrouted = "packet-misrouted",
    /// A worker waits for an increment that its peer has not sent.
    IncrementNeverSent = "increment-never-sent",
    /// A bring-up stopped at a stage.
    BringUpStopped = "bring-up-stopped",
    /// Kernels or words of an earlier job were left behind.
    Leftover = "leftover",
    /// A link that had a peer carries nothing.
    LinkDown = "link-down",
    /// A link trains again.
    LinkRetraining = "link-retraining",
    /// A link goes down and up again and again.
    LinkFlapping = "link-flapping",
    /// A link is up again after it trained, and carries nothing.
    LinkBrokenAfterRetrain = "link-broken-after-retrain",
    /// Both ends of a link are up, and nothing that is sent over it is answered.
    LinkUnanswered = "link-unanswered",
    /// Packets sent are not those acknowledged and in flight.
    CreditsWrong = "credits-wrong",
    /// A chip does not answer.
    ChipGone = "chip-gone",
    /// Dispatch waits for the host.
    HostAwaited = "host-awaited",
    /// The two ends of a link were built differently.
    EndsDiffer = "ends-differ",
    /// Routers wait for each other in a circle.
    CircularWait = "circular-wait",
    /// A mux waits on one channel and starves the others.
    MuxStarvation = "mux-starvation",
    /// A core executes nothing, or does not use what it has.
    CoreStuck = "core-stuck",
    /// A kernel was paused and not resumed.
    Paused = "paused",
    /// A core that should run is held in reset.
    CoreInReset = "core-in-reset",
    /// A core was halted by a debugger.
    CoreHalted = "core-halted",
    /// A connection was closed while its credits were in flight.
    TeardownInFlight = "teardown-in-flight",
    /// The configuration cannot work.
    CannotWork = "cannot-work",
    /// A link is slower than its peers.
    SlowLink = "slow-link",
    /// Something moves slower than its peers.
    Slow = "slow",
}

impl Condition {
    /// Returns how much a finding explains: of two, the one with the higher number is the cause.
    pub(crate) fn explains(self) -> u8 {
        match self {
            Self::EndsDiffer
            | Self::CannotWork
            | Self::TextOverwritten
            | Self::RegionsOverlap
            | Self::StalePointer
            | Self::TeardownInFlight => 6,
            Self::CreditsWrong
            | Self::CoreInReset
            | Self::CoreHalted
            | Self::Paused
            | Self::ChipGone => 5,
            Self::LinkDown | Self::LinkFlapping | Self::LinkBrokenAfterRetrain => 4,
            Self::MuxStarvation | Self::CircularWait | Self::CoreStuck | Self::NocUnanswered => 3,
            Self::BringUpStopped | Self::IncrementNeverSent | Self::Leftover => 2,
            Self::HostAwaited | Self::LinkUnanswered => 1,
            _ => 0,
        }
    }
}
