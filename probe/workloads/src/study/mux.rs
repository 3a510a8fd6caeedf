//! Policies of a fabric mux under congestion, in the experiment of the public write-up of the reduce-scatter hang: several muxes with
//! eight workers each in front of routers that need 5 to 10 us for a packet, and that stay without slots for a while, for long, or for
//! ever.

mod bench;
mod case;
mod cast;
mod chain;
mod course;
mod figures;
mod judge;
mod posts;

use crate::scene::SceneError;
use bench::Bench;
use case::{Case, Congestion};
use fabric::mux::{Policy, Turn};
pub use figures::{ChannelFigures, Figures};
pub use judge::Fate;
use judge::judge;
use launch::HostPatience;
use launch::dice::Dice;
use machine::fabric::MuxCore;
use std::panic::resume_unwind;
use std::thread;

/// The healthy run is that of the same seed under the first policy without congestion. One that takes more than so many times as
/// long slows.
pub const SLOW_FACTOR: u64 = 2;
/// A client that has handed over its last packet, and whose close the mux does not answer for so many times as long as the healthy
/// run takes, starves: the answer needs nothing of the router.
pub const STARVE_FACTOR: u64 = 1;
/// What is not over after so many times as long never ends.
pub const NEVER_FACTOR: u64 = 10;
/// Meshes that share the seeds, whatever machine this runs on: what comes of a seed hangs, by some cycles, on what its mesh did before.
const BENCHES: u64 = 2;
/// A healthy run is over long before.
const HEALTHY_CYCLES: u64 = 20_000_000;

/// How a mux waits in a run: a policy, and how long its bounded wait lasts if not so many polls as its name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MuxWait {
    /// Its name.
    pub name: &'static str,
    /// Its policy.
    pub policy: Policy,
    /// Its bounded wait, if it is not one of polls.
    pub turn: Option<Turn>,
}

const fn mux_wait(name: &'static str, policy: Policy, turn: Option<Turn>) -> MuxWait {
    MuxWait { name, policy, turn }
}

const fn keeps(wait_cycles: u32) -> Turn {
    Turn { wait_cycles, keeps_router: true }
}

impl MuxWait {
    /// The five policies as they are built, and the two bounded ones as the write-up reads them: for 130 us, or 5 us, the channel that
    /// waits takes every slot that the router frees.
    pub const ALL: [Self; 7] = [
        mux_wait("unbounded", Policy::Unbounded, None),
        mux_wait("no_wait", Policy::NoWait, None),
        mux_wait("unbounded_teardown", Policy::UnboundedTeardown, None),
        mux_wait("bounded_32768", Policy::Bounded32768, None),
        mux_wait("bounded_256", Policy::Bounded256, None),
        mux_wait("captures_130us", Policy::Bounded32768, Some(keeps(130_000))),
        mux_wait("captures_5us", Policy::Bounded256, Some(keeps(5_000))),
    ];
}

/// Which runs.
#[derive(Clone, Debug)]
pub struct MuxStudy<'a> {
    /// A mesh of two chips or more.
    pub mesh: &'a str,
    /// What the muxes run on.
    pub core: MuxCore,
    /// Workers of each mux.
    pub workers: usize,
    /// Links of one chip, each with a mux; two, or as many as there are, if not told.
    pub links: Option<usize>,
    /// The first seed.
    pub seed: u64,
    /// How many.
    pub seeds: u64,
    /// Of which ways a host waits for the first run that never ends, and how.
    pub hosts: Vec<MuxWait>,
    /// The same.
    pub patience: HostPatience,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MuxRun {
    /// The seed.
    pub seed: u64,
    /// How the muxes wait.
    pub wait: MuxWait,
    /// What came of it.
    pub fate: Fate,
    /// The healthy run, in cycles.
    pub healthy_cycles: u64,
    /// This one, until it was over or given up: by the dispatcher's clock.
    pub cycles: u64,
    /// Cycles from packet to packet of a router in the healthy run.
    pub packet_cycles: u64,
    /// How long the routers were without slots, or slow; `None`: for ever.
    pub stall_cycles: Option<u64>,
    /// Did the router itself stand still, so that it did not even answer a close?
    pub router_stands: bool,
    /// Of one that never ends: cores that have not told the dispatcher that they are done. All workers have if no more are left than
    /// there are links.
    pub undone: u32,
    /// What was measured on the device.
    pub figures: Figures,
    /// The congestion, in words.
    pub congestion: String,
    /// Of one that starves or never ends: who waits for whom.
    pub chain: Vec<String>,
}

/// What a host saw that waited for a run that never ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSeen {
    /// The seed.
    pub seed: u64,
    /// How the muxes wait.
    pub wait: MuxWait,
    /// Looks at the dispatcher.
    pub polls: u64,
    /// `DISPATCH_PROGRESS`, which stood still, and how many commands there were.
    pub progress: u32,
    /// The same.
    pub commands: u32,
    /// Cores that have told the dispatcher, as the workers themselves say, and for how many it waits.
    pub done: u32,
    /// The same.
    pub wait_count: u32,
    /// When the host gave up, in cycles after the go; `None`: the run came to an end before.
    pub gave_up_cycles: Option<u64>,
    /// Who waits for whom then.
    pub chain: Vec<String>,
}

/// What a study has seen.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Links that took part.
    pub links: usize,
    /// Every run.
    pub runs: Vec<MuxRun>,
    /// What hosts saw.
    pub hosts: Vec<HostSeen>,
}

/// Every way of waiting meets every seed's congestion. Every other seed has a mesh of its own, on a thread of its own.
///
/// # Errors
/// When the mesh or its fabric cannot be had.
pub fn study(asked: &MuxStudy<'_>) -> Result<Seen, SceneError> {
    let parts = thread::scope(|scope| {
        let part = |first| scope.spawn(move || part(asked, first));
        let parts: Vec<_> = (0..BENCHES.min(asked.seeds)).map(part).collect();
        let join = |part: thread::ScopedJoinHandle<'_, _>| {
            part.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        parts.into_iter().map(join).collect::<Result<Vec<Seen>, SceneError>>()
    })?;
    let mut seen = Seen::default();
    for part in parts {
        seen.links = part.links;
        seen.runs.extend(part.runs);
    }
    seen.runs.sort_by_key(|run| run.seed);
    seen.hosts = hosts(asked, &seen.runs)?;
    Ok(seen)
}

/// The seeds of one mesh.
fn part(asked: &MuxStudy<'_>, first: u64) -> Result<Seen, SceneError> {
    let mut bench = Bench::new(asked)?;
    let mut seen = Seen { links: bench.links(), ..Seen::default() };
    for seed in (asked.seed + first..asked.seed + asked.seeds).step_by(BENCHES as usize) {
        let (case, ails, healthy) = prepared(&mut bench, seed)?;
        for route in MuxWait::ALL {
            let never = NEVER_FACTOR * healthy.cycles;
            let observed = bench.run(&case, route, Some(&ails), never)?;
            if !observed.settled {
                bench = Bench::new(asked)?;
            }
            seen.runs.push(judge(seed, route, (&case, &healthy), &ails, observed));
        }
    }
    Ok(seen)
}

/// What a seed's workers send, what ails its routers, and its healthy run.
fn prepared(
    bench: &mut Bench,
    seed: u64,
) -> Result<(Case, Congestion, course::Observed), SceneError> {
    let mut dice = Dice(seed);
    let case = Case::draw(&mut dice, bench.links(), bench.workers());
    let healthy = bench.run(&case, MuxWait::ALL[0], None, HEALTHY_CYCLES)?;
    let ails = Congestion::draw(&mut dice, healthy.cycles, bench.links());
    Ok((case, ails, healthy))
}

/// The first run of each way that never ended, once more, with a host that waits for it.
fn hosts(asked: &MuxStudy<'_>, runs: &[MuxRun]) -> Result<Vec<HostSeen>, SceneError> {
    let mut seen = Vec::new();
    for &route in &asked.hosts {
        let hung = |run: &&MuxRun| run.wait == route && run.fate == Fate::NeverEnds;
        let Some(run) = runs.iter().find(hung) else { continue };
        let mut bench = Bench::new(asked)?;
        let (case, ails, _) = prepared(&mut bench, run.seed)?;
        seen.push(bench.wait_as_host(&case, route, &ails, asked.patience, run.seed)?);
    }
    Ok(seen)
}
