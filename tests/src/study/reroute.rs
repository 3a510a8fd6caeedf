//! Links of a fabric go down and come back during an all-gather or random traffic. All data must
//! arrive right and exactly once.

mod round;
mod table;
mod watch;
pub use round::{Effect, Outage, RerouteRound};
pub use table::STUDY;

use super::traffic::{self, STEP_CYCLES};
use access::bar_target::BarTarget;
use collectives::{FabricOptions, Op, Program, Request, Run, RunSettings, Transport, compile_over};
use fabric::random::{Draw, TTL, TrafficPattern};
use fabric::{Fabric, FabricPlan, FabricSettings, Termination};
use images::ImageMap;
use launch::ControlError;
use launch::dice::Random;
use layouts::{ChipId, EthId};
use machine::fault::Fault;
use machine::target::Target;
use watch::{links, sent, settled_counters};
use workloads::scene::{Scene, SceneError, Workload};

/// Longest outage, in healthy runs.
const LONGEST: u64 = 3;
/// Most outages of a round of random traffic.
const MOST_OUTAGES: u64 = 4;

/// The traffic during the outages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// An all-gather of this many bytes over all chips; one link goes down.
    AllGather(u64),
    /// This many random packets between all pairs of chips; up to four links go down, one after the
    /// other or together.
    Packets(u64),
}

/// Options of the study.
#[derive(Clone, Debug)]
pub struct RerouteStudy {
    /// The mesh and its fabric.
    pub scene: Scene,
    /// The traffic.
    pub load: Load,
    /// The first seed.
    pub seed: u64,
    /// Number of seeds.
    pub seeds: u64,
}

/// Brings up a fabric on a fresh mesh and takes links down in every round, at random times and for
/// random lengths. Only links that have a fallback link go down. `report` is called with each
/// round.
///
/// # Errors
/// When the mesh or the fabric cannot be built, no link has a fallback link, or a run is not
/// finished.
pub fn study(
    setup: &RerouteStudy,
    report: &mut dyn FnMut(&RerouteRound),
) -> Result<Vec<RerouteRound>, SceneError> {
    match setup.load {
        Load::AllGather(bytes) => all_gathers(setup, bytes, report),
        Load::Packets(packets) => random_packets(setup, packets, report),
    }
}

fn settings(why: impl Into<String>) -> SceneError {
    SceneError::Control(ControlError::Settings(why.into()))
}

fn outage(dice: &mut Random, links: &[EthId], healthy_cycles: u64) -> Option<Outage> {
    let link = *links.get(dice.below(links.len() as u64) as usize)?;
    let from_cycles = dice.below(healthy_cycles);
    Some(Outage { link, from_cycles, cycles: 1 + dice.below(LONGEST * healthy_cycles) })
}

fn no_fallback() -> SceneError {
    settings("no link that carries traffic has a fallback link")
}

fn all_gathers(
    setup: &RerouteStudy,
    bytes: u64,
    report: &mut dyn FnMut(&RerouteRound),
) -> Result<Vec<RerouteRound>, SceneError> {
    let (mut images, _) = ImageMap::firmware();
    let scene = Scene { run: Some(Workload::Idle), seed: setup.seed, ..setup.scene.clone() };
    let mut target = scene.build(&mut images)?;
    let request = &setup.scene.fabric;
    let plan = FabricPlan::new(target.mesh(), request).map_err(SceneError::Fabric)?;
    let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
    fabric.finish(&mut target, &mut images, STEP_CYCLES).map_err(SceneError::of_run(&target))?;
    let options = FabricOptions { topology: Some(plan.topology), ..FabricOptions::default() };
    let request =
        Request { transport: Transport::Fabric(options), ..Request::new(Op::AllGather, bytes) };
    let program = compile_over(target.mesh(), &request, Some(&plan))
        .map_err(|error| settings(error.to_string()))?;
    let before = sent(&mut target, &images, &plan)?;
    let (healthy, _) = gather(&mut target, &mut images, &program, Vec::new())?;
    let longest = healthy.iter().map(|(_, cycles)| *cycles).max();
    let longest = longest.ok_or_else(|| settings("no chip moved data"))?;
    let links = links(&plan, &sent(&mut target, &images, &plan)?, &before);
    let mut rounds = Vec::new();
    for seed in setup.seed..setup.seed + setup.seeds {
        let mut dice = Random(seed);
        let outage = outage(&mut dice, &links, longest).ok_or_else(no_fallback)?;
        let [rerouted, resent] = settled_counters(&mut target, &images, &plan)?;
        let (times, wrong) = gather(&mut target, &mut images, &program, vec![outage.fault()])?;
        let (chip, healthy_cycles, cycles) = latest(&healthy, &times);
        let after = settled_counters(&mut target, &images, &plan)?;
        let round = RerouteRound {
            seed,
            outages: vec![outage],
            chip,
            healthy_cycles,
            cycles,
            rerouted: after[0] - rerouted,
            resent: after[1] - resent,
            wrong,
            ..RerouteRound::default()
        };
        report(&round);
        rounds.push(round);
    }
    fabric.terminate(Termination::Gracefully);
    fabric.finish(&mut target, &mut images, STEP_CYCLES).map_err(SceneError::of_run(&target))?;
    Ok(rounds)
}

/// Returns the chip with the largest delay against the healthy run, and its two times.
fn latest(healthy: &Times, times: &Times) -> (Option<ChipId>, u64, u64) {
    let both = times.iter().filter_map(|(chip, cycles)| {
        let (_, before) = healthy.iter().find(|(other, _)| other == chip)?;
        Some((Some(*chip), *before, *cycles))
    });
    both.max_by_key(|(_, before, cycles)| *cycles as i64 - *before as i64).unwrap_or((None, 0, 0))
}

/// How long each chip moved data, in cycles of its own clock.
type Times = Vec<(ChipId, u64)>;

/// Runs the all-gather. Returns its times and the number of wrong elements.
fn gather(
    target: &mut BarTarget,
    images: &mut ImageMap,
    program: &Program,
    faults: Vec<Fault>,
) -> Result<(Times, u64), SceneError> {
    let mut run = Run::new(program.clone(), RunSettings { faults, ..RunSettings::default() });
    let report = run.finish(target, images, STEP_CYCLES).map_err(SceneError::of_run(target))?;
    let report = report.ok_or_else(|| settings("the all-gather was cancelled"))?;
    let times = report.chips.iter().map(|times| (times.chip, times.transfer_cycles())).collect();
    let wrong = report.wrong.ok_or_else(|| settings("the all-gather was not checked"))?;
    Ok((times, wrong))
}

fn random_packets(
    setup: &RerouteStudy,
    packets: u64,
    report: &mut dyn FnMut(&RerouteRound),
) -> Result<Vec<RerouteRound>, SceneError> {
    let RerouteStudy { seed, seeds, .. } = *setup;
    let (scene, pattern, mux_percent) = (setup.scene.clone(), TrafficPattern::Random, 0);
    let setup = traffic::TrafficStudy { scene, packets, seed, seeds, pattern, mux_percent };
    let mut bench = traffic::Bench::new(&setup)?;
    let plan = bench.fabric.plan().clone();
    let mut rounds = Vec::new();
    for seed in seed..seed + seeds {
        let before = sent(&mut bench.target, &bench.images, &plan)?;
        let healthy = bench.round(Draw { seed, packets, pattern, ttl: TTL, mux_percent })?;
        let links = links(&plan, &sent(&mut bench.target, &bench.images, &plan)?, &before);
        let mut dice = Random(seed);
        let outages: Option<Vec<Outage>> = (0..=dice.below(MOST_OUTAGES))
            .map(|_| outage(&mut dice, &links, healthy.cycles))
            .collect();
        let outages = outages.ok_or_else(no_fallback)?;
        let [rerouted, resent] = settled_counters(&mut bench.target, &bench.images, &plan)?;
        bench.faults = outages.iter().map(Outage::fault).collect();
        let found = bench.round(Draw { seed, packets, pattern, ttl: TTL, mux_percent })?;
        let ended = found.unfinished == 0;
        let after = settled_counters(&mut bench.target, &bench.images, &plan)?;
        let round = RerouteRound {
            seed,
            outages,
            healthy_cycles: healthy.cycles,
            cycles: found.cycles,
            rerouted: after[0] - rerouted,
            resent: after[1] - resent,
            wrong: found.wrong_words,
            doubled: found.doubled,
            missing: found.missing
                + found.refused
                + found.packets.saturating_sub(found.sent)
                + found.nacks,
            ..RerouteRound::default()
        };
        report(&round);
        rounds.push(round);
        if !ended {
            return Ok(rounds);
        }
    }
    bench.fabric.terminate(Termination::Gracefully);
    let traffic::Bench { fabric, target, images, .. } = &mut bench;
    fabric.finish(target, images, STEP_CYCLES).map_err(SceneError::of_run(target))?;
    Ok(rounds)
}
