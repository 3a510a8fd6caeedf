//! The packet time-out of routers: packets wait at the head of a channel because a receiver further
//! on is stuck, with and without a time-out, until the receiver recovers.
//!
//! The study uses three chips in a row. A worker on the first chip sends to the last chip, whose
//! receiving router is stuck. The packets wait in the router of the second chip that receives them
//! from the first.

mod table;

use access::bar_target::BarTarget;
use fabric::random::RandomTraffic;
use fabric::status_queue::{read_status, status_queues};
use fabric::traffic::{PacketSpec, Route, SendType, Traffic, WorkerId};
use fabric::{Fabric, FabricPlan, FabricSettings, Router, connection, router_counters};
use images::ImageMap;
use launch::{ControlError, Firmware, Operation, boot_tensix};
use layouts::EthId;
use machine::fabric::{Direction, FabricNode};
use machine::fault::Fault;
use machine::target::{Mesh, Target};
pub use table::STUDY;
use workloads::scene::{Scene, SceneError, Workload};

/// Packets to send: more than the slots on the route.
const PACKETS: u32 = 60;
const PAYLOAD_BYTES: u32 = 256;
/// Time to live of a packet, in hops; it takes two.
const TTL: u8 = 8;
/// Interval between two polls of a bring-up, in cycles.
const STEP_CYCLES: u64 = 2_000;
/// Interval between two reads of the router's counters, in cycles.
const POLL_CYCLES: u64 = 2_000;
/// Time after the recovery of the receiver within which all remaining packets arrive, in cycles.
const AFTER_CYCLES: u64 = 200_000;
/// Time for which the receiver is stuck, from the start of the worker, in cycles.
pub const STUCK_CYCLES: u64 = 300_000;
/// Time-outs to try: none, two that expire while the receiver is stuck, and one that does not.
pub const TIME_OUTS_CYCLES: [u32; 4] = [0, 20_000, 100_000, 1_000_000];

/// The outcome of one time-out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeOutRow {
    /// The time-out, in cycles; 0: none.
    pub time_out_cycles: u32,
    /// The router in which packets wait, and the stuck router.
    pub routers: (EthId, EthId),
    /// Packets of the worker.
    pub packets: u32,
    /// Packets handed to the first router while the last one was stuck.
    pub sent_meanwhile: u32,
    /// Packets handed over at the end.
    pub sent: u32,
    /// Packets received by the last router at the end.
    pub received: u32,
    /// Packets dropped by the router in which they waited.
    pub dropped: u32,
    /// Negative acknowledges at the worker.
    pub reported: u32,
    /// Entries `EVENT_TIMED_OUT` of the router's status queue.
    pub entries: u32,
    /// Entries that were lost because the queue was full.
    pub entries_lost: u32,
    /// How long the first dropped packet had waited at the head, by the clock of the router's chip.
    pub first_drop_cycles: Option<u64>,
    /// Time from the entry of the first drop to that of the last, by the clock of the router's
    /// chip.
    pub drops_last_cycles: Option<u64>,
}

impl TimeOutRow {
    /// Returns true if every packet arrived or was dropped, the router reported every drop, and
    /// packets were dropped only if the time-out expired.
    pub fn is_right(&self) -> bool {
        let due = self.time_out_cycles != 0 && u64::from(self.time_out_cycles) < STUCK_CYCLES;
        self.sent == self.packets
            && self.received + self.dropped == self.packets
            && self.reported <= self.dropped
            && self.entries + self.entries_lost == self.dropped
            && due == (self.dropped > 0)
    }
}

/// Tries each time-out on a fresh mesh. `report` is called with each row.
///
/// # Errors
/// When the mesh or the fabric cannot be built or has no three chips in a row.
pub fn study(
    scene: &Scene,
    time_outs_cycles: &[u32],
    report: &mut dyn FnMut(&TimeOutRow),
) -> Result<Vec<TimeOutRow>, SceneError> {
    let mut rows = Vec::new();
    for &time_out_cycles in time_outs_cycles {
        let row = try_time_out(scene, time_out_cycles)?;
        report(&row);
        rows.push(row);
    }
    Ok(rows)
}

/// Three chips in a row.
struct ThreeChips {
    /// The router to which the worker hands its packets.
    first: Router,
    /// The router of the second chip that receives them.
    waiting: Router,
    /// The router of the third chip that should receive them.
    stuck: EthId,
    /// The third chip.
    last: FabricNode,
}

impl ThreeChips {
    /// Returns the first row whose second chip has PCIe, where reads take no time of other chips,
    /// else the first row.
    fn of(mesh: &Mesh, plan: &FabricPlan) -> Option<Self> {
        let all = || plan.nodes().filter_map(|node| Self::from(plan, node));
        let near = |route: &Self| mesh.chip(route.waiting.eth.chip).is_some_and(|chip| chip.pcie);
        all().find(near).or_else(|| all().next())
    }

    fn from(plan: &FabricPlan, node: FabricNode) -> Option<Self> {
        let first = *plan.router(node, Direction::East, 0)?;
        let second = plan.router(first.neighbor, Direction::East, 0)?;
        let waiting = *plan.router_at(first.peer)?;
        let last = second.neighbor;
        (last != first.node).then_some(Self { first, waiting, stuck: second.peer, last })
    }
}

fn try_time_out(scene: &Scene, time_out_cycles: u32) -> Result<TimeOutRow, SceneError> {
    let (mut images, _) = ImageMap::firmware();
    let scene = Scene { run: Some(Workload::Idle), tiles: Some(0), ..scene.clone() };
    let mut target = scene.build(&mut images)?;
    let plan = FabricPlan::new(target.mesh(), &scene.fabric).map_err(SceneError::Fabric)?;
    let route = ThreeChips::of(target.mesh(), &plan)
        .ok_or_else(|| no_route("the fabric has no three chips in a row"))?;
    let settings =
        FabricSettings { packet_timeout_cycles: time_out_cycles, ..FabricSettings::default() };
    let mut fabric = Fabric::new(plan.clone(), settings);
    fabric.finish(&mut target, &mut images, STEP_CYCLES).map_err(SceneError::of_run(&target))?;
    let (traffic, worker) = load(&mut target, &mut images, &plan, &route)?;
    disrupt(&mut target, route.stuck, "stuck")?;
    let routing = tables(&images, &plan, route.first.node)?;
    traffic.launch(&mut images, worker, 1, &routing)?.finish(&mut target)?;
    let moved = await_drop(&mut target, &images, &plan, &route)?;
    let sent_meanwhile = traffic.outcome(&mut target, &images, worker)?.sent;
    disrupt(&mut target, route.stuck, "released")?;
    target.pass(AFTER_CYCLES)?;
    let outcome = traffic.outcome(&mut target, &images, worker)?;
    let dropped = counters(&mut target, &images, &plan, route.waiting.eth)?.dropped;
    let received = counters(&mut target, &images, &plan, route.stuck)?.received;
    let row = TimeOutRow {
        time_out_cycles,
        routers: (route.waiting.eth, route.stuck),
        packets: PACKETS,
        sent_meanwhile,
        sent: outcome.sent,
        received,
        dropped,
        reported: outcome.nacks,
        entries: 0,
        entries_lost: 0,
        first_drop_cycles: None,
        drops_last_cycles: None,
    };
    with_entries(&mut target, &images, &plan, row, moved)
}

fn no_route(why: &str) -> ControlError {
    ControlError::Settings(why.to_owned())
}

/// Returns the worker with its packets to a worker on the last chip.
fn load(
    target: &mut BarTarget,
    images: &mut ImageMap,
    plan: &FabricPlan,
    route: &ThreeChips,
) -> Result<(Traffic, WorkerId), SceneError> {
    let tiles: Vec<_> = RandomTraffic::new(target.mesh(), plan)?.tiles(false).collect();
    let tile = |node| {
        let at = plan.nodes().position(|other| other == node);
        let tile = at.and_then(|at| tiles.get(at)).copied();
        tile.ok_or_else(|| no_route("a chip of the fabric has no compute tile"))
    };
    let places = [tile(route.first.node)?, tile(route.last)?];
    let boots = places.map(|tile| boot_tensix(images, Firmware::BUILT_IN, tile));
    Operation::finish_all(boots.into_iter().collect::<Result<_, _>>()?, target)?;
    let two_dimensions = plan.topology.is_2d();
    let mut traffic = Traffic::new(plan.layout(), two_dimensions);
    let from = traffic.add_worker(places[0], route.first.node);
    let to = traffic.add_worker(places[1], route.last);
    let shipment = PacketSpec {
        connection: traffic.connect(from, connection(images, plan, &route.first)?, None)?,
        send: SendType::Fused,
        bytes: PAYLOAD_BYTES,
        ttl: TTL,
        route: if two_dimensions { Route::Tables } else { Route::Hops(2, 2) },
        control: false,
        arrives: false,
    };
    for _ in 0..PACKETS {
        traffic.send(from, &[to], shipment)?;
    }
    Ok((traffic, from))
}

fn tables(images: &ImageMap, plan: &FabricPlan, node: FabricNode) -> Result<Vec<u8>, ControlError> {
    let tables = fabric::routing_tables(plan);
    let own = tables.iter().find(|tables| tables.node == node);
    let own = own.ok_or_else(|| no_route("a chip of the fabric has no tables"))?;
    fabric::pack_tables(own, images, plan)
}

/// Makes the core of an Ethernet tile stuck, or releases it.
fn disrupt(target: &mut BarTarget, end: EthId, how: &str) -> Result<(), SceneError> {
    let fault: Fault = format!("core:{}.e{}:{how}", end.chip, end.channel).parse()?;
    let now = target.now()?;
    Ok(target.disrupt(&fault.counted_from(now))?)
}

/// A router's counters of its first receiver channel and of its drops by time-out.
#[derive(Clone, Copy, Default)]
struct Counters {
    dropped: u32,
    received: u32,
    /// Low half of its chip's wall clock when a packet last left the channel.
    moved: u32,
}

/// Lets the receiver be stuck for its time. Returns `moved` of the last two reads before the first
/// drop.
fn await_drop(
    target: &mut BarTarget,
    images: &ImageMap,
    plan: &FabricPlan,
    route: &ThreeChips,
) -> Result<[u32; 2], SceneError> {
    let until = target.now()? + STUCK_CYCLES;
    let mut moved = [0; 2];
    loop {
        let now = counters(target, images, plan, route.waiting.eth)?;
        let left = until.saturating_sub(target.now()?);
        if now.dropped > 0 || left == 0 {
            target.pass(left)?;
            return Ok(moved);
        }
        moved = [moved[1], now.moved];
        target.pass(left.min(POLL_CYCLES))?;
    }
}

/// Returns how long a packet had waited at the head when its entry was written. The last read can
/// include words from after the drop, because the words are not read at the same time.
fn time_at_head(entry_cycles: u64, [before, last]: [u32; 2]) -> u64 {
    let since = |moved: u32| (entry_cycles as u32).wrapping_sub(moved);
    let waited = if since(last) > u32::MAX / 2 { since(before) } else { since(last) };
    waited.into()
}

fn counters(
    target: &mut BarTarget,
    images: &ImageMap,
    plan: &FabricPlan,
    router: EthId,
) -> Result<Counters, SceneError> {
    let routers = plan.routers.iter().copied().filter(|other| other.eth == router).collect();
    let only = FabricPlan { routers, ..plan.clone() };
    let members = ["timed_out", "receivers[0].packets_received", "receivers[0].last_progress"];
    let found = router_counters(target, images, &only, &members)?;
    Ok(match found.first().map(Vec::as_slice) {
        Some(&[dropped, received, moved]) => Counters { dropped, received, moved },
        _ => Counters::default(),
    })
}

/// Adds the entries of the router's status queue to the row.
fn with_entries(
    target: &mut BarTarget,
    images: &ImageMap,
    plan: &FabricPlan,
    mut row: TimeOutRow,
    moved: [u32; 2],
) -> Result<TimeOutRow, SceneError> {
    let queues = status_queues(target, images, plan)?;
    for report in read_status(target, images, &queues)? {
        if report.queue.router != row.routers.0 {
            continue;
        }
        let drops = report.entries.iter().filter(|entry| entry.event == "EVENT_TIMED_OUT");
        let at: Vec<u64> = drops.map(|entry| entry.wall_clock_cycles).collect();
        (row.entries, row.entries_lost) = (at.len() as u32, report.lost);
        row.first_drop_cycles = at.first().map(|&first| time_at_head(first, moved));
        row.drops_last_cycles = at.first().zip(at.last()).map(|(first, last)| last - first);
    }
    Ok(row)
}

#[cfg(test)]
mod tests;
