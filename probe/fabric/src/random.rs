//! Random traffic between all pairs of chips of a fabric, determined by a seed.

use super::mux::{Mux, Policy};
use super::traffic::{PacketSpec, Route, SendType, Termination, Traffic, WorkerId};
use super::{FabricPlan, connection, header_bytes};
use crate::tables::{pack_tables, routing_tables};
use images::ImageMap;
use launch::dice::Random;
use launch::{ControlError, Firmware, Operation, go_kernel};
use machine::fabric::MuxCore;
use machine::fabric::{Direction, Entry, FabricNode, RoutingTables};
use machine::place::Place;
use machine::target::Mesh;

/// Most payloads have at most this size; one in [`LONG_ONE_IN`] fills a slot.
const SHORT_BYTES: u32 = 512;
const LONG_ONE_IN: u64 = 8;
/// Time to live of packets, in hops, unless another one is wanted.
pub const TTL: u8 = 64;
/// Slots of a mux's channel.
const MUX_SLOTS: u32 = 4;

/// The pattern of senders and receivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrafficPattern {
    /// Any two chips; packets of every type and size.
    #[default]
    Random,
    /// From every chip to the one at half the number of chips further, as fast as possible: packets
    /// without payload. A ring with only one virtual channel deadlocks.
    Far,
}

impl TrafficPattern {
    /// All patterns.
    pub const ALL: [Self; 2] = [Self::Random, Self::Far];

    /// Returns the pattern's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Far => "far",
        }
    }

    /// Returns the pattern of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pattern| pattern.name() == name)
    }
}

/// Parameters of random traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The seed of all random choices.
    pub seed: u64,
    /// Number of packets; more are added so that the last one of each pair increments the counter.
    pub packets: u64,
    /// The pattern of senders and receivers.
    pub pattern: TrafficPattern,
    /// Time to live of every packet, in hops: the receiver of one that expires waits for it.
    pub ttl: u8,
    /// Percentage of workers behind muxes.
    pub mux_percent: u64,
}

/// Random traffic between a worker on each chip of a fabric.
#[derive(Clone, Debug)]
pub struct RandomTraffic {
    pub(super) plan: FabricPlan,
    tables: Vec<RoutingTables>,
    /// By node: the worker's tile, then those of its muxes.
    tiles: Vec<Vec<Place>>,
}

/// The packets of a draw, and the muxes between workers and routers.
#[derive(Clone, Debug)]
pub struct PacketLoad {
    /// Workers and packets.
    pub traffic: Traffic,
    /// The workers, by node.
    pub ids: Vec<WorkerId>,
    /// The muxes.
    pub muxes: Vec<Mux>,
    /// Number of packets.
    pub packets: u64,
    /// Connection numbers, by node and direction.
    connections: Vec<[Option<usize>; 4]>,
    /// Payload bytes that fit into every slot on the route.
    longest: u32,
}

impl PacketLoad {
    fn of(plan: &FabricPlan) -> Self {
        Self {
            traffic: Traffic::new(plan.layout(), plan.topology.is_2d()),
            ids: Vec::new(),
            muxes: Vec::new(),
            packets: 0,
            connections: Vec::new(),
            longest: u32::MAX,
        }
    }
}

impl RandomTraffic {
    /// Chooses a tile for the worker of each chip, and for its muxes.
    ///
    /// # Errors
    /// When a chip has no compute tile.
    pub fn new(mesh: &Mesh, plan: &FabricPlan) -> Result<Self, ControlError> {
        let tiles_of = |node: FabricNode| {
            let tiles = plan.chip(node).into_iter().flat_map(|chip| mesh.compute_tiles(chip));
            let tiles = tiles.take(1 + Direction::ALL.len()).collect::<Vec<_>>();
            let none = || ControlError::Settings(format!("{node} has no compute tile"));
            if tiles.is_empty() { Err(none()) } else { Ok(tiles) }
        };
        let tiles = plan.nodes().map(tiles_of).collect::<Result<_, _>>()?;
        Ok(Self { plan: plan.clone(), tables: routing_tables(plan), tiles })
    }

    /// Returns the tiles that a draw may use: firmware must run on them.
    pub fn tiles(&self, muxes: bool) -> impl Iterator<Item = Place> {
        let most = if muxes { usize::MAX } else { 1 };
        self.tiles.iter().flat_map(move |tiles| tiles.iter().take(most).copied())
    }

    /// Draws the packets.
    ///
    /// # Errors
    /// When there is no room for them, or an image is missing or lacks a member.
    pub fn draw(&self, images: &ImageMap, draw: Draw) -> Result<PacketLoad, ControlError> {
        let mut dice = Random(draw.seed);
        let mut load = self.workers(images, draw.mux_percent, &mut dice)?;
        let nodes = load.ids.len();
        let mut open = vec![vec![false; nodes]; nodes];
        for _ in 0..draw.packets {
            let from = dice.below(nodes as u64) as usize;
            let (ahead, (send, bytes)) = match draw.pattern {
                TrafficPattern::Random => {
                    let mut ahead = 1 + dice.below(nodes as u64 - 1) as usize;
                    while self.is_aside(from, (from + ahead) % nodes) {
                        ahead = 1 + dice.below(nodes as u64 - 1) as usize;
                    }
                    (ahead, content(load.longest, &mut dice))
                }
                TrafficPattern::Far => (nodes / 2, (SendType::Atomic, 0)),
            };
            let to = (from + ahead) % nodes;
            if self.send(&mut load, &mut dice, (from, to), (send, bytes, draw.ttl))? {
                open[from][to] = !send.counts();
            }
        }
        for (from, open) in open.iter().enumerate() {
            for (to, _) in open.iter().enumerate().filter(|(_, open)| **open) {
                let last = (SendType::Atomic, 0, draw.ttl);
                self.send(&mut load, &mut dice, (from, to), last)?;
            }
        }
        Ok(load)
    }

    /// Returns three lists of operations: the launch of the muxes, that of the workers up to the go
    /// messages, and the go messages.
    ///
    /// # Errors
    /// When there is no room, or an image is missing or lacks a member.
    pub fn launch(
        &self,
        images: &mut ImageMap,
        load: &PacketLoad,
        run_id: u32,
    ) -> Result<[Vec<Operation>; 3], ControlError> {
        let muxes = load.muxes.iter().map(|mux| mux.launch(images, run_id));
        let muxes = muxes.collect::<Result<Vec<_>, _>>()?;
        let (mut places, mut gos) = (Vec::new(), Vec::new());
        for (id, tables) in load.ids.iter().zip(&self.tables) {
            let routing = pack_tables(tables, images, &self.plan)?;
            places.push(load.traffic.place_kernel(images, *id, run_id, &routing)?);
            let place = load.traffic.place(*id)?;
            gos.push(go_kernel(images, Firmware::BUILT_IN.tensix[0], place)?);
        }
        Ok([muxes, places, gos])
    }

    /// Returns a worker on each node, without a connection.
    pub(super) fn bare(&self) -> PacketLoad {
        let mut load = PacketLoad::of(&self.plan);
        for (node, tiles) in self.plan.nodes().zip(&self.tiles) {
            let Some(place) = tiles.first() else { continue };
            load.ids.push(load.traffic.add_worker(*place, node));
        }
        load
    }

    fn workers(
        &self,
        images: &ImageMap,
        mux_percent: u64,
        dice: &mut Random,
    ) -> Result<PacketLoad, ControlError> {
        let header_bytes = header_bytes(images, &self.plan)?;
        let mut load = PacketLoad::of(&self.plan);
        for (number, (node, tiles)) in (0..).zip(self.plan.nodes().zip(&self.tiles)) {
            let Some((place, mux_tiles)) = tiles.split_first() else { continue };
            let mut mux_tiles = mux_tiles.iter();
            let muxed = mux_percent > dice.below(100);
            let id = load.traffic.add_worker(*place, node);
            load.ids.push(id);
            let (mut connections, mut connected) = ([None; 4], 0);
            for direction in Direction::ALL {
                let plane = number % self.plan.planes;
                let Some(router) = self.plan.router(node, direction, plane) else { continue };
                let router = connection(images, &self.plan, router)?;
                load.longest = load.longest.min((router.buffer_bytes - header_bytes) & !15);
                let tile = if muxed { mux_tiles.next() } else { None };
                let Some(&place) = tile else {
                    connections[direction.index()] = Some(load.traffic.connect(id, router, None)?);
                    connected += 1;
                    continue;
                };
                let policy = Policy::ALL[dice.below(Policy::ALL.len() as u64) as usize];
                let (core, buffer_count) = (MuxCore::Tensix, MUX_SLOTS);
                let mux =
                    Mux { place, core, policy, channels: 1, buffer_count, header_bytes, router };
                let signal = mux.word(images, "termination_signal")?;
                let ends =
                    Termination { master: id, master_connection: connected, clients: 1, signal };
                connected += 1;
                let channel = mux.connection(images, 0)?;
                connections[direction.index()] =
                    Some(load.traffic.connect(id, channel, Some(ends))?);
                load.muxes.push(mux);
            }
            load.connections.push(connections);
        }
        Ok(load)
    }

    /// Adds a packet; returns false if no route leads to the destination.
    fn send(
        &self,
        load: &mut PacketLoad,
        dice: &mut Random,
        (from, to): (usize, usize),
        (send, bytes, ttl): (SendType, u32, u8),
    ) -> Result<bool, ControlError> {
        let Some(direction) = self.direction(from, to) else { return Ok(false) };
        let by_tables = self.plan.topology.is_2d() && dice.below(4) == 0;
        let Some(route) = self.routing(from, to, by_tables) else { return Ok(false) };
        let Some(connection) = load.connections[from][direction.index()] else { return Ok(false) };
        let (control, arrives) = (false, true);
        let shipment = PacketSpec { connection, send, bytes, ttl, route, control, arrives };
        load.traffic.send(load.ids[from], &[load.ids[to]], shipment)?;
        load.packets += 1;
        Ok(true)
    }

    /// Whether a node is on no line or ring of another one of its mesh.
    fn is_aside(&self, from: usize, to: usize) -> bool {
        let nodes = self.tables.get(from).zip(self.tables.get(to));
        nodes.is_some_and(|(from, to)| {
            let entry = from.intra_mesh.get(usize::from(to.node.device));
            from.node.mesh == to.node.mesh && entry == Some(&Entry::Absent)
        })
    }

    /// Returns the direction in which packets leave one node for another; none if no route leads
    /// there.
    pub(super) fn direction(&self, from: usize, to: usize) -> Option<Direction> {
        let tables = self.tables.get(from)?;
        let target = self.tables.get(to)?.node;
        let entry = if target.mesh == tables.node.mesh {
            tables.intra_mesh.get(usize::from(target.device))
        } else {
            tables.inter_mesh.get(usize::from(target.mesh))
        };
        match entry {
            Some(Entry::To(direction)) => Some(*direction),
            _ => None,
        }
    }

    /// Returns the routing of a packet from one node to another, in its header if it can be there.
    pub(super) fn routing(&self, from: usize, to: usize, by_tables: bool) -> Option<Route> {
        let (from, to) = (self.tables.get(from)?.node, self.tables.get(to)?.node);
        if by_tables || (!self.plan.topology.is_2d() && from.mesh != to.mesh) {
            return Some(Route::Tables);
        }
        if self.plan.topology.is_2d() {
            return Some(Route::Map);
        }
        let hops = self.plan.hops(from, to.device) as u8;
        Some(Route::Hops(hops, hops))
    }
}

/// Draws the action and the payload size of a packet.
fn content(longest: u32, dice: &mut Random) -> (SendType, u32) {
    let long = dice.below(LONG_ONE_IN) == 0;
    let short = 16 * (1 + dice.below(u64::from(SHORT_BYTES) / 16) as u32);
    let bytes = if long { longest } else { short.min(longest) };
    match dice.below(7) {
        0..3 => (SendType::Fused, bytes),
        3 => (SendType::Write, bytes),
        4 => (SendType::Scatter(2 + dice.below(3) as u32), bytes.max(64)),
        5 => (SendType::Inline, 0),
        _ => (SendType::Atomic, 0),
    }
}
