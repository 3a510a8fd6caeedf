//! The stages of a router, from its launch to its end (tt-metal.md 4.1).

use super::Actor::{Host, Itself, Master, Nobody, Peer, Siblings};
use super::Sign::{Is, Set, Zero};
use super::{Hold, NOT_RUNNING, SERVING, Stage, WaitReason};

/// `EDMStatus`.
const STATUS: &str = "status";
const READY: super::Sign = Is(STATUS, "READY_FOR_TRAFFIC");

/// The position of the stage in which routers serve packets. A router before it has not started, and
/// one after it ends.
pub(crate) const SERVES: u8 = 6;
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
        hold: Hold::Never,
        then: &[],
    },
    Stage {
        name: "terminated",
        rank: 9,
        signs: &[Is(STATUS, "TERMINATED")],
        next: Nobody,
        reason: None,
        meaning: "its kernel has ended as asked",
        hold: Hold::Never,
        then: &[],
    },
    NOT_RUNNING,
    Stage {
        name: "paused",
        rank: SERVES,
        signs: &[Is("waypoint", "PASW")],
        next: Host,
        reason: None,
        meaning: "it serves no packets until the host lets it run",
        hold: Hold::Counted,
        then: &[SERVING, "draining", "terminated"],
    },
    Stage {
        name: "paused",
        rank: SERVES,
        signs: &[Is("state", "PAUSED")],
        next: Host,
        reason: None,
        meaning: "it serves no packets until the host's command is RUN",
        hold: Hold::Command,
        then: &[SERVING, "draining", "terminated"],
    },
    Stage {
        name: "initialization",
        rank: 1,
        signs: &[Zero(STATUS)],
        next: Itself,
        reason: None,
        meaning: "its kernel sets registers and channels up; `postcode` says how far it is",
        hold: Hold::Never,
        then: &["remote handshake", "refused"],
    },
    Stage {
        name: "remote handshake",
        rank: 2,
        signs: &[Is(STATUS, "STARTED")],
        next: Peer,
        reason: Some(WaitReason::Handshake),
        meaning: "it sends its identity over the link until that of the peer has arrived",
        hold: Hold::Counted,
        then: &["local sync", "refused", "terminated"],
    },
    Stage {
        name: "local sync",
        rank: 3,
        signs: &[Is(STATUS, "REMOTE_HANDSHAKE_COMPLETE"), Set("master")],
        next: Siblings,
        reason: Some(WaitReason::LocalSync),
        meaning: "as master of its chip it counts the routers that have met their peers, until all have",
        hold: Hold::Counted,
        then: &["ready signal", "terminated"],
    },
    Stage {
        name: "local sync",
        rank: 3,
        signs: &[Is(STATUS, "REMOTE_HANDSHAKE_COMPLETE")],
        next: Master,
        reason: Some(WaitReason::LocalSync),
        meaning: "it has told the master of its chip, which answers when all routers have met",
        hold: Hold::Counted,
        then: &["ready signal", "terminated"],
    },
    Stage {
        name: "ready signal",
        rank: MET,
        signs: &[Is(STATUS, "LOCAL_HANDSHAKE_COMPLETE"), Set("master")],
        next: Host,
        reason: Some(WaitReason::Begin),
        meaning: "all routers of its chip have met; the host writes READY_FOR_TRAFFIC",
        hold: Hold::HostWrites("READY_FOR_TRAFFIC"),
        then: &["connections", SERVING, "terminated"],
    },
    Stage {
        name: "ready signal",
        rank: MET,
        signs: &[Is(STATUS, "LOCAL_HANDSHAKE_COMPLETE")],
        next: Master,
        reason: Some(WaitReason::Begin),
        meaning: "all routers of its chip have met; the master passes READY_FOR_TRAFFIC on",
        hold: Hold::HostWrites("READY_FOR_TRAFFIC"),
        then: &["connections", SERVING, "terminated"],
    },
    Stage {
        name: "drained",
        rank: 8,
        signs: &[READY, Set("termination"), Is("waypoint", "TDNW")],
        next: Peer,
        reason: Some(WaitReason::Leave),
        meaning: "its packets have left; it ends when the peer has drained too",
        hold: Hold::Counted,
        then: &["terminated"],
    },
    Stage {
        name: "draining",
        rank: 7,
        signs: &[READY, Set("termination")],
        next: Itself,
        reason: Some(WaitReason::Drain),
        meaning: "it has a termination signal and ends when the packets in its channels have left",
        hold: Hold::Never,
        then: &["drained", "terminated"],
    },
    Stage {
        name: "connections",
        rank: 5,
        signs: &[READY, Is("waypoint", "FSCW")],
        next: Siblings,
        reason: Some(WaitReason::LocalSync),
        meaning: "it waits until the routers of its chip have opened their channels in it",
        hold: Hold::Counted,
        then: &[SERVING, "terminated"],
    },
    Stage {
        name: "connections",
        rank: 5,
        signs: &[READY, Is("state", "INITIALIZING")],
        next: Siblings,
        reason: Some(WaitReason::LocalSync),
        meaning: "it waits until the routers of its chip have opened their channels in it",
        hold: Hold::Counted,
        then: &[SERVING, "terminated"],
    },
    Stage {
        name: "retraining",
        rank: SERVES,
        signs: &[READY, Is("state", "RETRAINING")],
        next: Itself,
        reason: None,
        meaning: "it serves no packets while its link is trained again",
        hold: Hold::Never,
        then: &[SERVING],
    },
    Stage {
        name: SERVING,
        rank: SERVES,
        signs: &[READY],
        next: Itself,
        reason: None,
        meaning: "its loop serves its channels",
        hold: Hold::Command,
        then: &["paused", "retraining", "draining", "terminated"],
    },
];
