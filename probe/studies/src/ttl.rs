//! A loop in the routing tables: packets circle in it until their time to live expires. The router
//! that receives them then drops them, records that in its status queue and notifies their sender.
//!
//! The loop is that of the example in the TT-Fabric specification, from D1 to D16 of a mesh of four
//! rows and columns. In a smaller mesh it circles the first four chips.

mod loops;
mod table;

use access::bar_target::BarTarget;
use fabric::random::RandomTraffic;
use fabric::status_queue::{read_status, status_queues};
use fabric::traffic::{PacketSpec, Route, SendType, Traffic, WorkerId};
use fabric::traffic_outcome::TrafficOutcome;
use fabric::{Fabric, FabricPlan, FabricRequest, FabricSettings, connection, router_counters};
use images::ImageMap;
use launch::ControlError;
use layouts::{ChipId, EthId};
pub use loops::Loop;
use machine::fabric::{Direction, Entry, FabricNode, FabricTopology};
use machine::target::Target;
pub use table::STUDY;
use workloads::scene::{Scene, SceneError, Workload};

/// Most hops that a header can count.
pub const MOST_TTL: u8 = 32;
/// Interval between two polls of a bring-up, in cycles.
const STEP_CYCLES: u64 = 2_000;
/// Interval between two polls of the sender, in cycles.
const POLL_CYCLES: u64 = 20_000;
/// Time within which the sender receives all negative acknowledges, in cycles; later ones count as
/// lost.
const PATIENCE_CYCLES: u64 = 1_000_000;
const PAYLOAD_BYTES: u32 = 256;
/// Pause of the sender between two packets, in cycles.
const REST_CYCLES: u32 = 10_000;

/// The router at which a packet ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteEnd {
    /// Its device, from 0.
    pub device: u16,
    /// The direction of the router's link, from which the packet came.
    pub direction: Direction,
}

/// The outcome of one packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TtlRow {
    /// Its time to live, in hops.
    pub ttl: u8,
    /// The devices on its route by the tables; the last is the one where it ends.
    pub route: Vec<u16>,
    /// Where it should end by the tables.
    pub expected: RouteEnd,
    /// The router whose status queue records its end, the end, and the target's time.
    pub seen: Option<(EthId, RouteEnd, Option<u64>)>,
}

impl TtlRow {
    /// Returns true if it ended where it should by the tables.
    pub fn is_right(&self) -> bool {
        self.seen.is_some_and(|(_, end, _)| end == self.expected)
    }
}

/// The outcome of all packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// The loop.
    pub round: Loop,
    /// The chip of each device.
    pub chips: Vec<ChipId>,
    /// The packets.
    pub rows: Vec<TtlRow>,
    /// Packets that the sender handed over.
    pub sent: u32,
    /// Negative acknowledges that the sender received.
    pub reported: u32,
    /// Routers whose control channel was full and dropped messages, with the number of these. They
    /// can include acknowledges.
    pub control_dropped: Vec<(EthId, u32)>,
}

impl Expiry {
    /// Returns true if every packet ended where it should, and the dropped messages account for all
    /// missing acknowledges.
    pub fn is_right(&self) -> bool {
        let all = self.rows.len() as u32;
        let missing = all.saturating_sub(self.reported);
        self.rows.iter().all(TtlRow::is_right)
            && self.sent == all
            && missing <= self.control_dropped.iter().map(|(_, count)| count).sum()
    }
}

/// Brings up a fabric with the loop in its tables and sends a packet for each time to live from 1
/// to `most`.
///
/// # Errors
/// When the mesh or the fabric cannot be built, or is too small for a loop.
pub fn study(mesh: &str, most: u8) -> Result<Expiry, SceneError> {
    let (mut images, _) = ImageMap::firmware();
    let scene = Scene { run: Some(Workload::Idle), ..Scene::new(mesh) };
    let mut target = scene.build(&mut images)?;
    let plan = plan(&target)?;
    let found = plan.meshes.first().ok_or_else(|| too_small(mesh))?;
    let round = Loop::of(found).ok_or_else(|| too_small(mesh))?;
    let chips = found.chips.clone();
    let routes: Vec<_> = (1..=most).filter_map(|ttl| round.walk(found, ttl)).collect();

    let mut tables = fabric::routing_tables(&plan);
    for &(device, direction) in &round.entries {
        let table = tables.get_mut(usize::from(device));
        let entry = table.and_then(|table| table.intra_mesh.get_mut(usize::from(round.to)));
        if let Some(entry) = entry {
            *entry = Entry::To(direction);
        }
    }
    let (traffic, from) = packets(&target, &images, &plan, &round, most)?;
    let settings = FabricSettings::default();
    let mut fabric = Fabric::new(plan.clone(), settings).with_tables(tables.clone());
    fabric.finish(&mut target, &mut images, STEP_CYCLES).map_err(SceneError::of_run(&target))?;
    let routing =
        tables.get(usize::from(round.from)).map(|own| fabric::pack_tables(own, &images, &plan));
    let routing = routing.ok_or_else(|| too_small(mesh))??;
    traffic.launch(&mut images, from, 1, &routing)?.finish(&mut target)?;
    let outcome = await_report(&mut target, &images, &traffic, from, most.into())?;

    let mut rows: Vec<TtlRow> = (1..=most)
        .zip(routes)
        .map(|(ttl, (route, expected))| TtlRow { ttl, route, expected, seen: None })
        .collect();
    read_status_queues(&mut target, &images, &plan, &mut rows)?;
    let lost = router_counters(&mut target, &images, &plan, &["control_dropped"])?;
    let lost = plan.routers.iter().zip(lost.into_iter().flatten());
    let control_dropped =
        lost.filter(|(_, count)| *count > 0).map(|(router, count)| (router.eth, count)).collect();
    let (sent, report) = (outcome.sent, outcome.nacks);
    Ok(Expiry { round, chips, rows, sent, reported: report, control_dropped })
}

fn too_small(mesh: &str) -> SceneError {
    let why = format!(
        "{mesh} is too small: a loop takes two rows and two columns, and a chip outside the loop as the destination"
    );
    SceneError::Control(ControlError::Settings(why))
}

/// Returns a mesh of all chips, or of the specification's sixteen if there are more, with one
/// routing plane.
fn plan(target: &BarTarget) -> Result<FabricPlan, SceneError> {
    let request = FabricRequest { planes: Some(1), ..FabricRequest::new(FabricTopology::Mesh) };
    let whole = FabricPlan::new(target.mesh(), &request).map_err(SceneError::Fabric)?;
    let Some(mesh) = whole.meshes.first().filter(|mesh| Loop::is_of_specification(mesh)) else {
        return Ok(whole);
    };
    let corner = |chip: &ChipId| {
        let place = mesh.device(*chip).map(|device| mesh.place(device));
        place.is_some_and(|(row, column)| row < loops::SIDE && column < loops::SIDE)
    };
    let chips = mesh.chips.iter().copied().filter(corner).collect();
    FabricPlan::new(target.mesh(), &FabricRequest { chips, ..request }).map_err(SceneError::Fabric)
}

fn packets(
    target: &BarTarget,
    images: &ImageMap,
    plan: &FabricPlan,
    round: &Loop,
    most: u8,
) -> Result<(Traffic, WorkerId), SceneError> {
    let node = |device| FabricNode { mesh: 0, device };
    let tiles: Vec<_> = RandomTraffic::new(target.mesh(), plan)?.tiles(false).collect();
    let none = || ControlError::Settings("the loop has no worker".to_owned());
    let tile = |device: u16| tiles.get(usize::from(device)).copied().ok_or_else(none);
    let mut traffic = Traffic::new(plan.layout(), true);
    let from = traffic.add_worker(tile(round.from)?, node(round.from));
    let to = traffic.add_worker(tile(round.to)?, node(round.to));
    let first =
        round.entries.first().and_then(|(_, route)| plan.router(node(round.from), *route, 0));
    let router = connection(images, plan, first.ok_or_else(none)?)?;
    let shipment = PacketSpec {
        connection: traffic.connect(from, router, None)?,
        send: SendType::Fused,
        bytes: PAYLOAD_BYTES,
        ttl: 0,
        route: Route::Tables,
        control: false,
        arrives: false,
    };
    // Negative acknowledges share the few slots of the control channel, which drops messages when
    // it is full.
    traffic.behave(from, REST_CYCLES, false)?;
    for ttl in 1..=most {
        traffic.send(from, &[to], PacketSpec { ttl, ..shipment })?;
    }
    Ok((traffic, from))
}

fn await_report(
    target: &mut BarTarget,
    images: &ImageMap,
    traffic: &Traffic,
    from: WorkerId,
    packets: u32,
) -> Result<TrafficOutcome, SceneError> {
    let until = target.now()? + PATIENCE_CYCLES;
    loop {
        target.pass(POLL_CYCLES)?;
        let outcome = traffic.outcome(target, images, from)?;
        if outcome.nacks >= packets || target.now()? >= until {
            return Ok(outcome);
        }
    }
}

/// Reads the routers' status queues into the rows.
fn read_status_queues(
    target: &mut BarTarget,
    images: &ImageMap,
    plan: &FabricPlan,
    rows: &mut [TtlRow],
) -> Result<(), SceneError> {
    let queues = status_queues(target, images, plan)?;
    for report in read_status(target, images, &queues)? {
        let eth = report.queue.router;
        let Some(router) = plan.router_at(eth) else { continue };
        for entry in report.entries.iter().filter(|entry| entry.event == "EVENT_EXPIRED") {
            // The sender numbers its packets from 0.
            let [_, _, number, _] = entry.detail;
            let end = RouteEnd { device: entry.device_id as u16, direction: router.direction };
            if let Some(row) = rows.get_mut(number as usize) {
                row.seen = Some((eth, end, entry.cycles));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_mesh_without_a_loop_is_refused() {
        let error = study("n300", 1).unwrap_err().to_string();
        assert!(error.contains("n300 is too small"), "{error}");
    }
}
