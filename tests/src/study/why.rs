//! The bank of hangs: kinds of runs that stand still, and of healthy and slow runs, each drawn from
//! a seed on an emulated mesh and handed over with its ground truth.
//!
//! A run is handed over as a hung job is found: its host does nothing more. Whoever judges it gets
//! the target only, and finds everything else in the mesh.

mod bring_up;
mod carried;
mod collective;
mod dispatches;
mod edm;
mod ends;
mod ground;
mod judged;
mod memory;
mod metal;
mod muxes;
mod quiet;
mod ring;
mod routers;
mod routes;
mod table;
mod work;

use access::bar_target::BarTarget;
use diagnosis::{Condition, Place, Severity};
use ground::Ground;
pub use judged::{Judged, judge, judge_staged};
use machine::snapshot::Span;
pub use metal::MetalKind;
pub use table::STUDY;
pub use work::Movement;
use workloads::scene::SceneError;

/// What is wrong with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    /// The condition that is the first cause.
    pub condition: Condition,
    /// How bad it is.
    pub severity: Severity,
    /// The place of the cause; any of these is exact, for example a link or the stuck core at its
    /// end.
    pub root: Vec<Place>,
}

/// An emulated mesh whose run has come to the point.
pub struct Staged {
    /// The mesh; its clock stands until the next access.
    pub target: BarTarget,
    /// Mesh, run, place, time and parameters, for a person.
    pub about: String,
    /// What is wrong; none: the run is healthy.
    pub truth: Option<Truth>,
    /// The words in which the kernels of the run count their work, to prove that the truth holds;
    /// a diagnosis must not see them.
    pub work: Vec<Span>,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $severity:expr, $stage:path;)*) => {
        /// A kind of run in the bank.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($(#[$doc])* $variant,)*
        }

        impl Kind {
            /// All kinds: hangs first, then faults that stop nothing, slow runs and healthy ones.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Returns how bad it is; none: healthy.
            pub fn severity(self) -> Option<Severity> {
                match self {
                    $(Self::$variant => $severity,)*
                }
            }

            fn stager(self) -> fn(Ground) -> Result<Staged, SceneError> {
                match self {
                    $(Self::$variant => $stage,)*
                }
            }
        }
    };
}

const HANG: Option<Severity> = Some(Severity::Hang);

kinds! {
    /// A link of an EDM collective goes down in mid-run and stays down.
    EdmLinkDown = "edm-link-down", HANG, edm::link_down;
    /// A link goes down before the collective is launched: the EDMs never shake hands.
    EdmLinkDownBefore = "edm-link-down-before", HANG, edm::link_down_before;
    /// An Ethernet core that runs an EDM executes nothing more.
    EdmStuck = "edm-stuck", HANG, edm::edm_stuck;
    /// A worker of a collective executes nothing more.
    WorkerStuck = "worker-stuck", HANG, edm::worker_stuck;
    /// A worker was stuck when its go message was written.
    WorkerStuckBeforeGo = "worker-stuck-before-go", HANG, edm::worker_stuck_before_go;
    /// Somebody holds a core of the run in reset.
    CoreInReset = "core-in-reset", HANG, edm::core_in_reset;
    /// A collective was launched on all tiles but one.
    PeerMissing = "peer-missing", HANG, ends::peer_missing;
    /// The two ends of a channel wait for more messages than its worker sends.
    MessageMissing = "message-missing", HANG, ends::message_missing;
    /// A worker's text is overwritten.
    TextOverwritten = "text-overwritten", HANG, memory::text_overwritten;
    /// An EDM increments a word outside of every region instead of its worker's semaphore.
    SemaphoreStale = "semaphore-stale", HANG, memory::semaphore_stale;
    /// A worker's credits are overwritten by an older value.
    CreditsLost = "credits-lost", HANG, memory::credits_lost;
    /// A worker reads or writes a tile that does not answer.
    NocUnanswered = "noc-unanswered", HANG, memory::noc_unanswered;
    /// The EDMs of a link have different arguments.
    EndsDiffer = "ends-differ", HANG, ends::ends_differ;
    /// Neither EDM of a link begins the handshake, or both do.
    HandshakeImpossible = "handshake-impossible", HANG, ends::handshake_impossible;
    /// An op on a link takes the credits that the op before it left in flight.
    CreditsInFlight = "credits-in-flight", HANG, ends::credits_in_flight;
    /// The acknowledges of one end of a link do not arrive.
    AcksLost = "acks-lost", HANG, edm::acks_lost;
    /// The launcher of a collective is killed between the go messages of two chips.
    LauncherKilled = "launcher-killed", HANG, ends::launcher_killed;
    /// A link is up again after it was down, and carries nothing.
    LinkBroken = "link-broken", HANG, edm::link_broken;
    /// The staging area of a worker overlaps its text.
    RegionsOverlap = "regions-overlap", HANG, memory::regions_overlap;
    /// A worker of a collective is paused by its control word.
    WorkerPaused = "worker-paused", HANG, edm::worker_paused;
    /// A debugger halted a worker of a collective, and never came back.
    WorkerHalted = "worker-halted", HANG, edm::worker_halted;
    /// A core of a ring ping executes nothing more.
    RingStuck = "ring-stuck", HANG, ring::core_stuck;
    /// A link of a ring ping goes down.
    RingLinkDown = "ring-link-down", HANG, ring::link_down;
    /// A ring ping was launched on all cores but one.
    RingMemberMissing = "ring-member-missing", HANG, ring::member_missing;
    /// A core of a ring ping is paused by its control word.
    RingPaused = "ring-paused", HANG, ring::paused;
    /// A core of a ring ping has another run id than the others.
    RingEndsDiffer = "ring-ends-differ", HANG, ring::ends_differ;
    /// All links of a chip without PCIe go down during a ring ping.
    ChipGone = "chip-gone", HANG, ring::chip_gone;
    /// A router executes nothing more under traffic.
    RouterStuck = "router-stuck", HANG, routers::router_stuck;
    /// A link of a fabric goes down under traffic, and there is no fallback.
    FabricLinkDown = "fabric-link-down", HANG, routers::link_down;
    /// A ring without dateline, in which every chip sends half round.
    WithoutDateline = "without-dateline", HANG, routers::without_dateline;
    /// A fabric of which one router was never launched.
    BringUpMissing = "bring-up-missing", HANG, bring_up::missing;
    /// A fabric with a link that is down when its routers shake hands.
    BringUpLinkDown = "bring-up-link-down", HANG, bring_up::link_down;
    /// A fabric whose host ended before it made the routers ready for traffic.
    BringUpWithoutHost = "bring-up-without-host", HANG, bring_up::without_host;
    /// A fabric whose host ended after it had told only some chips to end.
    TeardownHalfDone = "teardown-half-done", HANG, bring_up::teardown_half_done;
    /// A router that somebody paused while the fabric came up.
    RouterPaused = "router-paused", HANG, bring_up::router_paused;
    /// The routing tables of a chip are overwritten: packets go back, or nowhere.
    Misrouted = "misrouted", HANG, routes::misrouted;
    /// A worker's packets make a wrong number of hops.
    WrongHops = "wrong-hops", HANG, routes::wrong_hops;
    /// The routers of a link were built for different topologies.
    RoutersDiffer = "routers-differ", HANG, routes::routers_differ;
    /// A worker of a collective over a fabric executes nothing more.
    CarriedWorkerStuck = "carried-worker-stuck", HANG, carried::worker_stuck;
    /// A router of a collective over a fabric executes nothing more.
    CarriedRouterStuck = "carried-router-stuck", HANG, carried::router_stuck;
    /// A mux waits for its router with one packet and starves its other clients.
    MuxStarvation = "mux-starvation", HANG, muxes::starvation;
    /// A client of a mux ends without closing its channel.
    ClientCrashes = "client-crashes", HANG, muxes::client_crashes;
    /// A dispatcher waits for a worker that is stuck.
    DispatchStuck = "dispatch-stuck", HANG, dispatches::worker_stuck;
    /// A dispatcher waits for room in the completion queue, which its host does not read.
    QueueFull = "queue-full", HANG, dispatches::queue_full;
    /// A dispatcher waits for a worker that never got its go message.
    GoMissing = "go-missing", HANG, dispatches::go_missing;
    /// A link of a fabric goes down under traffic, and the packets take another one.
    Rerouted = "rerouted", Some(Severity::Fault), routers::rerouted;
    /// A link of a collective goes down and up again and again.
    LinkFlaps = "link-flaps", Some(Severity::Fault), edm::link_flaps;
    /// A link of a collective goes down and up again once.
    LinkRetrains = "link-retrains", Some(Severity::Fault), edm::link_retrains;
    /// The firmware of an Ethernet core on which no kernel runs has stopped.
    FirmwareStopped = "firmware-stopped", Some(Severity::Fault), quiet::firmware_stopped;
    /// One link of a collective is a hundred times as slow as the others.
    LinkSlow = "link-slow", Some(Severity::Slow), quiet::link_slow;
    /// One end of a link of a collective acknowledges two milliseconds late.
    SlowAck = "slow-ack", Some(Severity::Slow), quiet::slow_ack;
    /// One worker of a collective needs much longer than the others.
    WorkerSlow = "worker-slow", Some(Severity::Slow), memory::worker_slow;
    /// Firmware only.
    Idle = "idle", None, quiet::idle;
    /// A ring ping.
    Ring = "ring", None, quiet::ring;
    /// An all-gather over EDMs.
    AllGather = "all-gather", None, quiet::all_gather;
    /// An all-reduce or reduce-scatter over EDMs.
    Reduction = "reduction", None, quiet::reduction;
    /// A fabric without clients.
    FabricIdle = "fabric-idle", None, quiet::fabric_idle;
    /// A fabric under random traffic.
    FabricTraffic = "fabric-traffic", None, quiet::fabric_traffic;
    /// A collective over a fabric.
    Carried = "carried", None, carried::healthy;
    /// A mux that gives every client its turn.
    MuxFair = "mux-fair", None, muxes::fair;
    /// Any of these runs on links that all are 16 times as slow.
    AllLinksSlow = "all-links-slow", None, quiet::all_links_slow;
    /// Any of these runs with bit errors on a link.
    BitErrors = "bit-errors", None, quiet::bit_errors;
    /// Any of these runs after a link was down for a short time.
    ShortOutage = "short-outage", None, quiet::short_outage;
    /// Workers that compute for long between two signs of life.
    LongPauses = "long-pauses", None, quiet::long_pauses;
}

impl Kind {
    /// Returns the kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Returns true if the run stands still.
    pub fn is_hang(self) -> bool {
        self.severity() == Some(Severity::Hang)
    }

    /// Draws a run from the seed, and brings an emulated mesh to it.
    ///
    /// # Errors
    /// When the mesh cannot be built, or the run does not do what its kind says.
    pub fn stage(self, seed: u64) -> Result<Staged, SceneError> {
        self.stager()(Ground::new(self.name(), seed, false))
    }

    /// Stages a run as [`Kind::stage`] does, on the smallest mesh that can have it.
    ///
    /// # Errors
    /// The same.
    pub fn stage_small(self, seed: u64) -> Result<Staged, SceneError> {
        self.stager()(Ground::new(self.name(), seed, true))
    }
}

#[cfg(test)]
mod tests;
