//! The stages of an ERISC data mover and of its channels (`firmware/device/edm/edm.hpp`).

use super::Actor::{Client, Host, Itself, Nobody, Peer};
use super::Sign::{At, Is, Set, Zero};
use super::{Actor, Hold, SERVING, Sign, Stage, WaitReason};

const PHASE: &str = "phase";
/// The number of stages that the kernel has begun.
const STAGE: &str = "stage";
/// Whether its end of the link offers the handshake.
pub(super) const OFFERS: Sign = Set("offers");
const HANDSHAKE: Sign = Is(PHASE, "EDM_HANDSHAKE");
const SENDER: Sign = Is("role", "sender");
const RECEIVER: Sign = Is("role", "receiver");

/// `edm_phase_t`, by its value.
pub(in super::super) const PHASES: [&str; 7] = [
    "EDM_NOT_STARTED",
    "EDM_HANDSHAKE",
    "EDM_RUNNING",
    "EDM_TEARDOWN",
    "EDM_FINISHED",
    "EDM_STOPPED",
    "EDM_REFUSED",
];

/// The stages of an EDM, by `edm_state.phase` and, within the handshake, by `edm_state.control.stage`.
pub const EDM: &[Stage] = &[
    not_begun(&[HANDSHAKE, Zero(STAGE)], &["offer", "offer awaited"]),
    offer(&[HANDSHAKE, At(STAGE, 1), OFFERS]),
    offer_awaited(&[HANDSHAKE, At(STAGE, 1)]),
    answer_awaited(&[HANDSHAKE, OFFERS], &[SERVING, "refused"]),
    answer(&[HANDSHAKE], &[SERVING, "refused"]),
    stage(
        SERVING,
        2,
        &[Is(PHASE, "EDM_RUNNING")],
        "moves the messages of its channels, each of which has stages of its own",
        &["teardown", "stopped"],
    ),
    stage(
        "teardown",
        3,
        &[Is(PHASE, "EDM_TEARDOWN")],
        "waits until every credit of its channels has been returned",
        &["finished", "stopped"],
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
        hold: Hold::Counted,
        then: &["waits for the completion"],
    },
    Stage {
        name: "waits for the completion",
        rank: 2,
        signs: &[SENDER, Set("in_flight")],
        next: Peer,
        reason: Some(WaitReason::Completion),
        meaning: "has sent, and the other end has not freed the buffer",
        hold: Hold::Counted,
        then: &["waits for its worker to send"],
    },
    Stage {
        name: "waits for a message",
        rank: 1,
        signs: &[RECEIVER, Zero("in_flight")],
        next: Peer,
        reason: Some(WaitReason::Message),
        meaning: "nothing has come over the link",
        hold: Hold::Counted,
        then: &["waits for its worker to read"],
    },
    Stage {
        name: "waits for its worker to read",
        rank: 2,
        signs: &[RECEIVER, Set("in_flight")],
        next: Client,
        reason: Some(WaitReason::Read),
        meaning: "a message has come, and its worker has not read it",
        hold: Hold::Counted,
        then: &["waits for a message"],
    },
];

/// A launched kernel that was held before its handshake.
pub(super) const fn not_begun(signs: &'static [Sign], then: &'static [&'static str]) -> Stage {
    let meaning = "is held before its handshake";
    handshake("not begun", signs, Host, None, meaning, then)
}

/// The handshake by `eth_channel_sync_t`: the sender offers.
pub(super) const fn offer(signs: &'static [Sign]) -> Stage {
    let meaning = "sends its arguments over the link, and repeats them until the answer has come";
    handshake("offer", signs, Itself, Some(WaitReason::Handshake), meaning, &["answer awaited"])
}

/// The other end waits for the offer.
pub(super) const fn offer_awaited(signs: &'static [Sign]) -> Stage {
    let meaning = "waits for the arguments of the other end";
    handshake("offer awaited", signs, Peer, Some(WaitReason::Handshake), meaning, &["answer"])
}

/// The sender waits for the answer.
pub(super) const fn answer_awaited(signs: &'static [Sign], then: &'static [&'static str]) -> Stage {
    let meaning = "has offered, and waits until the other end clears the word";
    handshake("answer awaited", signs, Peer, Some(WaitReason::Handshake), meaning, then)
}

/// The other end compares the arguments and answers.
pub(super) const fn answer(signs: &'static [Sign], then: &'static [&'static str]) -> Stage {
    let meaning = "has the offer, compares the arguments and clears the word at both ends";
    handshake("answer", signs, Itself, None, meaning, then)
}

const fn handshake(
    name: &'static str,
    signs: &'static [Sign],
    next: Actor,
    reason: Option<WaitReason>,
    meaning: &'static str,
    then: &'static [&'static str],
) -> Stage {
    Stage { name, rank: 1, signs, next, reason, meaning, hold: Hold::Counted, then }
}

/// A stage that waits for nothing that a word shows.
pub(super) const fn stage(
    name: &'static str,
    rank: u8,
    signs: &'static [Sign],
    meaning: &'static str,
    then: &'static [&'static str],
) -> Stage {
    let hold = Hold::Counted;
    Stage { name, rank, signs, next: Itself, reason: None, meaning, hold, then }
}

/// A last stage.
pub(super) const fn end(
    name: &'static str,
    rank: u8,
    signs: &'static [Sign],
    meaning: &'static str,
) -> Stage {
    let hold = Hold::Never;
    Stage { name, rank, signs, next: Nobody, reason: None, meaning, hold, then: &[] }
}
