//! Policies of a fabric mux under congestion, in the experiment of the public write-up of the
//! reduce-scatter hang: several muxes with eight workers each in front of routers that need 5 to 10
//! us for a packet and that run out of slots for a short time, for a long time, or for ever.

mod claims;
mod judge;
mod sums;
mod table;

pub use judge::Fate;
use judge::judge;
use launch::HostTimeout;
use std::panic::resume_unwind;
use std::thread;
pub use table::STUDY;
use workloads::mux::{Bench, Figures, HostReport, MuxSetup, MuxWait, prepared};
use workloads::scene::SceneError;

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

/// Options of the study.
#[derive(Clone, Debug)]
pub struct MuxStudy<'a> {
    /// The mesh, its muxes, and the first seed.
    pub setup: MuxSetup<'a>,
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
pub fn study(study: &MuxStudy<'_>) -> Result<MuxReport, SceneError> {
    let parts = thread::scope(|scope| {
        let part = |first| scope.spawn(move || part(study, first));
        let parts: Vec<_> = (0..BENCHES.min(study.seeds)).map(part).collect();
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
    seen.hosts = hosts(study, &seen.runs)?;
    Ok(seen)
}

/// Runs the seeds of one mesh.
fn part(MuxStudy { setup, seeds, .. }: &MuxStudy<'_>, first: u64) -> Result<MuxReport, SceneError> {
    let mut bench = Bench::new(setup)?;
    let mut seen = MuxReport { links: bench.links(), ..MuxReport::default() };
    for seed in (setup.seed + first..setup.seed + seeds).step_by(BENCHES as usize) {
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

/// Repeats the first run of each way of waiting that never ended, with a host that waits for it.
fn hosts(study: &MuxStudy<'_>, runs: &[MuxRun]) -> Result<Vec<HostReport>, SceneError> {
    let mut seen = Vec::new();
    for &wait in &study.hosts {
        let hung = |run: &&MuxRun| run.wait == wait && run.fate == Fate::NeverEnds;
        let Some(run) = runs.iter().find(hung) else { continue };
        let mut bench = Bench::new(&study.setup)?;
        let (case, congestion, _) = prepared(&mut bench, run.seed)?;
        seen.push(bench.wait_as_host(&case, wait, &congestion, study.patience, run.seed)?);
    }
    Ok(seen)
}
