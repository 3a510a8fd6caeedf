//! Fabrics come up, are found by other clients, and are terminated, or report why not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use crate::common::{self, built, word};
use access::bar_target::BarTarget;
use fabric::status_queue::{read_status, status_queues};
use fabric::{
    Division, Fabric, FabricOutcome, FabricPlan, FabricProgress, FabricRequest, FabricSettings,
    FabricStage, Rebuild, Termination, running_fabric,
};
use images::ImageMap;
use launch::outcome::{Cause, Waypoint};
use layouts::ChipId;
use machine::fabric::{Direction, Entry, FabricTopology};
use machine::target::Target;
use workloads::scene::{Scene, Workload};

const STEP: u64 = 2_000;

fn idle(mesh: &str, faults: &[&str]) -> (BarTarget, ImageMap) {
    let faults = faults.iter().map(|fault| fault.parse().unwrap()).collect();
    built(&Scene { tiles: Some(1), faults, ..common::idle(mesh) })
}

fn plan(target: &BarTarget, topology: FabricTopology) -> FabricPlan {
    FabricPlan::new(target.mesh(), &FabricRequest::new(topology)).unwrap()
}

/// Returns true if base firmware has every core of the plan.
fn all_given_back(target: &mut BarTarget, plan: &FabricPlan) -> bool {
    let flag = crate::common::layout().eth.l1.launch_flag.at;
    plan.routers.iter().all(|router| word(target, router.place.at(flag)) == 0)
}

#[test]
fn a_fabric_comes_up_is_found_and_goes_down() {
    let (mut target, mut images) = idle("n300", &[]);
    for (topology, way) in [
        (FabricTopology::Mesh, Termination::Gracefully),
        (FabricTopology::Line, Termination::Immediately),
        (FabricTopology::Mesh, Termination::Immediately),
    ] {
        let plan = plan(&target, topology);
        assert_eq!(running_fabric(&mut target, &images), Ok(None));
        let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
        let up = fabric.finish(&mut target, &mut images, STEP);
        assert_eq!(up, Ok(FabricOutcome::Up));
        assert_eq!(running_fabric(&mut target, &images), Ok(Some(plan.clone())));
        let mut second = Fabric::new(plan.clone(), FabricSettings::default());
        let refused = second.finish(&mut target, &mut images, STEP).unwrap_err();
        assert!(matches!(refused.cause, Cause::InUse(_)), "{refused:?}");
        let queues = status_queues(&mut target, &images, &plan).unwrap();
        let reports = read_status(&mut target, &images, &queues).unwrap();
        assert_eq!(reports.len(), plan.routers.len());
        for report in reports {
            assert_eq!((report.read_count, report.entries.len()), (0, 0), "{report:?}");
            assert_eq!((report.room, report.lost), (FabricSettings::default().status_entries, 0));
        }
        // Another client terminates it.
        let mut found = Fabric::found(plan.clone(), FabricSettings::default());
        assert_eq!(
            found.poll(&mut target, &mut images),
            Ok(FabricProgress::Finished(FabricOutcome::Up))
        );
        found.terminate(way);
        let down = found.finish(&mut target, &mut images, STEP);
        assert_eq!(down, Ok(FabricOutcome::Down));
        assert!(all_given_back(&mut target, &plan));
    }
}

#[test]
fn every_topology_comes_up_on_a_t3000() {
    let (mut target, mut images) = idle("t3000", &[]);
    for topology in FabricTopology::ALL {
        let plan = plan(&target, topology);
        let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
        let up = fabric.finish(&mut target, &mut images, STEP);
        assert_eq!(up, Ok(FabricOutcome::Up), "{topology}");
        fabric.terminate(Termination::Gracefully);
        let down = fabric.finish(&mut target, &mut images, STEP);
        assert_eq!(down, Ok(FabricOutcome::Down), "{topology}");
        assert!(all_given_back(&mut target, &plan), "{topology}");
    }
}

#[test]
fn bring_up_can_be_cancelled_at_any_stage() {
    let (mut target, mut images) = idle("n300", &[]);
    for wanted in
        [FabricStage::TakeOver, FabricStage::Launch, FabricStage::Handshake, FabricStage::Ready]
    {
        let plan = plan(&target, FabricTopology::Mesh);
        let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
        while let FabricProgress::Running { stage, .. } =
            fabric.poll(&mut target, &mut images).unwrap()
            && stage != wanted
        {
            target.pass(STEP / 4).unwrap();
        }
        fabric.terminate(Termination::Immediately);
        let down = fabric.finish(&mut target, &mut images, STEP);
        assert_eq!(down, Ok(FabricOutcome::Down), "{wanted:?}");
        assert!(all_given_back(&mut target, &plan), "{wanted:?}");
    }
}

#[test]
fn a_router_without_a_peer_is_named_and_taken_down() {
    let (mut target, mut images) = idle("n300", &[]);
    let mut plan = plan(&target, FabricTopology::Mesh);
    let mut tables = fabric::routing_tables(&plan);
    tables.truncate(1);
    plan.routers.retain(|router| router.eth.chip == ChipId(0));
    let settings = FabricSettings { deadline_cycles: 200_000, ..FabricSettings::default() };
    let mut fabric = Fabric::new(plan.clone(), settings).with_tables(tables);
    let error = fabric.finish(&mut target, &mut images, STEP).unwrap_err();
    let why = crate::common::sentence(&error);
    assert!(matches!(error.cause, Cause::TookTooLong(_)), "{why}");
    assert_eq!(error.core, Some(plan.routers[0].place));
    assert!(matches!(error.waypoint, Some(Waypoint::At(..))), "{why}");
    assert!(error.since_cycles.is_some(), "{why}");
    assert!(why.contains("0:e9 (M0D0 EAST plane 0) is STARTED at postcode"), "{why}");
    let waits =
        "it waits for its peer 1:e1, which is NOT_STARTED and has sent nothing over the link";
    assert_eq!(error.waiting_for.as_deref(), Some(waits));
    assert!(why.contains(waits), "{why}");
    assert!(all_given_back(&mut target, &plan), "{why}");
}

/// Brings up the two chips of an n300 as parts of two fabrics. Returns the outcome of each.
fn halves(topologies: [FabricTopology; 2], run_ids: [u32; 2]) -> [String; 2] {
    let (mut target, mut images) = idle("n300", &[]);
    let part = |chip: usize| {
        let mut plan = plan(&target, topologies[chip]);
        let tables = vec![fabric::routing_tables(&plan).remove(chip)];
        plan.routers = vec![plan.routers[chip]];
        let settings = FabricSettings {
            run_id: Some(run_ids[chip]),
            deadline_cycles: 200_000,
            ..FabricSettings::default()
        };
        Fabric::new(plan, settings).with_tables(tables)
    };
    let mut fabrics = [part(0), part(1)];
    let mut outcomes = [None, None];
    while outcomes.iter().any(Option::is_none) {
        for (fabric, outcome) in
            fabrics.iter_mut().zip(&mut outcomes).filter(|(_, outcome)| outcome.is_none())
        {
            match fabric.poll(&mut target, &mut images) {
                Ok(FabricProgress::Finished(FabricOutcome::Up)) => *outcome = Some("up".to_owned()),
                Ok(_) => {}
                Err(error) => *outcome = Some(crate::common::sentence(&error)),
            }
        }
        target.pass(STEP).unwrap();
    }
    outcomes.map(Option::unwrap)
}

#[test]
fn two_ends_that_do_not_fit_are_named() {
    let (mesh, line) = (FabricTopology::Mesh, FabricTopology::Line);
    assert_eq!(halves([mesh, mesh], [7, 7]), ["up", "up"], "as on two hosts");
    assert_eq!(
        halves([mesh, line], [7, 7]),
        [
            "router 0:e9 (M0D0 EAST plane 0) refused: its peer 1:e1 has a different topology or header",
            "router 1:e1 (M0D1 WEST plane 0) refused: its peer 0:e9 has a different topology or header",
        ]
    );
    let [near, far] = halves([mesh, mesh], [7, 8]);
    assert!(near.contains("belongs to another bring-up (0x8, this one is 0x7)"), "{near}");
    assert!(far.contains("belongs to another bring-up (0x7, this one is 0x8)"), "{far}");
}

#[test]
fn a_router_that_does_not_return_is_named_and_the_others_return() {
    let (mut target, mut images) = idle("n300", &[]);
    let plan = plan(&target, FabricTopology::Mesh);
    let settings = FabricSettings { deadline_cycles: 200_000, ..FabricSettings::default() };
    let mut fabric = Fabric::new(plan.clone(), settings);
    fabric.finish(&mut target, &mut images, STEP).unwrap();
    target.disrupt(&"core:0.e9:stuck".parse().unwrap()).unwrap();
    fabric.terminate(Termination::Gracefully);
    let why = fabric
        .finish(&mut target, &mut images, STEP)
        .unwrap_err()
        .sentence(crate::common::layout());
    assert!(why.starts_with("2 routers did not return within 2"), "a peer waits for it: {why}");
    assert!(why.contains("0:e9 (M0D0 EAST plane 0) is READY_FOR_TRAFFIC"), "{why}");
    assert!(why.contains("its core stands still, its heartbeat does not move; 1:e1"), "{why}");
    let stuck = "these routers did not return and keep their cores: 0:e9 (M0D0 EAST plane 0)";
    assert!(why.ends_with(stuck), "{why}");
    let flag = crate::common::layout().eth.l1.launch_flag.at;
    assert_eq!(word(&mut target, plan.routers[1].place.at(flag)), 0, "given back");
}

#[test]
fn a_status_queue_is_read_without_a_trace_and_drained_by_one_word() {
    let (mut target, mut images) = idle("t3000", &[]);
    let chips = [0, 1, 2, 3].map(ChipId).to_vec();
    let request = FabricRequest { chips, ..FabricRequest::new(FabricTopology::Mesh) };
    let plan = FabricPlan::new(target.mesh(), &request).unwrap();
    let settings = FabricSettings { rate_interval_cycles: 20_000, ..FabricSettings::default() };
    let mut fabric = Fabric::new(plan.clone(), settings);
    fabric.finish(&mut target, &mut images, STEP).unwrap();
    target.pass(200_000).unwrap();
    let router = &plan.routers[0];
    let queues = status_queues(&mut target, &images, &plan).unwrap();
    let queue = queues.into_iter().find(|queue| queue.router == router.eth).unwrap();
    let read = |target: &mut dyn Target| read_status(target, &images, &[queue]).unwrap().remove(0);
    let report = read(&mut target);
    assert_eq!(read(&mut target).read_count, 0);
    assert!(report.write_count >= 5, "{report:?}");
    for (number, entry) in (0..).zip(&report.entries) {
        assert_eq!((entry.event.as_str(), entry.number), ("EVENT_RATE", number));
        assert_eq!((entry.mesh_id, entry.device_id), (0, u32::from(router.node.device)));
        assert_eq!(entry.eth_channel, u32::from(router.eth.channel));
        let [packets, bytes, elapsed, _] = entry.detail;
        assert!(packets == 0 && bytes == 0 && elapsed >= 20_000, "{entry:?}");
    }
    report.drain(&images).unwrap().finish(&mut target).unwrap();
    let after = read(&mut target);
    assert_eq!(after.read_count, report.entries.len() as u32);
    assert!(after.entries.iter().all(|entry| entry.number >= after.read_count), "{after:?}");
}

#[test]
fn two_meshes_come_up_together() {
    let (mut target, mut images) = idle("t3000", &[]);
    let division = Division::Parts(2);
    let request = FabricRequest { division, ..FabricRequest::new(FabricTopology::Mesh) };
    let plan = FabricPlan::new(target.mesh(), &request).unwrap();
    let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
    let up = fabric.finish(&mut target, &mut images, STEP);
    assert_eq!(up, Ok(FabricOutcome::Up));
    assert_eq!(running_fabric(&mut target, &images), Ok(Some(plan)));
}

#[test]
fn a_dead_chip_is_taken_out_of_a_fabric() {
    let (mut target, mut images) = idle("t3000", &[]);
    let old = plan(&target, FabricTopology::Torus);
    let mut fabric = Fabric::new(old.clone(), FabricSettings::default());
    assert_eq!(fabric.finish(&mut target, &mut images, STEP), Ok(FabricOutcome::Up));
    let now = target.now().unwrap();
    let dead = "chip:5:dead".parse::<machine::fault::Fault>().unwrap();
    target.disrupt(&dead.counted_from(now)).unwrap();
    let found = running_fabric(&mut target, &images).unwrap().unwrap();
    assert_eq!(found.missing(), [old.node(ChipId(5)).unwrap()]);
    assert_eq!((&found.meshes, found.topology), (&old.meshes, old.topology));
    let refused = found.check_whole().unwrap_err();
    assert!(refused.contains("`meshscope fabric rebuild --without 5`"), "{refused}");
    let out = found.chips_of(&["5".parse().unwrap()]).unwrap();
    let left = found.without(target.mesh(), &out).unwrap();
    let mut rebuild = Rebuild::new(found, left.clone());
    while !matches!(rebuild.poll(&mut target, &mut images), Ok(FabricProgress::Finished(_))) {
        target.pass(STEP).unwrap();
    }
    assert_eq!(running_fabric(&mut target, &images), Ok(Some(left)));
}

#[test]
fn terminating_what_never_came_up_is_named() {
    let (mut target, mut images) = idle("n300", &[]);
    let plan = plan(&target, FabricTopology::Mesh);
    let mut fabric = Fabric::found(plan, FabricSettings::default());
    fabric.terminate(Termination::Gracefully);
    let error = fabric
        .finish(&mut target, &mut images, STEP)
        .unwrap_err()
        .sentence(crate::common::layout());
    for router in ["0:e9 (M0D0 EAST plane 0)", "1:e1 (M0D1 WEST plane 0)"] {
        assert!(error.contains(&format!("router {router} never came up")), "{error}");
    }
}

#[test]
fn a_table_that_names_an_absent_chip_is_refused_before_anything_is_written() {
    let (mut target, mut images) = idle("n300", &[]);
    let plan = plan(&target, FabricTopology::Mesh);
    let mut tables = fabric::routing_tables(&plan);
    tables[1].intra_mesh.push(Entry::To(Direction::West));
    let mut fabric = Fabric::new(plan.clone(), FabricSettings::default()).with_tables(tables);
    let error = fabric.finish(&mut target, &mut images, STEP).unwrap_err();
    assert_eq!(
        crate::common::sentence(&error),
        "the L0 table of M0D1 names device 2, but its mesh has devices 0 to 1"
    );
    assert!(all_given_back(&mut target, &plan));
}

#[test]
fn a_scene_has_a_fabric() {
    let (mut images, _) = ImageMap::firmware();
    let mut scene = Scene { run: Some(Workload::Fabric), ..Scene::new("n300") };
    scene.fabric.topology = FabricTopology::Line;
    let mut target = scene.build(&mut images).unwrap();
    let found = running_fabric(&mut target, &images).unwrap().unwrap();
    assert_eq!(found, plan(&target, FabricTopology::Line));
    scene.fabric.topology = FabricTopology::Ring;
    let error = scene.build(&mut images).err().unwrap().to_string();
    assert!(error.contains("chips 0 and 1 have no link left for a routing plane"), "{error}");
}
