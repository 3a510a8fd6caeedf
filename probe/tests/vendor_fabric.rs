//! Fabrics come up and are terminated on the vendor's simulator, if `MESHSCOPE_TTSIM_DIR` names its
//! libraries, as on the emulator.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use access::bar_target::BarTarget;
use decode::inspect::{ReadSet, fabric_read_set, fabric_routes, inspect, plan, plan_proofs};
use decode::state::{RouteEnd, Verdict};
use fabric::random::{Draw, RandomTraffic, TrafficPattern};
use fabric::traffic_outcome::TrafficOutcome;
use fabric::{
    Division, Fabric, FabricOutcome, FabricPlan, FabricRequest, FabricSettings, Termination,
    router_counters, running_fabric,
};
use images::ImageMap;
use launch::{Firmware, Operation, boot_tensix};
use layouts::ChipId;
use machine::fabric::FabricTopology;
use machine::target::Target;

/// Inspects the fabric as `meshscope fabric` does, without knowing what was launched. Returns the
/// status of all routers, after checking their credits and the routes between them.
fn inspected_status(target: &mut BarTarget, routers: usize) -> String {
    let (mut images, _) = ImageMap::firmware();
    let read_set = ReadSet { links: true, proofs: true, ..ReadSet::default() };
    let read_set = ReadSet { fabric: true, fabric_tables: true, ..read_set };
    let mesh = target.mesh().clone();
    // The beginnings of texts say which build ids can be there.
    for _ in 0..2 {
        let snapshot = target.read(&plan_proofs(&mesh, &images, &read_set));
        images.learn(&mesh, &snapshot);
    }
    let snapshot = target.read(&plan(&mesh, &images, &read_set));
    let fabric = inspect(&snapshot, &mesh, &images).fabric;
    assert_eq!(fabric.routers.len(), routers);
    assert!(fabric.waits.all.is_empty(), "{:?}", fabric.waits.all);
    // Both directions of each link are seen, and no credit is lost.
    assert_eq!(fabric.ledgers.len(), routers);
    assert!(fabric.ledgers.iter().all(|ledger| ledger.verdict == Verdict::Empty));
    let read_set = fabric_read_set(&fabric, &read_set);
    let state = inspect(&target.read(&plan(&mesh, &images, &read_set)), &mesh, &images);
    let tables = &state.fabric.tables;
    let far = tables.iter().find(|tables| tables.at.chip == ChipId(1)).unwrap().tables.node;
    for route in fabric_routes(&state, ChipId(0), far) {
        assert_eq!((route.end, route.hops.len()), (RouteEnd::Arrived, 1));
    }
    let status = fabric.routers[0].facts.status.clone();
    assert!(fabric.routers.iter().all(|router| router.facts.status == status));
    status.name().unwrap().to_owned()
}

#[test]
fn routers_meet_and_leave_on_wh_x2() {
    let Some(mut target) = common::open("wh_x2") else { return };
    let (mut images, _) = ImageMap::firmware();
    for (topology, route) in [
        (FabricTopology::Mesh, Termination::Gracefully),
        (FabricTopology::Line, Termination::Immediately),
    ] {
        let plan = FabricPlan::new(target.mesh(), &FabricRequest::new(topology)).unwrap();
        let began = target.now().unwrap();
        let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
        let up = fabric.finish(&mut target, &mut images, 500);
        assert_eq!(up, Ok(FabricOutcome::Up));
        println!("{topology}: up after {} cycles", target.now().unwrap() - began);
        assert_eq!(running_fabric(&mut target, &images), Ok(Some(plan.clone())));
        assert_eq!(inspected_status(&mut target, plan.routers.len()), "READY_FOR_TRAFFIC");
        fabric.terminate(route);
        let down = fabric.finish(&mut target, &mut images, 500);
        assert_eq!(down, Ok(FabricOutcome::Down));
        assert_eq!(inspected_status(&mut target, plan.routers.len()), "TERMINATED");
    }
}

/// The packets that each receiver channel of each router has taken.
fn exchanged(target: &mut BarTarget, images: &mut ImageMap) -> Vec<Vec<u32>> {
    const RECEIVED: [&str; 2] = ["receivers[0].packets_received", "receivers[1].packets_received"];
    let division = Division::Parts(2);
    let request = FabricRequest { division, ..FabricRequest::new(FabricTopology::Mesh) };
    let plan = FabricPlan::new(target.mesh(), &request).unwrap();
    assert!(plan.exits_apart);
    let random = RandomTraffic::new(target.mesh(), &plan).unwrap();
    let boots = random.tiles(false).map(|tile| boot_tensix(images, Firmware::BUILT_IN, tile));
    let boots: Vec<Operation> = boots.collect::<Result<_, _>>().unwrap();
    Operation::finish_all(boots, target).unwrap();
    let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
    assert_eq!(fabric.finish(target, images, 500), Ok(FabricOutcome::Up));
    let pattern = TrafficPattern::Far;
    let draw = Draw { seed: 1, packets: 200, pattern, ttl: 64, mux_percent: 0 };
    let load = random.draw(images, draw).unwrap();
    for stage in random.launch(images, &load, 1).unwrap() {
        Operation::finish_all(stage, target).unwrap();
    }
    loop {
        target.pass(20_000).unwrap();
        let outcomes = load.traffic.outcomes(target, images, &load.ids).unwrap();
        if outcomes.iter().all(TrafficOutcome::is_finished) {
            let wrong = outcomes.iter().map(|it| it.wrong_words + it.doubled + it.missing);
            assert_eq!(wrong.sum::<u32>(), 0);
            return router_counters(target, images, &plan, &RECEIVED).unwrap();
        }
    }
}

/// Opposite flows between two meshes take different links, those that have crossed in virtual
/// channel 1: as many packets over each as on the emulator.
#[test]
fn two_meshes_exchange_packets_on_wh_x8() {
    let (mut emulated, mut images) = common::built(&common::idle("t3000"));
    let counts = exchanged(&mut emulated, &mut images);
    assert!(counts.iter().any(|counts| counts[1] > 0), "{counts:?}");
    let Some(mut target) = common::open("wh_x8") else { return };
    let (mut images, _) = ImageMap::firmware();
    let mut on_vendor = exchanged(&mut target, &mut images);
    let mut on_emulator = counts;
    on_vendor.sort_unstable();
    on_emulator.sort_unstable();
    assert_eq!(on_vendor, on_emulator);
}
