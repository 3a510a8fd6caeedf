//! The stages of a core of the ring ping (`firmware/device/kernels/ring_ping.hpp`).

use super::Actor::Peer;
use super::Sign::{At, Is, Zero};
use super::edm::{OFFERS, answer, answer_awaited, end, not_begun, offer, offer_awaited, stage};
use super::{Hold, Sign, Stage, WaitReason};

const PHASE: &str = "phase";
const STAGE: &str = "stage";
const HANDSHAKE: Sign = Is(PHASE, "RING_PING_HANDSHAKE");
const SIBLING: &str = "sibling handshake";
const LAPS: &str = "laps";
const TEARDOWN: &str = "teardown";

/// `ring_ping_phase_t`, by its value.
pub(in super::super) const PHASES: [&str; 7] = [
    "RING_PING_NOT_STARTED",
    "RING_PING_HANDSHAKE",
    "RING_PING_RUNNING",
    "RING_PING_TEARDOWN",
    "RING_PING_FINISHED",
    "RING_PING_STOPPED",
    "RING_PING_REFUSED",
];

/// The stages of the ring ping, by `ring_ping_state.phase` and, within the handshakes, by
/// `ring_ping_state.control.stage`.
pub const RING_PING: &[Stage] = &[
    not_begun(&[HANDSHAKE, Zero(STAGE)], &["offer", "offer awaited"]),
    offer(&[HANDSHAKE, At(STAGE, 1), OFFERS]),
    offer_awaited(&[HANDSHAKE, At(STAGE, 1)]),
    answer_awaited(&[HANDSHAKE, At(STAGE, 2), OFFERS], &[SIBLING]),
    answer(&[HANDSHAKE, At(STAGE, 2)], &[SIBLING, "refused"]),
    stage(
        SIBLING,
        2,
        &[HANDSHAKE],
        "waits for the hello of the other Ethernet tile of the ring on its chip",
        &[LAPS, "stopped"],
    ),
    Stage {
        name: "payload awaited",
        rank: 3,
        signs: &[Is(PHASE, "RING_PING_RUNNING"), Is("waypoint", "PAYW")],
        next: Peer,
        reason: Some(WaitReason::Message),
        meaning: "waits for the payload of the lap",
        hold: Hold::Counted,
        then: &[LAPS, TEARDOWN],
    },
    stage(
        LAPS,
        3,
        &[Is(PHASE, "RING_PING_RUNNING")],
        "passes the payload on, one lap a stage",
        &["payload awaited", TEARDOWN, "stopped"],
    ),
    stage(
        TEARDOWN,
        4,
        &[Is(PHASE, "RING_PING_TEARDOWN")],
        "waits until every credit has been returned",
        &["finished", "stopped"],
    ),
    end("finished", 5, &[Is(PHASE, "RING_PING_FINISHED")], "every credit has been returned"),
    end("stopped", 0, &[Is(PHASE, "RING_PING_STOPPED")], "was told to stop at once"),
    end(
        "refused",
        0,
        &[Is(PHASE, "RING_PING_REFUSED")],
        "its arguments are wrong, or the ends of its link disagree about them",
    ),
];
