//! Two ops that follow each other on one link, each chip in its own time: the two races of the Basic Ethernet guide (tt-metal,
//! `tech_reports/EthernetMultichip`, "Multichip Programming Challenges"), with kernels that leave out what the guide asks for and
//! with kernels that do it.

mod evidence;
mod round;

pub use evidence::{Mismatch, Misread, Stuck, Took};

use super::bench::Bench;
use crate::scene::SceneError;
use launch::ControlError;
use launch::dice::Dice;
use launch::topology::FreeLinks;
use layouts::EthId;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The second op of one chip begins while the other chip is still at the first.
    Start,
    /// The first op of one chip has returned while its credits are still under way.
    Completion,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Start, Self::Completion];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Completion => "completion",
        }
    }

    /// What the careless kernels leave out.
    pub fn left_out(self) -> &'static str {
        match self {
            Self::Start => "handshake",
            Self::Completion => "teardown",
        }
    }

    /// What the race is, and what the guide says against it.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Start => {
                "asynchronous start: chips start the kernels of an op when they are ready, not together. The sender's second op sends \
                 into buffers from which the receiver's first op still reads. The guide's answer is a handshake before the first message."
            }
            Self::Completion => {
                "asynchronous completion: chips end the kernels of an op when they are ready, not together. A sender that returns before \
                 its credits are back leaves them to its next op, which takes them for its own: the first one for the answer to its \
                 handshake. The guide's answer is a teardown that waits for every credit."
            }
        }
    }
}

/// What is played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceStudy<'a> {
    /// The mesh; its first free link is taken.
    pub mesh: &'a str,
    /// The first seed.
    pub seed: u64,
    /// How many.
    pub seeds: u64,
    /// Which races.
    pub kinds: Vec<Kind>,
}

/// What a seed decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Channels, with a message on each in every round.
    pub channels: u32,
    /// Rounds of an op.
    pub rounds: u32,
    /// Bytes of a message.
    pub payload_bytes: u32,
    /// So long the receiver works on a message before it reads it, in cycles.
    pub delay_cycles: u32,
    /// So much later than it could be is the second op launched on the receiver's chip, in cycles.
    pub late_cycles: u64,
}

/// One race with one kind of kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// The seed.
    pub seed: u64,
    /// The race.
    pub kind: Kind,
    /// Do the kernels do what the guide asks for?
    pub proper: bool,
    /// What the seed decided.
    pub draw: Draw,
    /// The end that sends, and the one that receives.
    pub ends: (EthId, EthId),
    /// Words that a kernel took for its own.
    pub misreads: Vec<Misread>,
    /// Words of messages that were wrong when the receiver read them, of both ops.
    pub mismatched_words: u64,
    /// The first of these of each op.
    pub mismatches: Vec<Mismatch>,
    /// Kernels that did not end.
    pub stuck: Vec<Stuck>,
    /// From the first launch to the end, in cycles.
    pub cycles: u64,
}

impl Round {
    /// Did the race do harm?
    pub fn is_harmed(&self) -> bool {
        !self.misreads.is_empty() || self.mismatched_words > 0 || !self.stuck.is_empty()
    }

    /// What was seen, a sentence each: what the sender took for its own comes before what that did to the receiver.
    pub fn sentences(&self) -> Vec<String> {
        let mut misreads = self.misreads.clone();
        misreads.sort_by_key(|misread| misread.end != self.ends.0);
        let misreads = misreads.iter().map(ToString::to_string).collect::<Vec<_>>().into_iter();
        let mismatches = self.mismatches.iter().map(ToString::to_string);
        let stuck = self.stuck.iter().map(ToString::to_string);
        misreads.chain(mismatches).chain(stuck).collect()
    }
}

/// Plays each race with careless and with proper kernels, on a fresh mesh for each seed and race. `told` hears of each round.
///
/// # Errors
/// When the mesh cannot be had or has no free link, or a kernel refuses its arguments.
pub fn study(
    asked: &RaceStudy<'_>,
    report: &mut dyn FnMut(&Round),
) -> Result<Vec<Round>, SceneError> {
    let mut rounds = Vec::new();
    for seed in asked.seed..asked.seed.saturating_add(asked.seeds) {
        for &kind in &asked.kinds {
            let mut bench = Bench::new(asked.mesh, seed)?;
            let found = bench.mesh();
            let free = FreeLinks::of(&found);
            let mut pairs =
                found.links.iter().flat_map(|link| free.between(link.a.chip, link.b.chip));
            let none =
                || ControlError::Settings(format!("{} has no link that is free", asked.mesh));
            let ends = pairs.next().ok_or_else(none)?;
            for proper in [false, true] {
                let draw = draw(kind, &mut Dice(seed));
                let round =
                    round::play(&mut bench, ends, Round::new(seed, kind, proper, draw, ends))?;
                report(&round);
                rounds.push(round);
            }
        }
    }
    Ok(rounds)
}

impl Round {
    fn new(seed: u64, kind: Kind, proper: bool, draw: Draw, ends: (EthId, EthId)) -> Self {
        Self {
            seed,
            kind,
            proper,
            draw,
            ends,
            misreads: Vec::new(),
            mismatched_words: 0,
            mismatches: Vec::new(),
            stuck: Vec::new(),
            cycles: 0,
        }
    }
}

/// Some draws leave the receiver so little to do that even careless kernels get away with it.
fn draw(kind: Kind, dice: &mut Dice) -> Draw {
    // What is credited on arrival has a slot for each message.
    let rounds = if kind == Kind::Start { 1 } else { 1 + dice.below(3) as u32 };
    Draw {
        channels: 1 + dice.below(4) as u32,
        rounds,
        payload_bytes: 16 * (2 + dice.below(127) as u32),
        delay_cycles: dice.below(60_000) as u32,
        late_cycles: dice.below(100_000),
    }
}

#[cfg(test)]
mod tests;
