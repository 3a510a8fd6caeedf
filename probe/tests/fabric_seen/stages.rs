//! Fabrics that do not come up or do not end, and the chains of waits.

use super::bench::{Bench, inspected};
use super::ending::pause;
use crate::common::{built, idle};
use decode::inspect::ReadSet;
use decode::state::{FabricState, Party, Wait, WaitReason};
use diagnosis::WaitGraph;
use fabric::mux::Policy;
use fabric::{
    Division, Fabric, FabricPlan, FabricProgress, FabricRequest, FabricSettings, FabricStage,
    Router, Termination,
};
use images::ImageMap;
use layouts::ChipId;
use machine::fabric::FabricTopology;
use machine::fault::Fault;
use machine::target::{Allow, Target};
use probe::session::Session;
use transport::ttsim::HostCommand;
use workloads::scene::Scene;

const LINE: &str = "fabric_router_line";

/// Brings up a fabric until it waits for its routers' handshakes, and lets time pass.
fn begin(target: &mut dyn Target, images: &mut ImageMap, fabric: &mut Fabric) {
    while let FabricProgress::Running { stage, .. } = fabric.poll(target, images).unwrap()
        && stage != FabricStage::Handshake
    {
        target.pass(2_000).unwrap();
    }
    target.pass(300_000).unwrap();
}

fn graph(fabric: &FabricState) -> WaitGraph {
    WaitGraph::from(&fabric.waits)
}

fn wait(fabric: &FabricState, who: Party) -> &Wait {
    let waits: Vec<_> = fabric.waits.of(who).collect();
    let [wait] = waits[..] else { panic!("{who}: {waits:?}") };
    wait
}

fn constant(session: &mut Session, name: &str) -> u64 {
    let symbols = &session.images().named(LINE).unwrap().symbols;
    symbols.constant(name).and_then(|value| value.as_u64()).unwrap()
}

fn write(session: &mut Session, router: &Router, word: &str, value: u32) {
    let at = router.place.at(constant(session, word));
    session.target().write(at, &value.to_le_bytes()).unwrap();
    session.target().pass(100_000).unwrap();
}

/// Without packets nothing waits for a router, but a dead router shows.
#[test]
fn a_router_that_stands_still_is_found_before_anything_waits_for_it() {
    let words = "emulator:n300,run=fabric,seed=3";
    let mut session = Session::open(words, &HostCommand::default(), Allow::ALL).unwrap();
    let mut after = |cycles: u64, fault: Option<&str>| {
        if let Some(fault) = fault {
            let now = session.target().now().unwrap();
            let fault: Fault = fault.parse().unwrap();
            session.target().disrupt(&fault.counted_from(now)).unwrap();
        }
        session.target().pass(cycles).unwrap();
        let read_set = ReadSet { links: true, fabric: true, proofs: true, ..ReadSet::default() };
        session.inspect(&read_set).state.fabric
    };
    let (first, second) = (after(0, None), after(30_000, None));
    let healthy = graph(&second).lasting(&graph(&first));
    assert_eq!((healthy.turns.len(), healthy.still.len()), (second.routers.len(), 0));
    let dead = second.routers[1].at;
    let (words, router) =
        (format!("core:{}.e{}:stuck", dead.chip, dead.channel), Party::Router(dead));
    let (third, fourth) = (after(1_000, Some(&words)), after(30_000, None));
    let waits = graph(&fourth).lasting(&graph(&third));
    assert!(waits.all.is_empty(), "{:?}", waits.all);
    assert_eq!((waits.roots(), waits.tree().len()), (vec![router], 1));
    let note = &waits.notes[&router];
    assert!(note.starts_with("its loop has not turned for "), "{note}");
    // Two snapshots close together show nothing.
    assert!(graph(&fourth).lasting(&graph(&fourth)).still.is_empty());
}

/// Three chips in a line; the last chip has no router.
#[test]
fn bring_up_waits_for_the_missing_router() {
    let (mut target, mut images) = built(&Scene { seed: 3, ..idle("t3000") });
    let request = FabricRequest { planes: Some(1), ..FabricRequest::new(FabricTopology::Line) };
    let whole = FabricPlan::new(target.mesh(), &request).unwrap();
    let chip = |device: usize| {
        let router = whole.routers.iter().find(|r| usize::from(r.node.device) == device).unwrap();
        router.eth.chip
    };
    let division = Division::Chips(vec![vec![chip(0), chip(1), chip(2)]]);
    let mut plan = FabricPlan::new(target.mesh(), &FabricRequest { division, ..request }).unwrap();
    assert_eq!(plan.routers.len(), 4);
    let routers_of =
        |chip: ChipId| plan.routers.iter().filter(move |r| r.eth.chip == chip).copied();
    let (first, missing) =
        (routers_of(chip(0)).next().unwrap(), routers_of(chip(2)).next().unwrap());
    let late = *plan.routers.iter().find(|r| r.eth == missing.peer).unwrap();
    let met = routers_of(chip(1)).find(|r| r.eth != late.eth).unwrap();

    let settings = FabricSettings { deadline_cycles: u64::MAX, ..FabricSettings::default() };
    let mut tables = fabric::routing_tables(&plan);
    let all = plan.clone();
    tables.retain(|tables| tables.node != missing.node);
    plan.routers.retain(|router| router.eth != missing.eth);
    let mut fabric = Fabric::new(plan, settings.clone()).with_tables(tables);
    begin(&mut target, &mut images, &mut fabric);
    let mut session = Session::with_target(Box::new(target), ImageMap::firmware().0);
    let (found, _) = inspected(&mut session);
    let root = Party::Router(missing.eth);
    assert_eq!(graph(&found).roots(), [root], "{:?}", found.waits.all);
    assert_eq!(
        found.waits.notes[&root],
        "no router was found there: its core runs base firmware only"
    );
    let wait_of = |who| (wait(&found, who).on, wait(&found, who).reason);
    let router = |router: Router| Party::Router(router.eth);
    assert_eq!(wait_of(router(late)), (root, WaitReason::Handshake));
    // One of the two routers is the master of its chip.
    assert_eq!(wait_of(router(met)), (router(late), WaitReason::LocalSync));
    assert_eq!(wait_of(router(first)), (Party::Host, WaitReason::Begin));
    assert!(found.waits.on(router(late)).any(|wait| wait.waiter == Party::Host));

    // With one count too many the master waits for ever (tt-metal.md 4.1).
    let (target, images) = session.parts();
    fabric.terminate(Termination::Immediately);
    fabric.finish(target, images, 2_000).unwrap();
    let settings = FabricSettings { pause_at_stage: 3, ..settings };
    let mut fabric = Fabric::new(all.clone(), settings);
    begin(target, images, &mut fabric);
    let (parked, _) = inspected(&mut session);
    assert!(parked.waits.all.is_empty(), "{:?}", parked.waits.all);
    let master = *[late, met].iter().find(|router| router.master).unwrap();
    write(&mut session, &master, "edm_local_sync_ptr_addr", 5);
    for router in &all.routers {
        pause(&mut session, router.place, LINE, u32::MAX);
    }
    session.target().pass(100_000).unwrap();
    let (found, _) = inspected(&mut session);
    let root = router(master);
    assert_eq!(graph(&found).roots(), [root], "{:?}", found.waits.all);
    assert_eq!(
        found.waits.notes[&root],
        "its edm_local_sync is 6 of 1: more routers have reported than its chip has, and it waits \
         forever"
    );
}

/// A mesh, and then a line at the other end, which does not come up and is terminated.
#[test]
fn a_router_that_does_not_fit_says_why() {
    let (mut target, mut images) = built(&idle("n300"));
    let settings =
        FabricSettings { run_id: Some(7), deadline_cycles: u64::MAX, ..FabricSettings::default() };
    let end = |target: &dyn Target, chip: usize, topology| {
        let mut plan = FabricPlan::new(target.mesh(), &FabricRequest::new(topology)).unwrap();
        let tables = vec![fabric::routing_tables(&plan).remove(chip)];
        plan.routers = vec![plan.routers[chip]];
        Fabric::new(plan, settings.clone()).with_tables(tables)
    };
    let mut near = end(&target, 0, FabricTopology::Mesh);
    begin(&mut target, &mut images, &mut near);
    let mut far = end(&target, 1, FabricTopology::Line);
    far.finish(&mut target, &mut images, 2_000).unwrap_err();
    let mut session = Session::with_target(Box::new(target), ImageMap::firmware().0);
    let (found, _) = inspected(&mut session);
    assert_eq!(found.routers.len(), 2);
    for router in &found.routers {
        assert_eq!(router.facts.status.name(), Some("REFUSED"), "{}", router.at);
        assert_eq!(router.refusal_name(), Some("OTHER_PROTOCOL"));
    }
    assert!(found.waits.all.is_empty(), "{:?}", found.waits.all);
}

/// Only one end of a link is terminated.
#[test]
fn an_end_waits_for_the_peer() {
    let bench = Bench::new(Policy::Unbounded, [0]);
    let (near, far) = (bench.router, bench.far);
    let mut session = bench.into_session();
    write(&mut session, &far, "termination_signal_addr", 1);
    let (found, _) = inspected(&mut session);
    let left = Party::Router(near.eth);
    let leaves = wait(&found, Party::Router(far.eth));
    assert_eq!((leaves.on, leaves.reason), (left, WaitReason::Leave));
    assert_eq!(graph(&found).roots(), [left]);
    assert_eq!(found.waits.notes[&left], "it has no termination signal");
}

/// The link is down. A router that ends gracefully waits for its packets; a router that ends at
/// once leaves its clients waiting.
#[test]
fn an_end_waits_for_packets_and_clients_wait_for_a_router_that_has_ended() {
    let mut bench = Bench::new(Policy::Unbounded, [40]);
    let near = bench.router;
    bench.launch_receiver();
    bench.cut();
    bench.launch_mux();
    bench.launch_senders();
    let mut session = bench.into_session();
    write(&mut session, &near, "termination_signal_addr", 1);
    let (found, _) = inspected(&mut session);
    let (router, sender) = (Party::Router(near.eth), Party::Sender(near.eth, 0));
    let drains = wait(&found, router);
    assert_eq!((drains.on, drains.reason), (sender, WaitReason::Drain));
    assert_eq!(graph(&found).roots(), [Party::Link(near.eth)], "{:?}", found.waits.all);

    write(&mut session, &near, "termination_signal_addr", 2);
    let (found, _) = inspected(&mut session);
    assert_eq!(graph(&found).roots(), [router], "{:?}", found.waits.all);
    assert_eq!(found.waits.notes[&router], "it has ended (TERMINATED)");
    let waits = wait(&found, sender);
    assert_eq!((waits.on, waits.reason), (router, WaitReason::Router));
    assert!(found.waits.all.iter().any(|wait| matches!(wait.waiter, Party::Client(..))));
}
