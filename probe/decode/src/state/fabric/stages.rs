//! The stages of a fabric's protocols, as data: the facts that show each, and who must act before it
//! ends (tt-metal.md 4.1, tt-metal.md 4.3, tt-metal.md 5.2).

mod connection;
mod edm;
mod router;

pub use connection::CONNECTION;
pub(crate) use connection::{OPENED, SIGNALLED};
pub use edm::{EDM, EDM_CHANNEL};
pub use router::ROUTER;
use router::SERVING;
pub(crate) use router::{MET, SERVES};

use super::WaitReason;
use crate::state::FactValue;
use std::fmt;

/// A stage of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The name of the stage.
    pub name: &'static str,
    /// Its position on the way from launch to end. Stages in which a party can stop at any time have
    /// the position of the stage that they interrupt, or 0.
    pub rank: u8,
    /// The facts that show it: all hold, and those of no stage before it in its table.
    pub signs: &'static [Sign],
    /// Who must act before it ends.
    pub next: Actor,
    /// What that party waits for; none if the stage does not wait.
    pub reason: Option<WaitReason>,
    /// What happens in it, and what ends it.
    pub meaning: &'static str,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The value has this name.
    Is(&'static str, &'static str),
    /// The value is 0.
    Zero(&'static str),
    /// The value is not 0.
    Set(&'static str),
}

impl Sign {
    /// Whether the fact is known and fulfils the condition.
    fn holds<'a>(self, value: impl Fn(&str) -> Option<FactValue<'a>>) -> bool {
        match self {
            Self::Is(fact, name) => value(fact).is_some_and(|value| value.name == Some(name)),
            Self::Zero(fact) => value(fact).is_some_and(|value| value.number == Some(0)),
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
        }
    }
}

impl Stage {
    /// Whether a router in it serves its channels.
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
            _ => None,
        };
        Stage::find(table, |fact| stage.signs.iter().find_map(|sign| value(sign, fact)))
    }

    #[test]
    fn no_stage_hides_another() {
        for table in [ROUTER, CONNECTION, EDM, EDM_CHANNEL] {
            for stage in table {
                assert_eq!(found(table, stage), Some(stage), "{}", stage.name);
            }
        }
    }

    #[test]
    fn a_stage_that_waits_names_who_must_act() {
        for stage in ROUTER.iter().chain(CONNECTION) {
            let waits = stage.reason.is_some();
            assert!(!waits || stage.next != Actor::Nobody, "{}", stage.name);
        }
        let nothing = |_: &str| None;
        assert_eq!(Stage::find(ROUTER, nothing), None);
    }
}
