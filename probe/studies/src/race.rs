//! Two successive ops on one link, which each chip runs at its own time: the two races of the Basic
//! Ethernet guide (tt-metal, `tech_reports/EthernetMultichip`, "Multichip Programming Challenges"),
//! with careless kernels, which omit what the guide requires, and with proper kernels, which do it.

mod evidence;
mod round;
mod table;

pub use evidence::{Mismatch, Misread, Stuck, Took};

use super::bench::Bench;
use access::bar_target::BarTarget;
use images::ImageMap;
use launch::ControlError;
use launch::dice::Random;
use launch::topology::FreeLinks;
use layouts::EthId;
pub use table::STUDY;
use workloads::scene::SceneError;

/// Draws after which no kernel is expected to get stuck.
const MOST_DRAWS: u32 = 20;

/// One of the two races.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The second op of one chip begins while the other chip still runs the first.
    Start,
    /// The first op of one chip has returned while its credits are still in flight.
    Completion,
}

impl Kind {
    /// Both races.
    pub const ALL: [Self; 2] = [Self::Start, Self::Completion];

    /// Returns its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Completion => "completion",
        }
    }

    /// Returns what the careless kernels omit.
    pub fn left_out(self) -> &'static str {
        match self {
            Self::Start => "handshake",
            Self::Completion => "teardown",
        }
    }

    /// Returns an explanation of the race and of the guide's remedy.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Start => {
                "asynchronous start: chips start the kernels of an op when they are ready, not together. The sender's second op sends \
                 into buffers from which the receiver's first op still reads. The guide requires a handshake before the first message."
            }
            Self::Completion => {
                "asynchronous completion: chips end the kernels of an op when they are ready, not together. A sender that returns before \
                 its credits are back leaves them to its next op, which takes them for its own, the first one for the answer to its \
                 handshake. The guide requires a teardown that waits for every credit."
            }
        }
    }
}

/// Options of the study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceStudy<'a> {
    /// The mesh; the study uses its first free link.
    pub mesh: &'a str,
    /// The first seed.
    pub seed: u64,
    /// Number of seeds.
    pub seeds: u64,
    /// The races to run.
    pub kinds: Vec<Kind>,
}

/// Parameters drawn by a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Channels; each carries a message in every round.
    pub channels: u32,
    /// Rounds of an op.
    pub rounds: u32,
    /// Bytes of a message.
    pub payload_bytes: u32,
    /// Delay of the receiver before it reads a message, in cycles.
    pub delay_cycles: u32,
    /// Delay of the second op's launch on the receiver's chip, in cycles.
    pub late_cycles: u64,
}

/// One race with one kind of kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceRound {
    /// The seed.
    pub seed: u64,
    /// The race.
    pub kind: Kind,
    /// Whether the kernels do what the guide requires.
    pub proper: bool,
    /// The drawn parameters.
    pub draw: Draw,
    /// The sending and the receiving end.
    pub ends: (EthId, EthId),
    /// Sync words that a kernel misread.
    pub misreads: Vec<Misread>,
    /// Wrong words of messages when the receiver read them, of both ops.
    pub mismatched_words: u64,
    /// The first wrong word of each op.
    pub mismatches: Vec<Mismatch>,
    /// Kernels that did not end.
    pub stuck: Vec<Stuck>,
    /// From the first launch to the end, in cycles.
    pub cycles: u64,
}

impl RaceRound {
    /// Returns true if the race did harm.
    pub fn is_harmed(&self) -> bool {
        !self.misreads.is_empty() || self.mismatched_words > 0 || !self.stuck.is_empty()
    }

    /// Returns a sentence on each misread, mismatch and stuck kernel. Misreads of the sender are
    /// first: they cause the receiver's.
    pub fn sentences(&self) -> Vec<String> {
        let mut misreads = self.misreads.clone();
        misreads.sort_by_key(|misread| misread.end != self.ends.0);
        let misreads = misreads.iter().map(ToString::to_string).collect::<Vec<_>>().into_iter();
        let mismatches = self.mismatches.iter().map(ToString::to_string);
        let stuck = self.stuck.iter().map(ToString::to_string);
        misreads.chain(mismatches).chain(stuck).collect()
    }
}

/// Runs each race with careless and with proper kernels, on a fresh mesh for each seed and race.
/// `report` is called with each round.
///
/// # Errors
/// When the mesh cannot be built or has no free link, or a kernel refuses its arguments.
pub fn study(
    setup: &RaceStudy<'_>,
    report: &mut dyn FnMut(&RaceRound),
) -> Result<Vec<RaceRound>, SceneError> {
    let mut rounds = Vec::new();
    for seed in setup.seed..setup.seed.saturating_add(setup.seeds) {
        for &kind in &setup.kinds {
            let mut bench = Bench::new(setup.mesh, seed)?;
            let ends = free_links(&bench).first().copied();
            let none = || ControlError::Settings(format!("{} has no free link", setup.mesh));
            let ends = ends.ok_or_else(none)?;
            for proper in [false, true] {
                let draw = draw(kind, &mut Random(seed));
                let round =
                    round::play(&mut bench, RaceRound::new(seed, kind, proper, draw, ends))?;
                report(&round);
                rounds.push(round);
            }
        }
    }
    Ok(rounds)
}

/// Returns the links that dispatch does not use, each from its sending to its receiving end.
fn free_links(bench: &Bench) -> Vec<(EthId, EthId)> {
    let found = bench.mesh();
    let free = FreeLinks::of(&found);
    let links = found.links.iter().flat_map(|link| free.between(link.a.chip, link.b.chip));
    links.collect()
}

/// Plays rounds on a fresh mesh, over links and with parameters that the dice draw, until careless
/// kernels of a race are stuck, and leaves them so.
///
/// # Errors
/// When the mesh cannot be built, has no free link, or no kernel gets stuck.
pub fn leave_stuck(
    mesh: &str,
    kind: Kind,
    dice: &mut Random,
) -> Result<(BarTarget, ImageMap, RaceRound), SceneError> {
    let seed = dice.next();
    for _ in 0..MOST_DRAWS {
        let mut bench = Bench::new(mesh, seed)?;
        let links = free_links(&bench);
        let ends = dice.one(&links);
        let none = || ControlError::Settings(format!("{mesh} has no free link"));
        let draw = draw(kind, dice);
        let round = RaceRound::new(seed, kind, false, draw, ends.ok_or_else(none)?);
        let round = round::leave(&mut bench, round)?;
        if !round.stuck.is_empty() {
            return Ok((bench.target, bench.images, round));
        }
    }
    Err(SceneError::Wrong(format!("no kernel of {MOST_DRAWS} draws is stuck")))
}

impl RaceRound {
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

/// Draws the parameters. With some draws the receiver is so fast that even careless kernels cause
/// no harm.
fn draw(kind: Kind, dice: &mut Random) -> Draw {
    // With credits on arrival each message needs a slot of its own.
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
