//! The stages of the protocols between kernels, as data: the facts that show each, who must act before
//! it ends, what holds a kernel in it, and the stages that can follow. Screens, verdicts and `step` use
//! the same tables (tt-metal.md 4.1, tt-metal.md 4.3, tt-metal.md 5.2).

mod connection;
mod edm;
mod mux;
mod ring_ping;
mod router;

pub use connection::CONNECTION;
pub(crate) use connection::{OPENED, SIGNALLED};
pub(super) use edm::PHASES as EDM_PHASES;
pub use edm::{EDM, EDM_CHANNEL};
pub use mux::MUX;
pub(super) use ring_ping::PHASES as RING_PING_PHASES;
pub use ring_ping::RING_PING;
pub use router::ROUTER;
pub(crate) use router::{MET, SERVES};

use super::WaitReason;
use images::fabric::FactValue;
use machine::words::in_words;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// The stage in which a party serves its channels.
pub(super) const SERVING: &str = "serving";

/// The stage of a router or mux before its launch, and after its core was stopped.
const NOT_RUNNING: Stage = Stage {
    name: "not running",
    rank: 0,
    signs: &[Sign::Zero("running")],
    next: Actor::Host,
    reason: None,
    meaning: "no kernel runs: the host has not launched it, or it was stopped",
    hold: Hold::Never,
    then: &["initialization"],
};

/// A stage of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Stage {
    /// Its name, such as `remote handshake` or `serving`.
    pub name: &'static str,
    /// Its position on the way from launch to end. Stages in which a party can stop at any time have
    /// the position of the stage that they interrupt, or 0.
    #[serde(skip)]
    pub rank: u8,
    /// The facts that show it: all hold, and those of no stage before it in its table.
    pub signs: &'static [Sign],
    /// Who must act before it ends.
    #[serde(serialize_with = "in_words")]
    #[schemars(with = "String")]
    pub next: Actor,
    /// What that party waits for; none if the stage does not wait.
    #[serde(skip)]
    pub reason: Option<WaitReason>,
    /// What happens in it, and what ends it.
    pub meaning: &'static str,
    /// How the host can hold a party in it.
    #[serde(skip)]
    pub hold: Hold,
    /// The names of the stages that can follow it.
    #[serde(skip)]
    pub then: &'static [&'static str],
}

/// A protocol: the stages of one kind of party.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Its name.
    pub name: &'static str,
    /// The parties that have its stages, and what the protocol does.
    pub about: &'static str,
    /// Its stages; of those whose signs hold, a party is in the first.
    pub stages: &'static [Stage],
}

/// All protocols.
pub const PROTOCOLS: [Protocol; 6] = [
    Protocol {
        name: "edm",
        about: "An ERISC data mover and its peer: handshake, transfer, teardown.",
        stages: EDM,
    },
    Protocol {
        name: "edm-channel",
        about: "A channel of an ERISC data mover, by eth_channel_sync_t at both ends of the link.",
        stages: EDM_CHANNEL,
    },
    Protocol {
        name: "ring-ping",
        about: "A core of the ring ping: handshakes, laps, teardown.",
        stages: RING_PING,
    },
    Protocol {
        name: "router",
        about: "A router of a fabric, built in or tt-metal's, from its launch to its end.",
        stages: ROUTER,
    },
    Protocol { name: "mux", about: "A mux of a fabric, built in or tt-metal's.", stages: MUX },
    Protocol {
        name: "connection",
        about: "A client's connection to a router or mux, to the end of that mux in twelve steps.",
        stages: CONNECTION,
    },
];

/// How the host can hold a party in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// A built-in kernel parks before the next stage that it counts, and tt-metal's kernels do not.
    Counted,
    /// tt-metal's router parks by the command `PAUSE` of `RouterStateManager`.
    Command,
    /// The stage lasts until the host writes this value.
    HostWrites(&'static str),
    /// The host cannot.
    Never,
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counted => f.write_str("control.pause_at_stage"),
            Self::Command => f.write_str("the command PAUSE"),
            Self::HostWrites(value) => write!(f, "lasts until the host writes {value}"),
            Self::Never => f.write_str("-"),
        }
    }
}

/// A party that must act before a stage ends, seen from the party that is in the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The party itself.
    Itself,
    /// The router or EDM at the other end of the link.
    Peer,
    /// The workers of the channel.
    Client,
    /// Routers of the chip that are in an earlier stage.
    Siblings,
    /// The router of the chip with which the host communicates.
    Master,
    /// The host.
    Host,
    /// The router or mux with the channel.
    Server,
    /// The client that ends the mux.
    TerminationMaster,
    /// Other clients of the mux.
    Clients,
    /// Nobody: the stage is the last one.
    Nobody,
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Itself => "itself",
            Self::Peer => "the peer",
            Self::Client => "its workers",
            Self::Siblings => "routers of its chip",
            Self::Master => "the master of its chip",
            Self::Host => "the host",
            Self::Server => "the router or mux",
            Self::TerminationMaster => "the termination master",
            Self::Clients => "other clients of the mux",
            Self::Nobody => "nobody",
        })
    }
}

/// A condition on a fact, by the fact's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(into = "String")]
#[schemars(with = "String", inline)]
pub enum Sign {
    /// The value has this name.
    Is(&'static str, &'static str),
    /// The value is 0.
    Zero(&'static str),
    /// The value is not 0.
    Set(&'static str),
    /// The value is this number.
    At(&'static str, u64),
}

impl Sign {
    /// Whether the fact is known and fulfils the condition.
    fn holds<'a>(self, value: impl Fn(&str) -> Option<FactValue<'a>>) -> bool {
        match self {
            Self::Is(fact, name) => value(fact).is_some_and(|value| value.name == Some(name)),
            Self::Zero(fact) => value(fact).is_some_and(|value| value.number == Some(0)),
            Self::At(fact, at) => value(fact).is_some_and(|value| value.number == Some(at)),
            Self::Set(fact) => {
                value(fact).is_some_and(|value| value.number.is_some_and(|number| number != 0))
            }
        }
    }
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(fact, name) => write!(f, "{fact} is {name}"),
            Self::Zero(fact) => write!(f, "{fact} is 0"),
            Self::Set(fact) => write!(f, "{fact} is set"),
            Self::At(fact, at) => write!(f, "{fact} is {at}"),
        }
    }
}

impl From<Sign> for String {
    fn from(sign: Sign) -> Self {
        sign.to_string()
    }
}

impl Protocol {
    /// Returns the protocol of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PROTOCOLS.iter().find(|protocol| protocol.name == name)
    }
}

impl Stage {
    /// Whether a party can come from this stage to another one of the same protocol: snapshots can
    /// miss stages between the two.
    pub fn leads_to(&'static self, table: &'static [Self], later: &Self) -> bool {
        let mut reached = vec![self.name];
        let mut next = 0;
        while let Some(name) = reached.get(next).copied() {
            next += 1;
            if name == later.name {
                return true;
            }
            let follow = table.iter().filter(|stage| stage.name == name).flat_map(|it| it.then);
            for name in follow {
                if !reached.contains(name) {
                    reached.push(name);
                }
            }
        }
        false
    }

    /// Whether a party in it serves its channels.
    pub fn is_serving(&self) -> bool {
        self.name == SERVING
    }

    /// Finds the stage in a table by the values of facts; none if too few of them are known.
    pub fn find<'a>(
        table: &'static [Self],
        value: impl Fn(&str) -> Option<FactValue<'a>>,
    ) -> Option<&'static Self> {
        table.iter().find(|stage| stage.signs.iter().all(|sign| sign.holds(&value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Facts that fulfil the signs of a stage, and no others.
    fn found(table: &'static [Stage], stage: &Stage) -> Option<&'static Stage> {
        let value = |sign: &Sign, fact: &str| match *sign {
            Sign::Is(of, name) if of == fact => Some(FactValue::text(name)),
            Sign::Zero(of) if of == fact => Some(FactValue::number(0_u64)),
            Sign::Set(of) if of == fact => Some(FactValue::number(1_u64)),
            Sign::At(of, at) if of == fact => Some(FactValue::number(at)),
            _ => None,
        };
        Stage::find(table, |fact| stage.signs.iter().find_map(|sign| value(sign, fact)))
    }

    #[test]
    fn no_stage_hides_another() {
        for Protocol { stages, .. } in &PROTOCOLS {
            for stage in *stages {
                assert_eq!(found(stages, stage), Some(stage), "{}", stage.name);
            }
        }
    }

    #[test]
    fn every_stage_is_reached_and_has_an_end() {
        for Protocol { name, stages, .. } in &PROTOCOLS {
            let known = |name: &&str| stages.iter().any(|stage| stage.name == *name);
            for stage in *stages {
                assert!(stage.then.iter().all(known), "{name}: {} leads nowhere", stage.name);
                let is_last = stage.next == Actor::Nobody;
                assert_eq!(stage.then.is_empty(), is_last, "{name}: {}", stage.name);
                assert!(!is_last || stage.hold == Hold::Never, "{name}: {}", stage.name);
                let reached =
                    stages.iter().filter(|it| it.name != stage.name && it.leads_to(stages, stage));
                let is_first = matches!(stage.name, "not running" | "opening" | "not begun")
                    || *name == "edm-channel";
                assert!(is_first || reached.count() > 0, "{name}: {} is not reached", stage.name);
            }
        }
    }

    #[test]
    fn a_stage_leads_to_later_ones_and_not_back() {
        let leads = |from: &str, to: &str| {
            let of = |name: &str| ROUTER.iter().find(|stage| stage.name == name);
            of(from).zip(of(to)).map(|(from, to)| from.leads_to(ROUTER, to))
        };
        assert_eq!(leads("remote handshake", "serving"), Some(true));
        assert_eq!(leads("serving", "remote handshake"), Some(false));
    }

    #[test]
    fn a_stage_that_waits_names_who_must_act() {
        for stage in PROTOCOLS.iter().flat_map(|protocol| protocol.stages) {
            let waits = stage.reason.is_some();
            assert!(!waits || stage.next != Actor::Nobody, "{}", stage.name);
        }
        let nothing = |_: &str| None;
        assert_eq!(Stage::find(ROUTER, nothing), None);
    }
}
