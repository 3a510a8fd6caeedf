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
            | Self::StalePointer => 6,
            Self::CreditsWrong | Self::CoreInReset | Self::Paused | Self::ChipGone => 5,
            Self::LinkDown | Self::LinkFlapping | Self::LinkBrokenAfterRetrain => 4,
            Self::MuxStarvation | Self::CircularWait | Self::CoreStuck | Self::NocUnanswered => 3,
            Self::BringUpStopped | Self::IncrementNeverSent | Self::Leftover => 2,
            Self::HostAwaited | Self::LinkUnanswered => 1,
            _ => 0,
        }
    }
}

impl Condition {
    /// Returns what a person looks at next.
    pub fn next(self) -> &'static str {
        match self {
            Self::NocUnanswered => {
                "read the silent tile: `meshscope read`, and its reset bits: `meshscope cores`"
            }
            Self::TextOverwritten => "compare the whole text: `meshscope images PLACE`",
            Self::RegionsOverlap | Self::StalePointer => {
                "compare the address with the core's regions: `meshscope print CORE`"
            }
            Self::PacketMisrouted => "follow the tables: `meshscope fabric path`",
            Self::IncrementNeverSent => {
                "look at what that core ran last: `meshscope cores PLACE --words`"
            }
            Self::BringUpStopped => {
                "launch it, or read why it does not run: `meshscope cores PLACE --words`"
            }
            Self::Leftover => "end it by its termination word, or reset its chips",
            Self::LinkDown
            | Self::LinkRetraining
            | Self::LinkFlapping
            | Self::LinkBrokenAfterRetrain
            | Self::LinkUnanswered => "watch both ends: `meshscope links`, retrains and CRC errors",
            Self::CreditsWrong => {
                "read the word at both ends: `meshscope fabric PLACE`, `meshscope print CORE`"
            }
            Self::ChipGone => "look at the links on its route: `meshscope links`",
            Self::HostAwaited => {
                "look at the launching process: is it alive, and what does it wait for?"
            }
            Self::EndsDiffer | Self::CannotWork => "launch both ends with arguments that fit",
            Self::CircularWait => {
                "use the dateline virtual channel, or send less at once: `meshscope fabric waits`"
            }
            Self::MuxStarvation => {
                "bound the wait of the mux's forwarding loop: `meshscope help study mux`"
            }
            Self::Paused => "resume it: its pause word, or RouterCommand RUN",
            Self::CoreStuck => {
                "read its registers and source line: `meshscope cores PLACE --words`"
            }
            Self::CoreInReset | Self::CoreHalted => "release it, or launch the run again",
            Self::TeardownInFlight => "let the sender wait for its credits before it closes",
            Self::SlowLink => "compare rates and errors of the links: `meshscope links`",
            Self::Slow => "compare it with its peers: `meshscope cores`",
        }
    }
}
