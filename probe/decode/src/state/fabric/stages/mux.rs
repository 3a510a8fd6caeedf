//! The stages of a mux, from its launch to its end (tt-metal.md 5.1, tt-metal.md 5.2).

use super::Actor::{Nobody, Server};
use super::Sign::{Is, Set};
use super::edm::stage;
use super::{Hold, NOT_RUNNING, SERVING, Sign, Stage, WaitReason};

const STATUS: &str = "status";
const CONNECTION: &str = "connection";
const ENDED: &str = "ended";

/// The stages of a mux. `connection` is the stage of its own connection to its router, `answers`
/// whether a client waits for the answer to its close, `queued` whether a channel holds packets.
pub const MUX: &[Stage] = &[
    Stage {
        name: ENDED,
        rank: 7,
        signs: &[Is(STATUS, "TERMINATED")],
        next: Nobody,
        reason: None,
        meaning: "its kernel has ended as asked",
        hold: Hold::Never,
        then: &[],
    },
    NOT_RUNNING,
    waiting(
        "opening",
        1,
        &[Is(CONNECTION, "CLIENT_OPENING")],
        WaitReason::Ready,
        "waits until its router is READY_FOR_TRAFFIC",
        &[SERVING, ENDED],
    ),
    waiting(
        "closing",
        6,
        &[Is(CONNECTION, "CLIENT_CLOSING")],
        WaitReason::Teardown,
        "has requested the end of its own connection (step 11)",
        &["closed", ENDED],
    ),
    stage(
        "closed",
        6,
        &[Set("termination"), Is(CONNECTION, "CLIENT_CLOSED")],
        "its own connection has ended, and its kernel returns (step 12)",
        &[ENDED],
    ),
    stage(
        "drain",
        4,
        &[Set("termination"), Set("queued")],
        "has a termination signal and sends what its channels hold (step 9)",
        &["leaves its loop", ENDED],
    ),
    stage(
        "leaves its loop",
        5,
        &[Set("termination")],
        "has a termination signal, and its channels are empty (step 10)",
        &["closing", ENDED],
    ),
    stage(
        "answers a close",
        3,
        &[Is(STATUS, "READY_FOR_TRAFFIC"), Set("answers")],
        "a client has requested the end of its connection (step 3)",
        &[SERVING],
    ),
    stage(
        SERVING,
        2,
        &[Is(STATUS, "READY_FOR_TRAFFIC")],
        "forwards the packets of its channels in turn",
        &["answers a close", "drain", "leaves its loop", ENDED],
    ),
    stage("initialization", 1, &[Set("running")], "sets up its channels", &["opening", SERVING]),
];

const fn waiting(
    name: &'static str,
    rank: u8,
    signs: &'static [Sign],
    reason: WaitReason,
    meaning: &'static str,
    then: &'static [&'static str],
) -> Stage {
    Stage { next: Server, reason: Some(reason), ..stage(name, rank, signs, meaning, then) }
}
