//! The stages of a client's connection, from its opening to the end of its mux (tt-metal.md 5.2).

use super::Actor::{Clients, Itself, Nobody, Server, TerminationMaster};
use super::Sign::{Is, Set, Zero};
use super::{Actor, Hold, Sign, Stage, WaitReason};

/// The position of a client that has opened its channel and not closed it.
pub(crate) const OPENED: u8 = 1;
/// The position of a client that has told its termination master.
pub(crate) const SIGNALLED: u8 = 6;

const STAGE: &str = "stage";
const OPENING: Sign = Is(STAGE, "CLIENT_OPENING");
const OPEN: Sign = Is(STAGE, "CLIENT_OPEN");
const CLOSING: Sign = Is(STAGE, "CLIENT_CLOSING");
const CLOSED: Sign = Is(STAGE, "CLIENT_CLOSED");
/// The mux has answered a close: a channel without one was not opened either.
const ANSWERED: Sign = Set("answered");
const MASTER: Sign = Is("termination", "TERMINATION_MASTER");
const ENDS: Sign = Set("mux_termination");

/// The stages of a connection; from 1 on, the position is the step of the teardown. Facts of the
/// connection have their names; the others are `channel_used` (its connection word is not 0),
/// `answered`, `signalled` and `all_signalled` (the client, or all others, have told the termination
/// master), and those of its mux: `mux_status`, `mux_termination`, `mux_running`, `mux_queued` and
/// `mux_connection`, the stage of the mux's own connection.
pub const CONNECTION: &[Stage] = &[
    Stage {
        name: "opening",
        rank: 0,
        signs: &[OPENING],
        next: Server,
        reason: Some(WaitReason::Ready),
        meaning: "waits for READY_FOR_TRAFFIC before it opens its channel",
        hold: Hold::Counted,
        then: &[SENDS],
    },
    stage(SENDS, OPENED, &[OPEN], Itself, &[REQUESTED, ANSWER, CLOSE]),
    stage(ANSWER, 4, &[CLOSING, Set("teardown")], Itself, &[CLOSE]),
    Stage {
        name: REQUESTED,
        rank: 2,
        signs: &[CLOSING, Set("channel_used")],
        next: Server,
        reason: Some(WaitReason::Teardown),
        meaning: "close requested; the mux has not seen it",
        hold: Hold::Counted,
        then: &[ANSWER],
    },
    stage(ANSWER, 4, &[CLOSING], Itself, &[CLOSE]),
    stage(ENDED, 12, &[CLOSED, ANSWERED, Is("mux_status", "TERMINATED")], Nobody, &[]),
    stage(ENDED, 12, &[CLOSED, ANSWERED, ENDS, Zero("mux_running")], Nobody, &[]),
    stage(
        CLOSES,
        11,
        &[CLOSED, ANSWERED, ENDS, Is(MUX_CONNECTION, "CLIENT_CLOSING")],
        Server,
        &[ENDED],
    ),
    stage(
        CLOSES,
        11,
        &[CLOSED, ANSWERED, ENDS, Is(MUX_CONNECTION, "CLIENT_CLOSED")],
        Server,
        &[ENDED],
    ),
    stage(DRAINS, 9, &[CLOSED, ANSWERED, ENDS, Set("mux_queued")], Server, &[LEAVES]),
    stage(LEAVES, 10, &[CLOSED, ANSWERED, ENDS], Server, &[CLOSES, ENDED]),
    stage(SIGNALS, 8, &[CLOSED, ANSWERED, MASTER, Set("all_signalled")], Itself, &[DRAINS, LEAVES]),
    Stage {
        name: WAITS,
        rank: 7,
        signs: &[CLOSED, ANSWERED, MASTER, Is("waypoint", "NSMW")],
        next: Clients,
        reason: Some(WaitReason::Clients),
        meaning: WAITS,
        hold: Hold::Counted,
        then: &[SIGNALS],
    },
    stage(CLOSE, 5, &[CLOSED, ANSWERED, MASTER, Zero("all_signalled")], Itself, &[WAITS, SIGNALS]),
    stage(SIGNALS, 8, &[CLOSED, ANSWERED, MASTER], Itself, &[DRAINS, LEAVES]),
    stage(
        SIGNALLED_MASTER,
        SIGNALLED,
        &[CLOSED, ANSWERED, Is("termination", "TELLS_MASTER"), Set("signalled")],
        TerminationMaster,
        &[DRAINS, LEAVES],
    ),
    stage(CLOSE, 5, &[CLOSED, ANSWERED], Itself, &[SIGNALLED_MASTER, WAITS, SIGNALS]),
];

const MUX_CONNECTION: &str = "mux_connection";

const SENDS: &str = "sends";
const REQUESTED: &str = "close requested";
const ANSWER: &str = "close answered; the client has not seen it";
const CLOSE: &str = "has closed";
const SIGNALLED_MASTER: &str = "has signalled the termination master";
const WAITS: &str = "waits for the other clients";
const SIGNALS: &str = "signals the mux to end";
const DRAINS: &str = "the mux drains its channels";
const LEAVES: &str = "the mux leaves its loop";
const CLOSES: &str = "the mux closes its connection";
const ENDED: &str = "the mux has ended";

/// A stage whose name says what happens, and which waits for nothing that a word shows.
const fn stage(
    name: &'static str,
    rank: u8,
    signs: &'static [Sign],
    next: Actor,
    then: &'static [&'static str],
) -> Stage {
    let hold = if then.is_empty() { Hold::Never } else { Hold::Counted };
    Stage { name, rank, signs, next, reason: None, meaning: name, hold, then }
}
