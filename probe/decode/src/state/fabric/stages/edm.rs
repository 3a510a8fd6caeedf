//! The stages of an ERISC data mover and of its channels (`firmware/device/edm/edm.hpp`).

use super::Actor::{Client, Itself, Nobody, Peer};
use super::Sign::{Is, Set, Zero};
use super::{Sign, Stage, WaitReason};

const PHASE: &str = "phase";
const SENDER: Sign = Is("role", "sender");
const RECEIVER: Sign = Is("role", "receiver");

/// The stages of an EDM, by `edm_state.phase`.
pub const EDM: &[Stage] = &[
    Stage {
        name: "handshake",
        rank: 1,
        signs: &[Is(PHASE, "EDM_HANDSHAKE")],
        next: Peer,
        reason: Some(WaitReason::Handshake),
        meaning: "sends its arguments over the link until those of the other end have come",
    },
    stage(
        "serves its channels",
        2,
        &[Is(PHASE, "EDM_RUNNING")],
        "moves the messages of its channels, each of which has stages of its own",
    ),
    stage(
        "teardown",
        3,
        &[Is(PHASE, "EDM_TEARDOWN")],
        "waits until every credit of its channels has been returned",
    ),
    end("finished", 4, &[Is(PHASE, "EDM_FINISHED")], "every credit has been returned"),
    end("stopped", 0, &[Is(PHASE, "EDM_STOPPED")], "was told to stop at once"),
    end("refused", 0, &[Is(PHASE, "EDM_REFUSED")], "its arguments, or the two ends, do not match"),
];

/// The stages of a channel of a serving EDM. `in_flight` is set while a message that was sent is not
/// completed, as the channel's end knows it.
pub const EDM_CHANNEL: &[Stage] = &[
    Stage {
        name: "waits for its worker to send",
        rank: 1,
        signs: &[SENDER, Zero("in_flight")],
        next: Client,
        reason: Some(WaitReason::Message),
        meaning: "has nothing to send",
    },
    Stage {
        name: "waits for the completion",
        rank: 2,
        signs: &[SENDER, Set("in_flight")],
        next: Peer,
        reason: Some(WaitReason::Completion),
        meaning: "has sent, and the other end has not freed the buffer",
    },
    Stage {
        name: "waits for a message",
        rank: 1,
        signs: &[RECEIVER, Zero("in_flight")],
        next: Peer,
        reason: Some(WaitReason::Message),
        meaning: "nothing has come over the link",
    },
    Stage {
        name: "waits for its worker to read",
        rank: 2,
        signs: &[RECEIVER, Set("in_flight")],
        next: Client,
        reason: Some(WaitReason::Read),
        meaning: "a message has come, and its worker has not read it",
    },
];

const fn stage(
    name: &'static str,
    rank: u8,
    signs: &'static [Sign],
    meaning: &'static str,
) -> Stage {
    Stage { name, rank, signs, next: Itself, reason: None, meaning }
}

const fn end(name: &'static str, rank: u8, signs: &'static [Sign], meaning: &'static str) -> Stage {
    Stage { name, rank, signs, next: Nobody, reason: None, meaning }
}
