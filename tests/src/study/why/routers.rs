//! Fabrics whose traffic stands still.

use super::Staged;
use super::ground::{ANY, Bed, Ground, Meshes, STEP_CYCLES, erisc, link_root};
use super::ring::without;
use super::{Severity, Truth};
use diagnosis::{Condition, Place as Root};
use fabric::random::{Draw, RandomTraffic, TTL, TrafficPattern};
use fabric::{Fabric, FabricPlan, FabricRequest, FabricSettings, Router};
use launch::{Firmware, Operation, boot_tensix, constant_of};
use machine::fabric::FabricTopology;
use machine::fault::{CoreFault, LinkFault};
use machine::place::Place;
use machine::target::{Link, Target};
use workloads::scene::SceneError;

pub(super) const CLIENT: &str = "fabric_traffic";
/// The routers' clients are booted apart: they are one for each chip of the plan.
pub(super) const TILES: usize = 3;

/// A fabric.
pub(super) struct Routed {
    pub(super) bed: Bed,
    pub(super) plan: FabricPlan,
    pub(super) fabric: Fabric,
}

/// The traffic of a run.
#[derive(Clone, Copy)]
pub(super) struct Load {
    pub(super) pattern: TrafficPattern,
    /// Packets for each chip.
    pub(super) packets: u64,
    /// Longest pause between two packets of a worker, in cycles.
    pub(super) interval_cycles: u64,
}

impl Load {
    /// Traffic that lasts while it is watched.
    pub(super) const LONG: Self =
        Self { pattern: TrafficPattern::Random, packets: 400, interval_cycles: 500_000 };
    /// Traffic that a fault stops.
    pub(super) const MIDDLE: Self =
        Self { pattern: TrafficPattern::Random, packets: 60, interval_cycles: 30_000 };
}

/// Draws a fabric; without spare links a lost link has no fallback.
pub(super) fn draw(bed: &mut Bed, spare: bool) -> Result<FabricPlan, SceneError> {
    // Those that dispatch uses are free where it goes over the fabric.
    let dispatch = bed.dice.below(2) == 0;
    draw_over(bed, spare, dispatch)
}

/// Draws a fabric with or without the links that dispatch uses elsewhere.
pub(super) fn draw_over(
    bed: &mut Bed,
    spare: bool,
    with_dispatch_links: bool,
) -> Result<FabricPlan, SceneError> {
    let chips = bed.target.mesh().chips.len();
    let topologies = match chips {
        0..=2 => &[FabricTopology::Line, FabricTopology::Mesh][..],
        3..=8 => &FabricTopology::ALL[..],
        // Neither their rows nor their columns are closed.
        _ => &[FabricTopology::Mesh][..],
    };
    let topology = bed.one(topologies, "topology")?;
    let planes = (!spare).then_some(1);
    planned(bed, &FabricRequest { planes, with_dispatch_links, ..FabricRequest::new(topology) })
}

pub(super) fn planned(bed: &mut Bed, request: &FabricRequest) -> Result<FabricPlan, SceneError> {
    let plan = FabricPlan::new(bed.target.mesh(), request).map_err(SceneError::Fabric)?;
    bed.say(format!("{} fabric of {} routers", plan.topology, plan.routers.len()));
    Ok(plan)
}

impl Routed {
    /// Prepares a fabric that has not begun to come up.
    pub(super) fn new(mut bed: Bed, plan: FabricPlan) -> Result<Self, SceneError> {
        let settings = FabricSettings {
            unrouted_timeout_cycles: 0,
            deadline_cycles: 1 << 60,
            ..FabricSettings::default()
        };
        for router in &plan.routers {
            bed.counts(router.place, plan.router_image())?;
        }
        let fabric = Fabric::new(plan.clone(), settings);
        Ok(Self { bed, plan, fabric })
    }

    pub(super) fn up(bed: Bed, plan: FabricPlan) -> Result<Self, SceneError> {
        let mut routed = Self::new(bed, plan)?;
        let Self { bed, fabric, .. } = &mut routed;
        fabric
            .finish(&mut bed.target, &mut bed.images, STEP_CYCLES)
            .map_err(SceneError::of_run(&bed.target))?;
        Ok(routed)
    }

    /// Launches the routers of a plan, without those of `missing`, and does nothing more: they meet
    /// their peers and then wait for the host. `before_go` may write to their tiles.
    pub(super) fn launch(
        &mut self,
        missing: Option<Place>,
        before_go: impl FnOnce(&mut Bed) -> Result<(), SceneError>,
    ) -> Result<(), SceneError> {
        let Self { bed, plan, fabric } = self;
        let mut takes = fabric.writes(&mut bed.images)?;
        let gos = takes.split_off(takes.len() - plan.routers.len());
        let places = takes.split_off(takes.len() - plan.routers.len());
        let rest = |all: &[Operation], missing| -> Vec<Operation> {
            all.iter().map(|operation| without(operation, missing)).collect()
        };
        // With or without the application firmware under the router that is missing.
        let taken = missing.filter(|_| bed.dice.below(2) == 0);
        Operation::finish_all(rest(&takes, taken), &mut bed.target)?;
        Operation::finish_all(rest(&places, missing), &mut bed.target)?;
        before_go(bed)?;
        Ok(Operation::finish_all(rest(&gos, missing), &mut bed.target)?)
    }

    /// Makes the masters ready for traffic.
    pub(super) fn make_ready(&mut self) -> Result<(), SceneError> {
        let Self { bed, plan, .. } = self;
        let constant = |name| constant_of(&bed.images, plan.router_image(), name);
        let (word, ready) = (constant("edm_status_ptr_addr")?, constant("READY_FOR_TRAFFIC")?);
        for master in plan.masters() {
            bed.put(master.place, word.into(), ready)?;
        }
        Ok(())
    }

    /// Launches workers that send each other packets.
    pub(super) fn send(&mut self, load: Load) -> Result<(), SceneError> {
        let Self { bed, plan, .. } = self;
        let random = RandomTraffic::new(bed.target.mesh(), plan)?;
        let tiles: Vec<Place> = random.tiles(false).collect();
        let boots =
            tiles.iter().map(|tile| boot_tensix(&mut bed.images, Firmware::BUILT_IN, *tile));
        let boots: Vec<Operation> = boots.collect::<Result<_, _>>()?;
        Operation::finish_all(boots, &mut bed.target)?;
        let packets = load.packets * plan.nodes().count() as u64;
        let draw = Draw {
            seed: bed.dice.next(),
            packets,
            pattern: load.pattern,
            ttl: TTL,
            mux_percent: 0,
        };
        let mut drawn = random.draw(&bed.images, draw)?;
        for &id in &drawn.ids.clone() {
            let interval = bed.between(load.interval_cycles / 2, load.interval_cycles + 1);
            drawn.traffic.behave(id, interval as u32, false)?;
            bed.counts(drawn.traffic.place(id)?, CLIENT)?;
        }
        bed.say(format!("{} packets", drawn.packets));
        for stage in random.launch(&mut bed.images, &drawn, 1)? {
            Operation::finish_all(stage, &mut bed.target)?;
        }
        Ok(())
    }

    /// Brings a fabric up on a random mesh, and lets its traffic move for some time.
    fn begun(ground: Ground, meshes: Meshes, spare: bool) -> Result<Self, SceneError> {
        let mut bed = ground.boot(meshes, TILES)?;
        let plan = draw(&mut bed, spare)?;
        let mut routed = Self::up(bed, plan)?;
        routed.send(Load::MIDDLE)?;
        let cycles = routed.bed.pass(10_000, 200_000)?;
        routed.bed.say(format!("{} us after the launch of its clients", cycles / 1_000));
        Ok(routed)
    }

    /// Draws a router that carries packets: the clients of a chip use those of one plane.
    pub(super) fn router(&mut self) -> Result<Router, SceneError> {
        let planes = self.plan.planes;
        let nodes: Vec<_> = self.plan.nodes().collect();
        let plane = |router: &Router| nodes.iter().position(|node| *node == router.node);
        let used =
            |router: &&Router| plane(router).map(|n| n as u32 % planes) == Some(router.plane);
        let used: Vec<Router> = self.plan.routers.iter().filter(used).copied().collect();
        self.bed.one(&used, "router")
    }
}

/// A router by its tile or its core.
pub(super) fn router_root(router: &Router) -> Vec<Root> {
    vec![Root::Router(router.eth), Root::Core(erisc(router.place))]
}

pub(super) fn link_of(router: &Router) -> Link {
    Link { a: router.eth.min(router.peer), b: router.eth.max(router.peer) }
}

pub(super) fn router_stuck(ground: Ground) -> Result<Staged, SceneError> {
    let mut routed = Routed::begun(ground, ANY, true)?;
    let router = routed.router()?;
    routed.bed.say(format!("router {router} is stuck"));
    routed.bed.core_fault(erisc(router.place), CoreFault::Stuck)?;
    routed.bed.hung(Condition::CoreStuck, router_root(&router))
}

pub(super) fn link_down(ground: Ground) -> Result<Staged, SceneError> {
    let mut routed = Routed::begun(ground, ANY, false)?;
    let router = routed.router()?;
    let link = link_of(&router);
    routed.bed.say(format!("link {}-{} goes down, without a fallback", link.a, link.b));
    routed.bed.link_fault(link.a, LinkFault::Down)?;
    routed.bed.hung(Condition::LinkDown, link_root(link))
}

/// The link is lost, and the packets take another one.
pub(super) fn rerouted(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(&[("t3000", 1)], TILES)?;
    let plan = draw(&mut bed, true)?;
    let mut routed = Routed::up(bed, plan)?;
    routed.send(Load::LONG)?;
    routed.bed.pass(10_000, 200_000)?;
    let spared = |router: &&Router| !routed.plan.fallbacks(router).is_empty();
    let spared: Vec<Router> = routed.plan.routers.iter().filter(spared).copied().collect();
    let router = routed.bed.one(&spared, "router with a fallback")?;
    let link = link_of(&router);
    routed.bed.say(format!("link {}-{} goes down, with a fallback", link.a, link.b));
    routed.bed.link_fault(link.a, LinkFault::Down)?;
    routed.bed.pass(1_000_000, 3_000_000)?;
    let truth =
        Truth { condition: Condition::LinkDown, severity: Severity::Fault, root: link_root(link) };
    Ok(routed.bed.staged(Some(truth)))
}

pub(super) fn without_dateline(ground: Ground) -> Result<Staged, SceneError> {
    let mut bed = ground.boot(&[("t3000", 1)], TILES)?;
    let request = FabricRequest { dateline: false, ..FabricRequest::new(FabricTopology::Ring) };
    let plan = planned(&mut bed, &request)?;
    let packets = bed.between(300, 450);
    let mut routed = Routed::up(bed, plan)?;
    routed.send(Load { pattern: TrafficPattern::Far, packets, interval_cycles: 0 })?;
    routed.bed.say("no dateline");
    let root = routed.plan.routers.iter().flat_map(router_root).collect();
    routed.bed.hung(Condition::CircularWait, root)
}
