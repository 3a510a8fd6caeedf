//! What is lost in a round, and what came of it.

use layouts::{ChipId, EthId};
use machine::fault::{Fault, LinkFault, What};

/// What a healthy run takes longer or shorter than another: one part in so many.
const NOISE: u64 = 32;

/// A link that is lost for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// One end of it.
    pub link: EthId,
    /// When, in cycles from the begin.
    pub from_cycles: u64,
    /// For how long.
    pub cycles: u64,
}

impl Outage {
    pub(super) fn fault(&self) -> Fault {
        Fault {
            what: What::Link(self.link, LinkFault::Down),
            from_cycles: self.from_cycles,
            until_cycles: Some(self.from_cycles + self.cycles),
        }
    }
}

/// What came of a seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// The seed.
    pub seed: u64,
    /// What was lost.
    pub outages: Vec<Outage>,
    /// Of an all-gather: the chip whose data came latest, beside when nothing is lost. The two times are its own: others need not wait
    /// for what goes over that link.
    pub chip: Option<ChipId>,
    /// How long the same takes when nothing is lost.
    pub healthy_cycles: u64,
    /// How long it took.
    pub cycles: u64,
    /// Packets that went over another link.
    pub rerouted: u64,
    /// Packets that were sent again when the link was back.
    pub resent: u64,
    /// Elements or words that are wrong.
    pub wrong: u64,
    /// Packets that came more than once.
    pub doubled: u64,
    /// Packets that did not come.
    pub missing: u64,
}

/// What became of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It took longer.
    Slower,
    /// It did not, and nothing went over another link or was sent again: the last packet had gone, or the link was back before one came.
    NothingToSend,
    /// It did not, although packets were rerouted: nobody waited for them.
    NotWaitedFor,
}

impl Effect {
    /// In a few words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::NothingToSend => "nothing to send",
            Self::NotWaitedFor => "not waited for",
        }
    }
}

impl Round {
    /// What became of the time.
    pub fn effect(&self) -> Effect {
        if self.cycles > self.healthy_cycles + self.healthy_cycles / NOISE {
            Effect::Slower
        } else if self.rerouted + self.resent == 0 {
            Effect::NothingToSend
        } else {
            Effect::NotWaitedFor
        }
    }

    /// How much longer it took for each packet that went over another link, in cycles.
    pub fn cost_cycles(&self) -> Option<u64> {
        let more = self.cycles.saturating_sub(self.healthy_cycles);
        more.checked_div(self.rerouted).filter(|_| self.effect() == Effect::Slower)
    }

    /// Is all data right, nothing lost and nothing doubled?
    pub fn is_right(&self) -> bool {
        [self.wrong, self.doubled, self.missing] == [0; 3]
    }
}
