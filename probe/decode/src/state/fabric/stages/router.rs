//! The stages of a router, from its launch to its end (tt-metal.md 4.1).

use super::Actor::{Host, Itself, Master, Nobody, Peer, Siblings};
use super::Sign::{Is, Set, Zero};
use super::{Stage, WaitReason};

/// `EDMStatus`.
const STATUS: &str = "status";
const READY: super::Sign = Is(STATUS, "READY_FOR_TRAFFIC");

/// The position of the stage in which routers serve packets. A router before it has not started, and
/// one after it ends.
pub(crate) const SERVES: u8 = 6;
pub(super) const SERVING: &str = "serving";
/// The position of routers that have met their peer and the routers of their chip.
pub(crate) const MET: u8 = 4;

/// The stages of a router. Built-in routers tell a pause and the stages within `READY_FOR_TRAFFIC` by
/// waypoint, tt-metal's by `RouterState`.
pub const ROUTER: &[Stage] = &[
    Stage {
        name: "refused",
        rank: 0,
        signs: &[Is(STATUS, "REFUSED")],
        next: Nobody,
        reason: None,
        meaning: "its arguments or its peer do not fit, and its kernel has ended",
    },
    Stage {
        name: "terminated",
        rank: 9,
        signs: &[Is(STATUS, "TERMINATED")],
        next: Nobody,
        reason: None,
        meaning: "its kernel has ended as asked",
    },
    Stage {
        name: "not running",
        rank: 0,
        signs: &[Zero("running")],
        next: Host,
        reason: None,
        meaning: "no kernel runs: the host has not launched it, or it was stopped",
    },
    Stage {
        name: "paused",
        rank: SERVES,
        signs: &[Is("waypoint", "PASW")],
        next: Host,
        reason: None,
        meaning: "it serves no packets until the host lets it run",
    },
    Stage {
        name: "paused",
        rank: SERVES,
        signs: &[Is("state", "PAUSED")],
        next: Host,
        reason: None,
        meaning: "it serves no packets until the host's command is RUN",
    },
    Stage {
        name: "initialization",
        rank: 1,
        signs: &[Zero(STATUS)],
        next: Itself,
        reason: None,
        meaning: "its kernel sets registers and channels up; `postcode` says how far it is",
    },
    Stage {
        name: "remote handshake",
        rank: 2,
        signs: &[Is(STATUS, "STARTED")],
        next: Peer,
        reason: Some(WaitReason::Handshake),
        meaning: "it sends its identity over the link until that of the peer has arrived",
    },
    Stage {
        name: "local sync",
        rank: 3,
        signs: &[Is(STATUS, "REMOTE_HANDSHAKE_COMPLETE"), Set("master")],
        next: Siblings,
        reason: Some(WaitReason::LocalSync),
        meaning: "as master of its chip it counts the routers that have met their peers, until all have",
    },
    Stage {
        name: "local sync",
        rank: 3,
        signs: &[Is(STATUS, "REMOTE_HANDSHAKE_COMPLETE")],
        next: Master,
        reason: Some(WaitReason::LocalSync),
        meaning: "it has told the master of its chip, which answers when all routers have met",
    },
    Stage {
        name: "ready signal",
        rank: MET,
        signs: &[Is(STATUS, "LOCAL_HANDSHAKE_COMPLETE"), Set("master")],
        next: Host,
        reason: Some(WaitReason::Begin),
        meaning: "all routers of its chip have met; the host writes READY_FOR_TRAFFIC",
    },
    Stage {
        name: "ready signal",
        rank: MET,
        signs: &[Is(STATUS, "LOCAL_HANDSHAKE_COMPLETE")],
        next: Master,
        reason: Some(WaitReason::Begin),
        meaning: "all routers of its chip have met; the master passes READY_FOR_TRAFFIC on",
    },
    Stage {
        name: "drained",
        rank: 8,
        signs: &[READY, Set("termination"), Is("waypoint", "TDNW")],
        next: Peer,
        reason: Some(WaitReason::Leave),
        meaning: "its packets have left; it ends when the peer has drained too",
    },
    Stage {
        name: "draining",
        rank: 7,
        signs: &[READY, Set("termination")],
        next: Itself,
        reason: Some(WaitReason::Drain),
        meaning: "it has a termination signal and ends when the packets in its channels have left",
    },
    Stage {
        name: "connections",
        rank: 5,
        signs: &[READY, Is("waypoint", "FSCW")],
        next: Siblings,
        reason: Some(WaitReason::LocalSync),
        meaning: "it waits until the routers of its chip have opened their channels in it",
    },
    Stage {
        name: "connections",
        rank: 5,
        signs: &[READY, Is("state", "INITIALIZING")],
        next: Siblings,
        reason: Some(WaitReason::LocalSync),
        meaning: "it waits until the routers of its chip have opened their channels in it",
    },
    Stage {
        name: "retraining",
        rank: SERVES,
        signs: &[READY, Is("state", "RETRAINING")],
        next: Itself,
        reason: None,
        meaning: "it serves no packets while its link is trained again",
    },
    Stage {
        name: SERVING,
        rank: SERVES,
        signs: &[READY],
        next: Itself,
        reason: None,
        meaning: "its loop serves its channels",
    },
];
