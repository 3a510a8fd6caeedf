//! Random traffic between all pairs of chips of a fabric. Every packet must arrive exactly once and
//! in order.

mod table;

use access::bar_target::BarTarget;
use fabric::random::{Draw, PacketLoad, RandomTraffic, TTL, TrafficPattern};
use fabric::traffic::WorkerId;
use fabric::traffic_outcome::TrafficOutcome;
use fabric::{Fabric, FabricPlan, FabricSettings, Termination};
use images::ImageMap;
use launch::{Firmware, Operation, boot_tensix};
use machine::fault::Fault;
use machine::target::Target;
pub use table::STUDY;
pub(super) use table::{MOST_PACKETS, MOST_SEEDS};
use workloads::scene::{Scene, SceneError, Workload};

/// Interval between two polls of the workers, in cycles.
const POLL_CYCLES: u64 = 50_000;
/// Time without progress after which a round ends unfinished, in cycles.
const PATIENCE_CYCLES: u64 = 1_000_000;
/// Interval between two polls of a bring-up, in cycles.
pub(super) const STEP_CYCLES: u64 = 2_000;

/// Options of the study.
#[derive(Clone, Debug)]
pub struct TrafficStudy {
    /// The mesh and its fabric.
    pub scene: Scene,
    /// Packets of each round.
    pub packets: u64,
    /// The first seed.
    pub seed: u64,
    /// Number of seeds; each is a round.
    pub seeds: u64,
    /// Pairs of chips that exchange packets.
    pub pattern: TrafficPattern,
    /// Percentage of workers that send through muxes.
    pub mux_percent: u64,
}

/// The outcome of one seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrafficRound {
    /// The seed.
    pub seed: u64,
    /// Packets to send.
    pub packets: u64,
    /// Packets handed to a router.
    pub sent: u64,
    /// Ranges of memory that were checked.
    pub arrived: u64,
    /// Wrong words.
    pub wrong_words: u64,
    /// Packets that arrived more than once.
    pub doubled: u64,
    /// Ranges that did not arrive.
    pub missing: u64,
    /// Packets without a route.
    pub refused: u64,
    /// Negative acknowledges.
    pub nacks: u64,
    /// Workers that did not end.
    pub unfinished: u64,
    /// Time of the slowest worker, in cycles.
    pub cycles: u64,
}

impl TrafficRound {
    /// Returns true if everything arrived exactly once and in order.
    pub fn is_right(&self) -> bool {
        let Self {
            packets, sent, wrong_words, doubled, missing, refused, nacks, unfinished, ..
        } = self;
        packets == sent && [wrong_words, doubled, missing, refused, nacks, unfinished] == [&0; 6]
    }
}

/// Brings up a fabric on a fresh mesh, sends every seed's packets over it, and terminates it.
/// `report` is called with each round. An unfinished round is the last.
///
/// # Errors
/// When the mesh or the fabric cannot be built.
pub fn study(
    setup: &TrafficStudy,
    report: &mut dyn FnMut(&TrafficRound),
) -> Result<Vec<TrafficRound>, SceneError> {
    let mut bench = Bench::new(setup)?;
    let mut rounds = Vec::new();
    for seed in setup.seed..setup.seed + setup.seeds {
        let TrafficStudy { packets, pattern, mux_percent, .. } = *setup;
        let round = bench.round(Draw { seed, packets, pattern, ttl: TTL, mux_percent })?;
        report(&round);
        let ended = round.unfinished == 0;
        rounds.push(round);
        if !ended {
            return Ok(rounds);
        }
    }
    bench.fabric.terminate(Termination::Gracefully);
    let Bench { fabric, target, images, .. } = &mut bench;
    fabric.finish(target, images, STEP_CYCLES).map_err(SceneError::of_run(target))?;
    Ok(rounds)
}

pub(super) struct Bench {
    pub(super) target: BarTarget,
    pub(super) images: ImageMap,
    pub(super) fabric: Fabric,
    random: RandomTraffic,
    run_id: u32,
    /// Faults of the next round, in cycles from its start.
    pub(super) faults: Vec<Fault>,
}

impl Bench {
    pub(super) fn new(setup: &TrafficStudy) -> Result<Self, SceneError> {
        let (mut images, _) = ImageMap::firmware();
        let run = Some(Workload::Idle);
        let scene = Scene { run, tiles: Some(0), seed: setup.seed, ..setup.scene.clone() };
        let mut target = scene.build(&mut images)?;
        let plan =
            FabricPlan::new(target.mesh(), &setup.scene.fabric).map_err(SceneError::Fabric)?;
        let random = RandomTraffic::new(target.mesh(), &plan)?;
        let tiles = random.tiles(setup.mux_percent > 0);
        let boots = tiles.map(|tile| boot_tensix(&mut images, Firmware::BUILT_IN, tile));
        Operation::finish_all(boots.collect::<Result<_, _>>()?, &mut target)?;
        let mut fabric = Fabric::new(plan, FabricSettings::default());
        fabric
            .finish(&mut target, &mut images, STEP_CYCLES)
            .map_err(SceneError::of_run(&target))?;
        Ok(Self { target, images, fabric, random, run_id: 0, faults: Vec::new() })
    }

    pub(super) fn round(&mut self, draw: Draw) -> Result<TrafficRound, SceneError> {
        let load = self.random.draw(&self.images, draw)?;
        self.run_id += 1;
        let [muxes, places, gos] = self.random.launch(&mut self.images, &load, self.run_id)?;
        Operation::finish_all(muxes, &mut self.target)?;
        Operation::finish_all(places, &mut self.target)?;
        let now = self.target.now()?;
        for fault in self.faults.drain(..) {
            self.target.disrupt(&fault.counted_from(now))?;
        }
        Operation::finish_all(gos, &mut self.target)?;
        let outcomes = self.await_end(&load)?;
        let sum = |count: fn(&TrafficOutcome) -> u32| {
            outcomes.iter().map(|o| u64::from(count(o))).sum::<u64>()
        };
        let cycles = outcomes.iter().map(|o| o.finished_cycles.saturating_sub(o.started_cycles));
        Ok(TrafficRound {
            seed: draw.seed,
            packets: load.packets,
            sent: sum(|o| o.sent),
            arrived: sum(|o| o.arrived),
            wrong_words: sum(|o| o.wrong_words),
            doubled: sum(|o| o.doubled),
            missing: sum(|o| o.missing),
            refused: sum(|o| o.refused),
            nacks: sum(|o| o.nacks),
            unfinished: outcomes.iter().filter(|o| !o.is_over()).count() as u64,
            cycles: cycles.max().unwrap_or(0),
        })
    }

    /// Lets time pass until all workers have ended or none makes progress.
    fn await_end(&mut self, load: &PacketLoad) -> Result<Vec<TrafficOutcome>, SceneError> {
        let (mut last, mut quiet) = (0, 0);
        loop {
            self.target.pass(POLL_CYCLES)?;
            let outcome = |id: &WorkerId| load.traffic.outcome(&mut self.target, &self.images, *id);
            let outcomes = load.ids.iter().map(outcome).collect::<Result<Vec<_>, _>>()?;
            let moved = outcomes.iter().map(|o| u64::from(o.sent) + u64::from(o.arrived)).sum();
            quiet = if moved == last { quiet + POLL_CYCLES } else { 0 };
            last = moved;
            if outcomes.iter().all(TrafficOutcome::is_over) || quiet >= PATIENCE_CYCLES {
                return Ok(outcomes);
            }
        }
    }
}
