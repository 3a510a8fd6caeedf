//! Five policies of a fabric mux under congestion: two workers share a mux in front of one router, as those of a reduce-scatter do,
//! and the link behind it becomes slow for a while.

use super::dice::Dice;
use super::mux_bench::{Bench, Observed};
use crate::fabric::mux::{MuxCore, Policy};
use crate::fault::LinkFault;
use crate::scene::SceneError;

/// The healthy run is that of the same seed under the first policy without congestion. One that takes more than so many times as
/// long slows.
pub const SLOW_FACTOR: u64 = 3;
/// A client that has handed over its last packet, and whose close the mux does not answer for so many times as long as the healthy
/// run takes, starves: the answer needs nothing of the router.
pub const STARVE_FACTOR: u64 = 20;
/// What is not over after so many times as long never ends.
pub const NEVER_FACTOR: u64 = 100;

/// Which runs.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// A mesh of two chips or more.
    pub mesh: &'a str,
    /// What the mux runs on.
    pub core: MuxCore,
    /// The first seed.
    pub seed: u64,
    /// How many.
    pub seeds: u64,
}

/// What came of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// About as fast as the healthy one.
    Finishes,
    /// By [`SLOW_FACTOR`].
    Slows,
    /// By [`STARVE_FACTOR`].
    Starves,
    /// By [`NEVER_FACTOR`].
    NeverEnds,
}

impl Fate {
    /// All four.
    pub const ALL: [Self; 4] = [Self::Finishes, Self::Slows, Self::Starves, Self::NeverEnds];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finishes => "finishes",
            Self::Slows => "slows",
            Self::Starves => "starves",
            Self::NeverEnds => "never_ends",
        }
    }
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The seed.
    pub seed: u64,
    /// The policy.
    pub policy: Policy,
    /// What came of it.
    pub fate: Fate,
    /// The healthy run, in cycles.
    pub healthy_cycles: u64,
    /// This one, until it was over or given up.
    pub cycles: u64,
    /// The longest wait for a slot of the router, of both channels.
    pub longest_wait_cycles: u64,
    /// The congestion, in words.
    pub congestion: String,
    /// Of one that starves or never ends: who waits for whom.
    pub chain: Vec<String>,
}

/// What the two workers do, and what ails the link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    /// Packets of each worker, their bytes, and the rest between two of them.
    pub(super) packets: [u32; 2],
    pub(super) bytes: [u32; 2],
    pub(super) interval_cycles: [u32; 2],
    /// Of each channel of the mux.
    pub(super) slots: u32,
}

/// What ails the link, from a moment on and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Congestion {
    pub(super) fault: LinkFault,
    pub(super) from_cycles: u64,
    pub(super) cycles: u64,
}

/// From 1 to 2^bits times `least`, small ones as likely as large ones.
fn scaled(dice: &mut Dice, least: u64, bits: u64) -> u64 {
    let part = least << dice.below(bits);
    part + dice.below(part)
}

/// The reduce-scatter of the write-up sends about eight packets, and its mux has one slot a channel.
fn case(dice: &mut Dice) -> Case {
    Case {
        packets: [0; 2].map(|_| 4 + dice.below(13) as u32),
        bytes: [0; 2].map(|_| 16 * (1 + dice.below(128) as u32)),
        interval_cycles: [0; 2].map(|_| dice.below(1_000) as u32),
        slots: [1, 1, 2, 8][dice.below(4) as usize],
    }
}

fn congestion(dice: &mut Dice, healthy: u64) -> Congestion {
    let fault = if dice.below(2) == 0 {
        LinkFault::SlowAck { delay_cycles: scaled(dice, healthy / 16, 10) }
    } else {
        LinkFault::Slow { factor: scaled(dice, 2, 10) as u32 }
    };
    let from_cycles = dice.below(healthy / 2);
    Congestion { fault, from_cycles, cycles: scaled(dice, healthy / 2, 7) }
}

/// Every policy meets every seed's congestion. `told` hears of each run.
///
/// # Errors
/// When the mesh or its fabric cannot be had.
pub fn study(asked: &Asked<'_>, told: &mut dyn FnMut(&Run)) -> Result<Vec<Run>, SceneError> {
    let mut bench = Bench::new(asked.mesh, asked.seed, asked.core)?;
    let mut runs = Vec::new();
    for seed in asked.seed..asked.seed + asked.seeds {
        let mut dice = Dice(seed);
        let case = case(&mut dice);
        let healthy = bench.run(&case, Policy::ALL[0], None, HEALTHY_LIMITS)?.cycles;
        let ails = congestion(&mut dice, healthy);
        for policy in Policy::ALL {
            let limits = Limits { starve: STARVE_FACTOR * healthy, never: NEVER_FACTOR * healthy };
            let observed = bench.run(&case, policy, Some(ails), limits)?;
            if !observed.over {
                bench = Bench::new(asked.mesh, asked.seed, asked.core)?;
            }
            let run = judge(seed, policy, healthy, &ails, case.slots, observed);
            told(&run);
            runs.push(run);
        }
    }
    Ok(runs)
}

/// When a client starves, and when a run is given up, in cycles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) starve: u64,
    pub(super) never: u64,
}
const HEALTHY_LIMITS: Limits = Limits { starve: u64::MAX, never: 10_000_000 };

fn judge(
    seed: u64,
    policy: Policy,
    healthy_cycles: u64,
    ails: &Congestion,
    slots: u32,
    observed: Observed,
) -> Run {
    let Observed { cycles, over, starved, longest_wait_cycles, chain } = observed;
    let fate = if starved {
        Fate::Starves
    } else if !over {
        Fate::NeverEnds
    } else if cycles > SLOW_FACTOR * healthy_cycles {
        Fate::Slows
    } else {
        Fate::Finishes
    };
    let Congestion { fault, from_cycles, cycles: lasting } = ails;
    let what = match fault {
        LinkFault::SlowAck { delay_cycles } => format!("acknowledges {delay_cycles} cycles late"),
        LinkFault::Slow { factor } => format!("a link {factor} times as slow"),
        other => format!("{other:?}"),
    };
    let congestion = format!("{what} from {from_cycles} for {lasting}, {slots} slots a channel");
    Run { seed, policy, fate, healthy_cycles, cycles, longest_wait_cycles, congestion, chain }
}
