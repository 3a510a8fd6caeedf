//! The outages of a round and their effect.

use layouts::{ChipId, EthId};
use machine::fault::{Fault, FaultKind, LinkFault};

/// Inverse of the relative noise between healthy runs.
const NOISE: u64 = 32;

/// A link that is down for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// One end of the link.
    pub link: EthId,
    /// Its beginning, in cycles from the start of the round.
    pub from_cycles: u64,
    /// Its length, in cycles.
    pub cycles: u64,
}

impl Outage {
    pub(super) fn fault(&self) -> Fault {
        Fault {
            kind: FaultKind::Link(self.link, LinkFault::Down),
            from_cycles: self.from_cycles,
            until_cycles: Some(self.from_cycles + self.cycles),
        }
    }
}

/// The outcome of a seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RerouteRound {
    /// The seed.
    pub seed: u64,
    /// The outages.
    pub outages: Vec<Outage>,
    /// For an all-gather: the chip with the largest delay against the healthy run. The two times
    /// are its own, because not all chips wait for the data over that link.
    pub chip: Option<ChipId>,
    /// Time of the healthy run, in cycles.
    pub healthy_cycles: u64,
    /// Time of this run, in cycles.
    pub cycles: u64,
    /// Packets that were rerouted over another link.
    pub rerouted: u64,
    /// Packets that were sent again when the link was back.
    pub resent: u64,
    /// Wrong elements or words.
    pub wrong: u64,
    /// Packets that arrived more than once.
    pub doubled: u64,
    /// Packets that did not arrive.
    pub missing: u64,
}

/// The effect of the outages on the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The run took longer.
    Slower,
    /// The run took no longer, and no packet was rerouted or resent: no packet needed the link
    /// during the outage.
    NothingToSend,
    /// The run took no longer although packets were rerouted or resent: nothing waited for them.
    NotWaitedFor,
}

impl Effect {
    /// Returns its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::NothingToSend => "nothing to send",
            Self::NotWaitedFor => "not waited for",
        }
    }
}

impl RerouteRound {
    /// Returns the effect of the outages on the time.
    pub fn effect(&self) -> Effect {
        if self.cycles > self.healthy_cycles + self.healthy_cycles / NOISE {
            Effect::Slower
        } else if self.rerouted + self.resent == 0 {
            Effect::NothingToSend
        } else {
            Effect::NotWaitedFor
        }
    }

    /// Returns the additional time per rerouted packet, in cycles.
    pub fn cost_cycles(&self) -> Option<u64> {
        let more = self.cycles.saturating_sub(self.healthy_cycles);
        more.checked_div(self.rerouted).filter(|_| self.effect() == Effect::Slower)
    }

    /// Returns true if all data is right, nothing is lost and nothing is doubled.
    pub fn is_right(&self) -> bool {
        [self.wrong, self.doubled, self.missing] == [0; 3]
    }
}
