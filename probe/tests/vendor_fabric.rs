//! Fabrics come up and go down on the vendor's simulator, where `MESHSCOPE_TTSIM_DIR` names its libraries, as on the emulator.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use access::bar_target::BarTarget;
use decode::images::ImageMap;
use decode::inspect::{ReadSet, fabric_read_set, fabric_routes, inspect, plan, plan_proofs};
use decode::state::{RouteEnd, Verdict};
use fabric::{
    Fabric, FabricOutcome, FabricPlan, FabricRequest, FabricSettings, Termination, running_fabric,
};
use layouts::ChipId;
use machine::fabric::FabricTopology;
use machine::target::Target;

/// What `meshscope fabric` sees who was told nothing: the status of all routers, their credits, and the ways between them.
fn seen(target: &mut BarTarget, routers: usize) -> String {
    let (mut images, _) = ImageMap::firmware();
    let asked = ReadSet { links: true, proofs: true, ..ReadSet::default() };
    let asked = ReadSet { fabric: true, fabric_tables: true, ..asked };
    let mesh = target.mesh().clone();
    let snapshot = target.read(&plan_proofs(&mesh, &images, &asked));
    images.learn(&mesh, &snapshot);
    let snapshot = target.read(&plan(&mesh, &images, &asked));
    let fabric = inspect(&snapshot, &mesh, &images).fabric;
    assert_eq!(fabric.routers.len(), routers);
    assert!(fabric.waits.all.is_empty(), "{:?}", fabric.waits.all);
    // Both ways of each link, and no credit is lost.
    assert_eq!(fabric.ledgers.len(), routers);
    assert!(fabric.ledgers.iter().all(|ledger| ledger.verdict == Verdict::Empty));
    let asked = fabric_read_set(&fabric, &asked);
    let state = inspect(&target.read(&plan(&mesh, &images, &asked)), &mesh, &images);
    let tables = &state.fabric.tables;
    let far = tables.iter().find(|tables| tables.at.chip == ChipId(1)).unwrap().tables.node;
    for way in fabric_routes(&state, ChipId(0), far) {
        assert_eq!((way.end, way.hops.len()), (RouteEnd::Arrived, 1));
    }
    let status = fabric.routers[0].facts.status.clone();
    assert!(fabric.routers.iter().all(|router| router.facts.status == status));
    status.name().unwrap().to_owned()
}

#[test]
fn routers_meet_and_leave_on_wh_x2() {
    let Some(mut target) = common::open("wh_x2") else { return };
    let (mut images, _) = ImageMap::firmware();
    for (topology, way) in [
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
        assert_eq!(seen(&mut target, plan.routers.len()), "READY_FOR_TRAFFIC");
        fabric.terminate(way);
        let down = fabric.finish(&mut target, &mut images, 500);
        assert_eq!(down, Ok(FabricOutcome::Down));
        assert_eq!(seen(&mut target, plan.routers.len()), "TERMINATED");
    }
}
