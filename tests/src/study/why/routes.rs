//! Fabrics whose packets go the wrong way, and routers that do not fit each other.

use super::Staged;
use super::ground::{ANY, Bed, Ground, Meshes, brisc, erisc};
use super::routers::{CLIENT, Routed, TILES, draw_over, planned, router_root};
use diagnosis::{Condition, Place as Root};
use fabric::traffic::{PacketSpec, Route, SendType, Traffic, WorkerId};
use fabric::{
    FabricPlan, FabricRequest, FabricSettings, Router, connection, pack_tables, router_launch,
    routing_tables,
};
use launch::{ControlError, Firmware, Operation, boot_tensix, constant_of, place_kernel};
use machine::fabric::{Direction, Entry, FabricNode, FabricTopology};
use machine::place::Place;
use machine::target::{Link, Target};
use workloads::scene::SceneError;

const PACKETS: u32 = 60;
/// Time to live of a packet, in hops.
const TTL: u8 = 16;
const TWO_DIMENSIONS: Meshes = &[("t3000", 9), ("galaxy", 1)];

/// Packets of one worker for another.
struct Stream {
    traffic: Traffic,
    from: WorkerId,
    to: WorkerId,
}

impl Stream {
    /// Draws the packets, which leave by `router` and are routed by `route`.
    fn new(
        bed: &mut Bed,
        plan: &FabricPlan,
        router: &Router,
        to: FabricNode,
        route: Route,
    ) -> Result<Self, SceneError> {
        let two_dimensions = plan.topology.is_2d();
        let mut traffic = Traffic::new(plan.layout(), two_dimensions);
        let from = traffic.add_worker(client(bed, plan, router.node)?, router.node);
        let to = traffic.add_worker(client(bed, plan, to)?, to);
        let connection = connection(&bed.images, plan, router)?;
        let shipment = PacketSpec {
            connection: traffic.connect(from, connection, None)?,
            send: SendType::Fused,
            bytes: 16 * bed.between(1, 32) as u32,
            ttl: TTL,
            route,
            control: false,
            arrives: true,
        };
        traffic.behave(from, bed.between(2_000, 20_000) as u32, false)?;
        for _ in 0..PACKETS {
            traffic.send(from, &[to], shipment)?;
        }
        Ok(Self { traffic, from, to })
    }

    /// Launches both workers, the receiver first.
    fn launch(&self, bed: &mut Bed, plan: &FabricPlan) -> Result<(), SceneError> {
        for id in [self.to, self.from] {
            let place = self.traffic.place(id)?;
            let boot = boot_tensix(&mut bed.images, Firmware::BUILT_IN, place)?;
            boot.finish(&mut bed.target)?;
            let node = plan.node(place.chip);
            let tables = routing_tables(plan).into_iter().find(|own| Some(own.node) == node);
            let tables = tables.filter(|_| plan.topology.is_2d());
            let routing =
                tables.map_or(Ok(Vec::new()), |own| pack_tables(&own, &bed.images, plan))?;
            let launch = self.traffic.launch(&mut bed.images, id, 1, &routing)?;
            launch.finish(&mut bed.target)?;
            bed.counts(place, CLIENT)?;
        }
        Ok(())
    }
}

/// Returns the tile of a node's worker: one that every chip has, for packets that miss their chip.
fn client(bed: &Bed, plan: &FabricPlan, node: FabricNode) -> Result<Place, SceneError> {
    let mesh = bed.target.mesh();
    let everywhere = |place: &Place| {
        mesh.chips.iter().all(|chip| chip.is_fused_off(place.tile.y) == Some(false))
    };
    let tile = plan.chip(node).and_then(|chip| mesh.compute_tiles(chip).find(everywhere));
    tile.ok_or_else(|| SceneError::Wrong(format!("{node} has no compute tile")))
}

/// A route of two hops or more: its first router, the node behind it, and its end.
fn far_route(bed: &mut Bed, plan: &FabricPlan) -> Result<(Router, FabricNode), SceneError> {
    let mut routes = Vec::new();
    for tables in routing_tables(plan) {
        for (device, entry) in (0..).zip(&tables.intra_mesh) {
            let Entry::To(direction) = *entry else { continue };
            let to = FabricNode { device, ..tables.node };
            let first = plan.router(tables.node, direction, 0);
            routes.extend(first.filter(|first| first.neighbor != to).map(|first| (*first, to)));
        }
    }
    bed.one(&routes, "route of two hops")
}

/// The tables of the second chip of a route are overwritten: its routers send packets back, or
/// know no way.
pub(super) fn misrouted(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(TWO_DIMENSIONS, TILES)?;
    let request = FabricRequest { planes: Some(1), ..FabricRequest::new(FabricTopology::Mesh) };
    let plan = planned(&mut bed, &request)?;
    let (first, to) = far_route(&mut bed, &plan)?;
    let mut routed = Routed::up(bed, plan)?;
    let Routed { bed, plan, .. } = &mut routed;
    let stream = Stream::new(bed, plan, &first, to, Route::Tables)?;
    stream.launch(bed, plan)?;
    bed.pass(5_000, 60_000)?;
    let back = first.direction.opposite();
    let entry = if bed.dice.below(3) == 0 { Entry::Absent } else { Entry::To(back) };
    let root = overwrite(bed, plan, first.neighbor, to, entry)?;
    bed.say(format!("the tables of {} say {entry:?} for {to}", first.neighbor));
    bed.say(format!("packets from {} to {to}", first.node));
    routed.bed.hung(Condition::PacketMisrouted, root)
}

/// Overwrites an entry of the tables of a node in all its routers, and returns these.
fn overwrite(
    bed: &mut Bed,
    plan: &FabricPlan,
    at: FabricNode,
    to: FabricNode,
    entry: Entry,
) -> Result<Vec<Root>, SceneError> {
    let word = constant_of(&bed.images, plan.router_image(), "routing_info_addr")?;
    let mut root = Vec::new();
    for mut tables in routing_tables(plan).into_iter().filter(|tables| tables.node == at) {
        for old in tables.intra_mesh.iter_mut().skip(to.device.into()).take(1) {
            *old = entry;
        }
        let bytes = pack_tables(&tables, &bed.images, plan)?;
        for router in plan.routers.iter().filter(|router| router.node == at) {
            bed.target.write(router.place.at(word.into()), &bytes)?;
            root.push(Root::Chip(router.eth.chip));
            root.extend(router_root(router));
        }
    }
    Ok(root)
}

/// A worker of a line counts its hops wrongly: its packets pass their destination or end before it.
pub(super) fn wrong_hops(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(&[("n300", 1), ("t3000", 1)], TILES)?;
    let plan = planned(&mut bed, &FabricRequest::new(FabricTopology::Line))?;
    let nodes: Vec<FabricNode> = plan.nodes().collect();
    let from = bed.one(&nodes, "node")?;
    let others: Vec<FabricNode> = nodes.into_iter().filter(|node| *node != from).collect();
    let to = bed.one(&others, "other node")?;
    let east = to.device > from.device;
    let direction = if east { Direction::East } else { Direction::West };
    let right = to.device.abs_diff(from.device) as u8;
    let hops = if right > 1 && bed.dice.below(2) == 0 { right - 1 } else { right + 1 };
    let none = || SceneError::Wrong(format!("{from} has no router to {to}"));
    let first = *plan.router(from, direction, 0).ok_or_else(none)?;
    let mut routed = Routed::up(bed, plan)?;
    let Routed { bed, plan, .. } = &mut routed;
    let stream = Stream::new(bed, plan, &first, to, Route::Hops(hops, hops))?;
    let sender = brisc(stream.traffic.place(stream.from)?);
    stream.launch(bed, plan)?;
    bed.say(format!("packets from {from} to {to} make {hops} hops instead of {right}"));
    routed.bed.hung(Condition::PacketMisrouted, vec![Root::Core(sender)])
}

/// One router was built for another topology than its peer.
pub(super) fn routers_differ(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(ANY, TILES)?;
    // The routers of the link refuse each other and end; others of their chips wait for them.
    let plan = draw_over(&mut bed, true, true)?;
    let mut routed = Routed::new(bed, plan)?;
    let router = routed.router()?;
    let topology = match routed.plan.topology {
        FabricTopology::Line => FabricTopology::Ring,
        FabricTopology::Ring => FabricTopology::Line,
        FabricTopology::Mesh => FabricTopology::Torus,
        FabricTopology::Torus => FabricTopology::Mesh,
    };
    let other = FabricPlan { topology, ..routed.plan.clone() };
    routed.launch(None, |bed| {
        let settings = FabricSettings::default();
        let launch = router_launch(&bed.images, &other, &router, &settings, 1)?;
        let place: Result<Operation, ControlError> = place_kernel(&mut bed.images, &launch);
        Ok(place?.finish(&mut bed.target)?)
    })?;
    routed.bed.say(format!("router {router} is one of a {topology}"));
    let link = Link { a: router.eth.min(router.peer), b: router.eth.max(router.peer) };
    let mut root = vec![Root::link(&link), Root::Router(router.peer)];
    root.extend(router_root(&router));
    root.push(Root::Core(erisc(router.peer_place)));
    routed.bed.hung(Condition::EndsDiffer, root)
}
