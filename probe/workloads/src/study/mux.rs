//! Policies of a fabric mux under congestion, in the experiment of the public write-up of the
//! reduce-scatter hang: several muxes with eight workers each in front of routers that need 5 to 10
//! us for a packet and that run out of slots for a short time, for a long time, or for ever.

mod bench;
mod case;
mod cast;
mod chain;
mod course;
mod figures;
mod judge;
mod posts;
mod scene;
mod stage;

use crate::scene::SceneError;
use bench::Bench;
pub(super) use case::{Case, Congestion, CongestionFault};
use fabric::mux::{Policy, WaitBound};
pub use figures::{ChannelFigures, Figures};
pub use judge::Fate;
use judge::judge;
use launch::HostTimeout;
use launch::dice::Random;
use machine::fabric::MuxCore;
pub use scene::MuxScene;
pub(super) use stage::{StagedMux, stage};
use std::panic::resume_unwind;
use std::thread;

/// A run that takes more than this many times as long as its healthy run slows. The healthy run is
/// that of the same seed under the first policy without congestion.
pub const SLOW_FACTOR: u64 = 2;
/// A client starves if it has handed over its last packet and the mux does not answer its close for
/// more than this many times the healthy run. The answer needs nothing from the router.
pub const STARVE_FACTOR: u64 = 1;
/// A run that has not ended after this many times its healthy run never ends.
pub const NEVER_FACTOR: u64 = 10;
/// Meshes that share the seeds. The number is fixed because a seed's cycles depend slightly on the
/// earlier runs of its mesh.
const BENCHES: u64 = 2;
/// Limit of a healthy run, in cycles; it ends long before.
const HEALTHY_CYCLES: u64 = 20_000_000;

/// How a mux waits in a run: a policy, and its bounded wait if the wait is not counted in polls as
/// the policy's name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MuxWait {
    /// Its name.
    pub name: &'static str,
    /// Its policy.
    pub policy: Policy,
    /// Its bounded wait, if it is not counted in polls.
    pub turn: Option<WaitBound>,
}

const fn mux_wait(name: &'static str, policy: Policy, turn: Option<WaitBound>) -> MuxWait {
    MuxWait { name, policy, turn }
}

const fn keeps(wait_cycles: u32) -> WaitBound {
    WaitBound { wait_cycles, keeps_router: true }
}

impl MuxWait {
    /// The five policies as built, and the two bounded ones as the write-up describes them: the
    /// waiting channel takes every slot that the router frees for 130 us or 5 us.
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

/// Options of the study.
#[derive(Clone, Debug)]
pub struct MuxStudy<'a> {
    /// A mesh of two chips or more.
    pub mesh: &'a str,
    /// The kind of core that the muxes run on.
    pub core: MuxCore,
    /// Workers of each mux.
    pub workers: usize,
    /// Links of one chip, each with a mux; none: two, or all if the chip has fewer.
    pub links: Option<usize>,
    /// The first seed.
    pub seed: u64,
    /// Number of seeds.
    pub seeds: u64,
    /// The ways of waiting for which a host waits for the first run that never ends.
    pub hosts: Vec<MuxWait>,
    /// How that host waits.
    pub patience: HostTimeout,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MuxRun {
    /// The seed.
    pub seed: u64,
    /// How the muxes wait.
    pub wait: MuxWait,
    /// Its outcome.
    pub fate: Fate,
    /// Time of the healthy run, in cycles.
    pub healthy_cycles: u64,
    /// Time of this run until it ended or timed out, in cycles of the dispatcher's clock.
    pub cycles: u64,
    /// Cycles between two packets of a router in the healthy run.
    pub packet_cycles: u64,
    /// How long the routers were slow or without slots; `None`: for ever.
    pub stall_cycles: Option<u64>,
    /// Whether the router itself stood still, so that it did not answer a close either.
    pub router_stands: bool,
    /// For a run that never ends: cores that have not reported to the dispatcher. If there are no
    /// more of them than links, all workers have reported.
    pub undone: u32,
    /// Measurements of the device.
    pub figures: Figures,
    /// The congestion, in words.
    pub congestion: String,
    /// For a run that starves or never ends: the chain of waits, one sentence each.
    pub chain: Vec<String>,
}

/// Observations of a host that waited for a run that never ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostReport {
    /// The seed.
    pub seed: u64,
    /// How the muxes wait.
    pub wait: MuxWait,
    /// Polls of the dispatcher.
    pub polls: u64,
    /// `DISPATCH_PROGRESS`, which stood still.
    pub progress: u32,
    /// Commands of the dispatcher.
    pub commands: u32,
    /// Cores that have reported to the dispatcher.
    pub done: u32,
    /// Cores that the dispatcher waits for.
    pub wait_count: u32,
    /// When the host timed out, in cycles after the go message; `None`: the run ended before.
    pub gave_up_cycles: Option<u64>,
    /// The chain of waits at that time, one sentence each.
    pub chain: Vec<String>,
}

/// The results of a study.
#[derive(Clone, Debug, Default)]
pub struct MuxReport {
    /// Links that took part.
    pub links: usize,
    /// Every run.
    pub runs: Vec<MuxRun>,
    /// The hosts' observations.
    pub hosts: Vec<HostReport>,
}

/// Runs every seed's congestion with every way of waiting. Even and odd seeds run on two meshes,
/// each on a thread of its own.
///
/// # Errors
/// When the mesh or its fabric cannot be built.
pub fn study(setup: &MuxStudy<'_>) -> Result<MuxReport, SceneError> {
    let parts = thread::scope(|scope| {
        let part = |first| scope.spawn(move || part(setup, first));
        let parts: Vec<_> = (0..BENCHES.min(setup.seeds)).map(part).collect();
        let join = |part: thread::ScopedJoinHandle<'_, _>| {
            part.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        parts.into_iter().map(join).collect::<Result<Vec<MuxReport>, SceneError>>()
    })?;
    let mut seen = MuxReport::default();
    for part in parts {
        seen.links = part.links;
        seen.runs.extend(part.runs);
    }
    seen.runs.sort_by_key(|run| run.seed);
    seen.hosts = hosts(setup, &seen.runs)?;
    Ok(seen)
}

/// Runs the seeds of one mesh.
fn part(setup: &MuxStudy<'_>, first: u64) -> Result<MuxReport, SceneError> {
    let mut bench = Bench::new(setup)?;
    let mut seen = MuxReport { links: bench.links(), ..MuxReport::default() };
    for seed in (setup.seed + first..setup.seed + setup.seeds).step_by(BENCHES as usize) {
        let (case, congestion, healthy) = prepared(&mut bench, seed)?;
        for wait in MuxWait::ALL {
            let never = NEVER_FACTOR * healthy.cycles;
            let observed = bench.run(&case, wait, Some(&congestion), never)?;
            if !observed.settled {
                bench = Bench::new(setup)?;
            }
            seen.runs.push(judge(seed, wait, (&case, &healthy), &congestion, observed));
        }
    }
    Ok(seen)
}

/// Returns a seed's case, its congestion, and its healthy run.
fn prepared(
    bench: &mut Bench,
    seed: u64,
) -> Result<(Case, Congestion, course::Observed), SceneError> {
    let mut dice = Random(seed);
    let case = Case::draw(&mut dice, bench.links(), bench.workers());
    let healthy = bench.run(&case, MuxWait::ALL[0], None, HEALTHY_CYCLES)?;
    let congestion = Congestion::draw(&mut dice, healthy.cycles, bench.links());
    Ok((case, congestion, healthy))
}

/// Repeats the first run of each way of waiting that never ended, with a host that waits for it.
fn hosts(setup: &MuxStudy<'_>, runs: &[MuxRun]) -> Result<Vec<HostReport>, SceneError> {
    let mut seen = Vec::new();
    for &wait in &setup.hosts {
        let hung = |run: &&MuxRun| run.wait == wait && run.fate == Fate::NeverEnds;
        let Some(run) = runs.iter().find(hung) else { continue };
        let mut bench = Bench::new(setup)?;
        let (case, congestion, _) = prepared(&mut bench, run.seed)?;
        seen.push(bench.wait_as_host(&case, wait, &congestion, setup.patience, run.seed)?);
    }
    Ok(seen)
}
