//! Random traffic between all pairs of chips of a fabric: does every packet arrive, exactly once and in order?

use super::dice::Dice;
use crate::ccl::records::size;
use crate::control::{ControlError, Firmware, Operation, Place, compute_tiles, go_kernel, image};
use crate::fabric::traffic::{Route, SendType, Shipment, Traffic, WorkerId};
use crate::fabric::traffic_outcome::Outcome;
use crate::fabric::{
    Direction, Entry, Fabric, FabricNode, FabricPlan, FabricRequest, FabricSettings,
    FabricTopology, RoutingTables, Termination, connection,
};
use crate::images::ImageMap;
use crate::machine::BarTarget;
use crate::scene::{Scene, SceneError, Workload};
use crate::target::Target;

/// Time between two looks at the workers, and how long nothing may move before a round is given up, in cycles.
const LOOK_CYCLES: u64 = 50_000;
const PATIENCE_CYCLES: u64 = 5_000_000;
/// Between two polls of a bring-up.
const STEP_CYCLES: u64 = 2_000;
/// Most payloads are not longer than this; one in [`LONG_ONE_IN`] has all bytes that a slot has room for.
const SHORT_BYTES: u32 = 512;
const LONG_ONE_IN: u64 = 8;
/// Hops that every packet may take.
const TTL: u8 = 64;

/// Which traffic.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The mesh.
    pub mesh: &'a str,
    /// What its routers are built for.
    pub topology: FabricTopology,
    /// Packets of each round.
    pub packets: u64,
    /// The first seed, and how many.
    pub seed: u64,
    /// Rounds.
    pub seeds: u64,
}

/// One seed's packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// The seed.
    pub seed: u64,
    /// Packets that were to be sent.
    pub packets: u64,
    /// Packets handed to a router.
    pub sent: u64,
    /// Stretches of memory looked at.
    pub arrived: u64,
    /// Words that were wrong.
    pub wrong_words: u64,
    /// Packets that came more than once.
    pub doubled: u64,
    /// Stretches that did not come.
    pub missing: u64,
    /// Packets without a route.
    pub refused: u64,
    /// Negative acknowledges.
    pub nacks: u64,
    /// Workers that did not end.
    pub unfinished: u64,
    /// Of the chip that took longest.
    pub cycles: u64,
}

impl Round {
    /// Did everything arrive exactly once and in order?
    pub fn is_right(&self) -> bool {
        let Self {
            packets, sent, wrong_words, doubled, missing, refused, nacks, unfinished, ..
        } = self;
        packets == sent && [wrong_words, doubled, missing, refused, nacks, unfinished] == [&0; 6]
    }
}

/// Brings a fabric up on a fresh mesh, sends every seed's packets over it, and takes it down. `told` hears of each round. A round that
/// does not end is the last.
///
/// # Errors
/// When the mesh or the fabric cannot be had.
pub fn study(asked: &Asked<'_>, told: &mut dyn FnMut(&Round)) -> Result<Vec<Round>, SceneError> {
    let mut bench = Bench::new(asked)?;
    let mut rounds = Vec::new();
    for seed in asked.seed..asked.seed + asked.seeds {
        let round = bench.round(seed, asked.packets)?;
        told(&round);
        let ended = round.unfinished == 0;
        rounds.push(round);
        if !ended {
            return Ok(rounds);
        }
    }
    bench.fabric.terminate(Termination::Gracefully);
    let Bench { fabric, target, images, .. } = &mut bench;
    fabric.finish(target, images, STEP_CYCLES).map_err(SceneError::Run)?;
    Ok(rounds)
}

struct Bench {
    target: BarTarget,
    images: ImageMap,
    fabric: Fabric,
    plan: FabricPlan,
    tables: Vec<RoutingTables>,
    places: Vec<Place>,
    run_id: u32,
}

/// A round's workers, in the order of the nodes.
struct Workers {
    traffic: Traffic,
    ids: Vec<WorkerId>,
    /// By node and direction.
    connections: Vec<[Option<usize>; 4]>,
    longest: u32,
}

impl Bench {
    fn new(asked: &Asked<'_>) -> Result<Self, SceneError> {
        let (mut images, _) = ImageMap::firmware();
        let scene = Scene { run: Some(Workload::Idle), seed: asked.seed, ..Scene::new(asked.mesh) };
        let mut target = scene.build(&mut images)?;
        let request = FabricRequest::new(asked.topology);
        let settings = |why: String| ControlError::Settings(why);
        let plan = FabricPlan::new(target.mesh(), &request).map_err(|e| settings(e.to_string()))?;
        let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
        fabric.finish(&mut target, &mut images, STEP_CYCLES).map_err(SceneError::Run)?;
        let place = |node: FabricNode| {
            let chip = plan.chip(node).and_then(|chip| target.mesh().chip(chip));
            let tile = chip.and_then(|chip| compute_tiles(chip).next());
            tile.ok_or_else(|| settings(format!("{node} has no compute tile")))
        };
        let places = plan.nodes().map(place).collect::<Result<_, _>>()?;
        let tables = RoutingTables::of(&plan);
        Ok(Self { target, images, fabric, plan, tables, places, run_id: 0 })
    }

    fn workers(&self) -> Result<Workers, ControlError> {
        let two_dimensions = self.plan.topology.is_2d();
        let mut traffic = Traffic::new(two_dimensions);
        let (mut ids, mut connections, mut longest) = (Vec::new(), Vec::new(), u32::MAX);
        let header =
            if two_dimensions { "HybridMeshPacketHeader" } else { "LowLatencyPacketHeader" };
        let header = size(&*image(&self.images, "fabric_traffic")?, header)? as u32;
        for (number, (node, place)) in (0..).zip(self.plan.nodes().zip(&self.places)) {
            let id = traffic.add_worker(*place, node);
            ids.push(id);
            let mut of = [None; 4];
            for (direction, number_of) in Direction::ALL.into_iter().zip(&mut of) {
                let plane = number % self.plan.planes;
                if let Some(router) = self.plan.router(node, direction, plane) {
                    let channel = connection(&self.images, &self.plan, router)?;
                    longest = longest.min((channel.buffer_bytes - header) & !15);
                    *number_of = Some(traffic.connect(id, channel, None)?);
                }
            }
            connections.push(of);
        }
        Ok(Workers { traffic, ids, connections, longest })
    }

    /// How a packet gets from one node to another.
    fn way(&self, from: usize, to: usize, dice: &mut Dice) -> Option<(Direction, Route)> {
        let tables = self.tables.get(from)?;
        let target = self.tables.get(to)?.node;
        let entry = if target.mesh == tables.node.mesh {
            tables.intra_mesh.get(usize::from(target.device))
        } else {
            tables.inter_mesh.get(usize::from(target.mesh))
        };
        let Some(Entry::To(direction)) = entry.copied() else { return None };
        if self.plan.topology.is_2d() {
            let route = if dice.below(4) == 0 { Route::Tables } else { Route::Map };
            return Some((direction, route));
        }
        let (count, from) = (tables.intra_mesh.len(), usize::from(tables.node.device));
        let ahead = (usize::from(target.device) + count - from) % count;
        let hops = if direction == Direction::East { ahead } else { count - ahead } as u8;
        Some((direction, Route::Hops(hops, hops)))
    }

    /// The packets of a seed: between every two of all nodes, the last of which counts.
    fn packets(&self, workers: &mut Workers, seed: u64, packets: u64) -> Result<u64, ControlError> {
        let mut dice = Dice(seed);
        let nodes = workers.ids.len();
        let mut open = vec![vec![false; nodes]; nodes];
        let mut ship = |dice: &mut Dice, from: usize, to: usize, send, bytes| {
            let Some((direction, route)) = self.way(from, to, dice) else { return Ok(false) };
            let connection = workers.connections[from][direction.index()];
            let Some(connection) = connection else { return Ok(false) };
            let shipment = Shipment {
                connection,
                send,
                bytes,
                ttl: TTL,
                route,
                control: false,
                arrives: true,
            };
            workers.traffic.send(workers.ids[from], &[workers.ids[to]], shipment)?;
            Ok::<bool, ControlError>(true)
        };
        let mut sent = 0;
        for _ in 0..packets {
            let from = dice.below(nodes as u64) as usize;
            let to = (from + 1 + dice.below(nodes as u64 - 1) as usize) % nodes;
            let long = dice.below(LONG_ONE_IN) == 0;
            let short = 16 * (1 + dice.below(u64::from(SHORT_BYTES) / 16) as u32);
            let bytes = if long { workers.longest } else { short.min(workers.longest) };
            let send = match dice.below(7) {
                0..3 => SendType::Fused,
                3 => SendType::Write,
                4 => SendType::Scatter(2 + dice.below(3) as u32),
                5 => SendType::Inline,
                _ => SendType::Atomic,
            };
            let bytes = if matches!(send, SendType::Scatter(_)) { bytes.max(64) } else { bytes };
            let bytes = if matches!(send, SendType::Inline | SendType::Atomic) { 0 } else { bytes };
            if ship(&mut dice, from, to, send, bytes)? {
                open[from][to] = !send.counts();
                sent += 1;
            }
        }
        for (from, open) in open.iter().enumerate() {
            for (to, _) in open.iter().enumerate().filter(|(_, open)| **open) {
                ship(&mut dice, from, to, SendType::Atomic, 0)?;
                sent += 1;
            }
        }
        Ok(sent)
    }

    fn round(&mut self, seed: u64, packets: u64) -> Result<Round, SceneError> {
        let mut workers = self.workers()?;
        let packets = self.packets(&mut workers, seed, packets)?;
        let Workers { traffic, ids, .. } = &workers;
        self.run_id += 1;
        let (mut places, mut gos) = (Vec::new(), Vec::new());
        for (id, tables) in ids.iter().zip(&self.tables) {
            let routing = tables.pack(&self.images, &self.plan)?;
            places.push(traffic.place_kernel(&mut self.images, *id, self.run_id, &routing)?);
            gos.push(go_kernel(&self.images, Firmware::OURS.tensix[0], traffic.place(*id)?)?);
        }
        Operation::finish_all(places, &mut self.target)?;
        Operation::finish_all(gos, &mut self.target)?;
        let outcomes = self.await_end(traffic, ids)?;
        let sum = |of: fn(&Outcome) -> u32| outcomes.iter().map(|o| u64::from(of(o))).sum::<u64>();
        let cycles = outcomes.iter().map(|o| o.finished_cycles.saturating_sub(o.started_cycles));
        Ok(Round {
            seed,
            packets,
            sent: sum(|o| o.sent),
            arrived: sum(|o| o.arrived),
            wrong_words: sum(|o| o.wrong_words),
            doubled: sum(|o| o.doubled),
            missing: sum(|o| o.missing),
            refused: sum(|o| o.refused),
            nacks: sum(|o| o.nacks),
            unfinished: outcomes.iter().filter(|o| !o.is_over()).count() as u64,
            cycles: cycles.max().unwrap_or_default(),
        })
    }

    /// Lets time pass until all have ended, or none has moved for long.
    fn await_end(
        &mut self,
        traffic: &Traffic,
        ids: &[WorkerId],
    ) -> Result<Vec<Outcome>, SceneError> {
        let (mut last, mut quiet) = (0, 0);
        loop {
            self.target.pass(LOOK_CYCLES)?;
            let look = |id: &WorkerId| traffic.outcome(&mut self.target, &self.images, *id);
            let outcomes = ids.iter().map(look).collect::<Result<Vec<_>, _>>()?;
            let moved = outcomes.iter().map(|o| u64::from(o.sent) + u64::from(o.arrived)).sum();
            quiet = if moved == last { quiet + LOOK_CYCLES } else { 0 };
            last = moved;
            if outcomes.iter().all(Outcome::is_over) || quiet >= PATIENCE_CYCLES {
                return Ok(outcomes);
            }
        }
    }
}
