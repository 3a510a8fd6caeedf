//! A link of a fabric is lost and comes back, in the midst of an all-gather or of random traffic: is all data right, exactly once?

use super::dice::Dice;
use super::traffic::{self, STEP_CYCLES};
use crate::ccl::{FabricWish, Op, Program, Request, Run, RunSettings, Transport, compile_over};
use crate::control::ControlError;
use crate::fabric::random::{Draw, TrafficPattern};
use crate::fabric::{Fabric, FabricPlan, FabricSettings, Router, Termination, router_counters};
use crate::fault::{Fault, LinkFault, What};
use crate::images::ImageMap;
use crate::machine::BarTarget;
use crate::scene::{Scene, SceneError, Workload};
use crate::target::Target;
use layouts::EthId;

/// How long routers may need until all use their own links again, and between two looks, in cycles.
const MENDED_CYCLES: u64 = 20_000_000;
const LOOK_CYCLES: u64 = 20_000;
/// An outage lasts at most so many times as long as the healthy run.
const LONGEST: u64 = 3;
/// Outages of a round of random traffic.
const MOST_OUTAGES: u64 = 4;

/// What is under way when links are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// An all-gather of so many bytes over all chips; one link is lost.
    AllGather(u64),
    /// So many random packets between all pairs of chips; up to four links are lost, one after the other or together.
    Packets(u64),
}

/// Which mesh, and how often.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The mesh and its fabric.
    pub scene: Scene,
    /// What is under way.
    pub load: Load,
    /// The first seed.
    pub seed: u64,
    /// How many.
    pub seeds: u64,
}

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
    fn fault(&self) -> Fault {
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

impl Round {
    /// Is all data right, nothing lost and nothing doubled?
    pub fn is_right(&self) -> bool {
        [self.wrong, self.doubled, self.missing] == [0; 3]
    }
}

/// Brings a fabric up on a fresh mesh and loses links of it in every round: those that have another link to turn to, at random times
/// and for random lengths. `told` hears of each round.
///
/// # Errors
/// When the mesh or the fabric cannot be had, no link has another beside it, or a run is not finished.
pub fn study(asked: &Asked, told: &mut dyn FnMut(&Round)) -> Result<Vec<Round>, SceneError> {
    match asked.load {
        Load::AllGather(bytes) => all_gathers(asked, bytes, told),
        Load::Packets(packets) => random_packets(asked, packets, told),
    }
}

fn settings(why: impl Into<String>) -> SceneError {
    SceneError::Control(ControlError::Settings(why.into()))
}

/// One end of each link that has another one beside it, and over which something went since `before`.
fn links(plan: &FabricPlan, sent: &[u64], before: &[u64]) -> Vec<EthId> {
    let busy = |router: &Router| {
        let grown = |end: EthId| {
            let at = plan.routers.iter().position(|router| router.eth == end)?;
            Some(sent.get(at)? > before.get(at)?)
        };
        grown(router.eth) == Some(true) || grown(router.peer) == Some(true)
    };
    let once = |router: &&Router| router.eth < router.peer && !plan.fallbacks(router).is_empty();
    plan.routers.iter().filter(once).filter(|router| busy(router)).map(|r| r.eth).collect()
}

struct Counters {
    members: Vec<String>,
}

impl Counters {
    const ROUTE: [&'static str; 3] = ["link", "packets_rerouted", "packets_resent"];

    fn read(
        &self,
        target: &mut dyn Target,
        images: &ImageMap,
        plan: &FabricPlan,
    ) -> Result<Vec<Vec<u32>>, ControlError> {
        let members: Vec<&str> = self.members.iter().map(String::as_str).collect();
        router_counters(target, images, plan, &members)
    }
}

/// Packets that each router has sent, over all its channels.
fn sent(
    target: &mut dyn Target,
    images: &ImageMap,
    plan: &FabricPlan,
) -> Result<Vec<u64>, ControlError> {
    let members = (0..6).map(|channel| format!("senders[{channel}].packets_sent")).collect();
    let all = Counters { members }.read(target, images, plan)?;
    Ok(all.iter().map(|values| values.iter().map(|&value| u64::from(value)).sum()).collect())
}

/// Waits until every router uses its own link; what was rerouted and resent so far.
fn mended(
    target: &mut dyn Target,
    images: &ImageMap,
    plan: &FabricPlan,
) -> Result<[u64; 2], SceneError> {
    let route = Counters { members: Counters::ROUTE.map(str::to_owned).to_vec() };
    let until = target.now()? + MENDED_CYCLES;
    loop {
        let all = route.read(target, images, plan)?;
        let sum = |at: usize| all.iter().filter_map(|v| v.get(at)).map(|&v| u64::from(v)).sum();
        if all.iter().all(|values| values.first() == Some(&0)) {
            return Ok([sum(1), sum(2)]);
        }
        if target.now()? >= until {
            let lost = plan.routers.iter().zip(&all).find(|(_, v)| v.first() != Some(&0));
            let lost = lost.map(|(router, _)| router.to_string()).unwrap_or_default();
            return Err(settings(format!("{lost} does not use its own link again")));
        }
        target.pass(LOOK_CYCLES)?;
    }
}

fn outage(dice: &mut Dice, links: &[EthId], healthy_cycles: u64) -> Option<Outage> {
    let link = *links.get(dice.below(links.len() as u64) as usize)?;
    let from_cycles = dice.below(healthy_cycles);
    Some(Outage { link, from_cycles, cycles: 1 + dice.below(LONGEST * healthy_cycles) })
}

fn nowhere() -> SceneError {
    settings("no link that carries anything has another one beside it")
}

fn all_gathers(
    asked: &Asked,
    bytes: u64,
    told: &mut dyn FnMut(&Round),
) -> Result<Vec<Round>, SceneError> {
    let (mut images, _) = ImageMap::firmware();
    let scene = Scene { run: Some(Workload::Idle), seed: asked.seed, ..asked.scene.clone() };
    let mut target = scene.build(&mut images)?;
    let request = &asked.scene.fabric;
    let plan = FabricPlan::new(target.mesh(), request).map_err(SceneError::Fabric)?;
    let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
    fabric.finish(&mut target, &mut images, STEP_CYCLES).map_err(SceneError::Run)?;
    let wish = FabricWish { topology: Some(plan.topology), ..FabricWish::default() };
    let request =
        Request { transport: Transport::Fabric(wish), ..Request::new(Op::AllGather, bytes) };
    let program = compile_over(target.mesh(), &request, Some(&plan))
        .map_err(|error| settings(error.to_string()))?;
    let before = sent(&mut target, &images, &plan)?;
    let (healthy_cycles, _) = gather(&mut target, &mut images, &program, Vec::new())?;
    let links = links(&plan, &sent(&mut target, &images, &plan)?, &before);
    let mut rounds = Vec::new();
    for seed in asked.seed..asked.seed + asked.seeds {
        let mut dice = Dice(seed);
        let outage = outage(&mut dice, &links, healthy_cycles).ok_or_else(nowhere)?;
        let [rerouted, resent] = mended(&mut target, &images, &plan)?;
        let (cycles, wrong) = gather(&mut target, &mut images, &program, vec![outage.fault()])?;
        let after = mended(&mut target, &images, &plan)?;
        let round = Round {
            seed,
            outages: vec![outage],
            healthy_cycles,
            cycles,
            rerouted: after[0] - rerouted,
            resent: after[1] - resent,
            wrong,
            ..Round::default()
        };
        told(&round);
        rounds.push(round);
    }
    fabric.terminate(Termination::Gracefully);
    fabric.finish(&mut target, &mut images, STEP_CYCLES).map_err(SceneError::Run)?;
    Ok(rounds)
}

/// Its time, and elements that are wrong.
fn gather(
    target: &mut BarTarget,
    images: &mut ImageMap,
    program: &Program,
    faults: Vec<Fault>,
) -> Result<(u64, u64), SceneError> {
    let mut run = Run::new(program.clone(), RunSettings { faults, ..RunSettings::default() });
    let report = run.finish(target, images, STEP_CYCLES).map_err(SceneError::Run)?;
    let report = report.ok_or_else(|| settings("the all-gather was cancelled"))?;
    Ok((report.time_cycles, report.wrong.unwrap_or_default()))
}

fn random_packets(
    asked: &Asked,
    packets: u64,
    told: &mut dyn FnMut(&Round),
) -> Result<Vec<Round>, SceneError> {
    let Asked { seed, seeds, .. } = *asked;
    let (scene, pattern, mux_percent) = (asked.scene.clone(), TrafficPattern::Random, 0);
    let asked = traffic::Asked { scene, packets, seed, seeds, pattern, mux_percent };
    let mut bench = traffic::Bench::new(&asked)?;
    let plan = bench.fabric.plan().clone();
    let mut rounds = Vec::new();
    for seed in seed..seed + seeds {
        let before = sent(&mut bench.target, &bench.images, &plan)?;
        let healthy = bench.round(Draw { seed, packets, pattern, mux_percent })?;
        let links = links(&plan, &sent(&mut bench.target, &bench.images, &plan)?, &before);
        let mut dice = Dice(seed);
        let outages: Option<Vec<Outage>> = (0..=dice.below(MOST_OUTAGES))
            .map(|_| outage(&mut dice, &links, healthy.cycles))
            .collect();
        let outages = outages.ok_or_else(nowhere)?;
        let [rerouted, resent] = mended(&mut bench.target, &bench.images, &plan)?;
        bench.faults = outages.iter().map(Outage::fault).collect();
        let found = bench.round(Draw { seed, packets, pattern, mux_percent })?;
        let ended = found.unfinished == 0;
        let after = mended(&mut bench.target, &bench.images, &plan)?;
        let round = Round {
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
        };
        told(&round);
        rounds.push(round);
        if !ended {
            return Ok(rounds);
        }
    }
    bench.fabric.terminate(Termination::Gracefully);
    let traffic::Bench { fabric, target, images, .. } = &mut bench;
    fabric.finish(target, images, STEP_CYCLES).map_err(SceneError::Run)?;
    Ok(rounds)
}
