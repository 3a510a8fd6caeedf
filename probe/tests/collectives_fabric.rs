//! Collectives over the fabric, end to end on emulated meshes: bring-up of the fabric, data
//! transfer between workers, and cleanup.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{built, idle};
use access::bar_target::BarTarget;
use collectives::{
    FabricOptions, Op, Request, Run, RunProgress, RunReport, RunSettings, Stage, Transport,
    compile, compile_over,
};
use diagnosis::{Condition, Place as Root};
use fabric::mux::Policy;
use fabric::{Fabric, FabricPlan, FabricRequest, FabricSettings, running_fabric};
use images::ImageMap;
use launch::outcome::RunError;
use launch::topology::TopologyKind;
use layouts::{ChipId, EthId};
use machine::fabric::FabricTopology;
use machine::fabric::MuxCore;
use machine::target::Target;
use probe::session::{Session, WATCHED_CYCLES};
use workloads::scene::Scene;

/// Time between two polls, in cycles.
const STEP_CYCLES: u64 = 2_000;

struct Bench {
    target: BarTarget,
    images: ImageMap,
}

impl Bench {
    fn new(mesh: &str) -> Self {
        let (target, images) = built(&Scene { tiles: Some(0), ..idle(mesh) });
        Self { target, images }
    }

    fn run(&mut self, request: &Request) -> Result<Option<RunReport>, RunError> {
        let program = compile(self.target.mesh(), request).unwrap();
        let mut run = Run::new(program, RunSettings::default());
        run.finish(&mut self.target, &mut self.images, STEP_CYCLES)
    }

    fn is_right(&mut self, request: &Request) -> RunReport {
        let report = match self.run(request) {
            Ok(Some(report)) => report,
            other => panic!("{request:?}: {other:?}"),
        };
        assert_eq!((report.wrong, &report.wrong_ranges), (Some(0), &vec![]), "{request:?}");
        report
    }
}

fn over_fabric(op: Op, ranks: u64, elements: u64) -> Request {
    let transport = Transport::Fabric(FabricOptions::default());
    Request { transport, ..Request::new(op, 4 * ranks * elements) }
}

#[test]
fn two_chips_of_a_line_gather() {
    let mut bench = Bench::new("n300");
    let request = over_fabric(Op::AllGather, 2, 5000);
    println!("{:?}", bench.is_right(&request));
}

#[test]
fn a_ring_of_eight_chips_gathers() {
    let mut bench = Bench::new("t3000");
    let ring = Some(TopologyKind::Ring);
    let request = Request { topology: ring, ..over_fabric(Op::AllGather, 8, 3001) };
    println!("{:?}", bench.is_right(&request));
}

fn workers(request: Request, workers: u32) -> Request {
    Request { workers, ..request }
}

fn on(core: MuxCore, policy: Policy, request: Request) -> Request {
    let options = FabricOptions { core, policy, ..FabricOptions::default() };
    Request { transport: Transport::Fabric(options), ..request }
}

#[test]
fn workers_that_share_a_router_stand_behind_muxes() {
    let mut bench = Bench::new("n300");
    for (core, policy) in [
        (MuxCore::Tensix, Policy::Unbounded),
        (MuxCore::Ethernet, Policy::NoWait),
        (MuxCore::Tensix, Policy::Bounded256),
    ] {
        for op in [Op::ReduceScatter, Op::AllReduce] {
            let request = on(core, policy, workers(over_fabric(op, 2, 3000), 2));
            let program = compile(bench.target.mesh(), &request).unwrap();
            let crossing = program.crossing.unwrap();
            assert!(
                !crossing.muxes.is_empty()
                    && crossing.muxes.iter().all(|mux| mux.clients.len() >= 2)
            );
            bench.is_right(&request);
        }
    }
    // Every run gives its tiles back.
    assert_eq!(running_fabric(&mut bench.target, &bench.images), Ok(None));
}

#[test]
fn every_collective_goes_over_the_fabric() {
    let mut bench = Bench::new("n300");
    for op in Op::ALL {
        bench.is_right(&over_fabric(op, 2, 1001));
    }
}

/// Their relays are clients of each other's muxes, and each ends one.
#[test]
fn sockets_over_relays_end() {
    let mut bench = Bench::new("t3000");
    for ranks in [4, 8] {
        let chips = (0..ranks).map(ChipId).collect();
        bench.is_right(&Request { chips, ..over_fabric(Op::SendReceive, 1, 1024) });
    }
}

/// The sender reads credits from where a relay puts them, although packets of credits are smaller.
#[test]
fn a_socket_over_relays_needs_no_fifo_for_all_its_packets() {
    let mut bench = Bench::new("t3000");
    let request = over_fabric(Op::SendReceive, 1, 12 * 1024);
    let (chips, buffer_bytes) = (vec![ChipId(0), ChipId(2), ChipId(5)], 2048);
    bench.is_right(&Request { chips, buffer_bytes, buffers_per_channel: 1, ..request });
}

#[test]
fn ranks_of_a_mesh_or_torus_need_not_be_neighbours() {
    let mut bench = Bench::new("t3000");
    for (topology, op, workers) in
        [(FabricTopology::Mesh, Op::AllReduce, 2), (FabricTopology::Torus, Op::ReduceScatter, 1)]
    {
        let options =
            FabricOptions { topology: Some(topology), planes: Some(1), ..FabricOptions::default() };
        let request = Request {
            transport: Transport::Fabric(options),
            chips: [0, 5, 3, 6].map(ChipId).to_vec(),
            workers,
            ..Request::new(op, 4 * 4 * 2000)
        };
        bench.is_right(&request);
    }
}

#[test]
fn a_running_fabric_is_used_and_continues() {
    let mut bench = Bench::new("n300");
    let plan =
        FabricPlan::new(bench.target.mesh(), &FabricRequest::new(FabricTopology::Mesh)).unwrap();
    let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
    fabric.finish(&mut bench.target, &mut bench.images, STEP_CYCLES).unwrap();
    for op in [Op::AllGather, Op::ReduceScatter] {
        let request = workers(over_fabric(op, 2, 2000), 2);
        let running = running_fabric(&mut bench.target, &bench.images).unwrap();
        let program = compile_over(bench.target.mesh(), &request, running.as_ref()).unwrap();
        assert!(program.crossing.as_ref().unwrap().found);
        let mut run = Run::new(program, RunSettings::default());
        let report =
            run.finish(&mut bench.target, &mut bench.images, STEP_CYCLES).unwrap().unwrap();
        assert_eq!(report.wrong, Some(0));
    }
    assert_eq!(running_fabric(&mut bench.target, &bench.images), Ok(Some(plan)));
}

#[test]
fn a_link_that_comes_back_loses_nothing() {
    let mut bench = Bench::new("n300");
    let request = over_fabric(Op::AllGather, 2, 100_000);
    let healthy = bench.is_right(&request).time_cycles;
    let program = compile(bench.target.mesh(), &request).unwrap();
    let faults = vec!["link:0.9:down@70us..170us".parse().unwrap()];
    let mut run = Run::new(program, RunSettings { faults, ..RunSettings::default() });
    let report = run.finish(&mut bench.target, &mut bench.images, STEP_CYCLES).unwrap().unwrap();
    assert_eq!(report.wrong, Some(0));
    assert!(report.time_cycles > healthy + 50_000, "{healthy} {}", report.time_cycles);
}

#[test]
fn a_client_that_dies_is_named() {
    let mut bench = Bench::new("n300");
    let request = workers(over_fabric(Op::ReduceScatter, 2, 50_000), 2);
    let program = compile(bench.target.mesh(), &request).unwrap();
    let dead = program.crossing.as_ref().unwrap().muxes[0].clients[1];
    let fault = format!("core:{}.{}-{}:brisc:stuck@10us", dead.chip, dead.tile.x, dead.tile.y);
    let faults = vec![fault.parse().unwrap()];
    let settings = RunSettings { faults, deadline_cycles: 300_000, ..RunSettings::default() };
    let mut run = Run::new(program, settings);
    let error = run
        .finish(&mut bench.target, &mut bench.images, STEP_CYCLES)
        .unwrap_err()
        .sentence(crate::common::layout());
    println!("{error}");
    assert!(
        error.starts_with("a client of the mux on 0:") && error.contains("does not answer"),
        "{error}"
    );
}

#[test]
fn a_router_that_stands_still_is_named() {
    let bench = Bench::new("n300");
    let program = compile(bench.target.mesh(), &over_fabric(Op::AllGather, 2, 100_000)).unwrap();
    let faults = vec!["core:0.e9:stuck@80us".parse().unwrap()];
    let settings = RunSettings { faults, deadline_cycles: 300_000, ..RunSettings::default() };
    let mut run = Run::new(program, settings);
    let mut session = Session::with_target(Box::new(bench.target), bench.images);
    let mut verdict = None;
    let error = loop {
        let (target, images) = session.parts();
        match run.poll(target, images) {
            Err(error) => break crate::common::sentence(&error),
            Ok(progress) => assert!(matches!(progress, RunProgress::Running { .. })),
        }
        target.pass(STEP_CYCLES).unwrap();
        if run.stands() && verdict.is_none() {
            verdict = Some(session.diagnose(WATCHED_CYCLES).unwrap().diagnosis);
        }
    };
    println!("{error}");
    let first = &verdict.unwrap().findings[0];
    let router = Root::Router(EthId { chip: ChipId(0), channel: 9 });
    assert_eq!((first.condition, first.place), (Condition::CoreStuck, router), "{first:?}");
    assert!(first.sentence.contains("its heartbeat does not move"), "{first:?}");
}

#[test]
fn more_workers_than_a_mux_has_channels_are_refused() {
    let bench = Bench::new("n300");
    let request = workers(over_fabric(Op::ReduceScatter, 2, 100_000), 9);
    let error = compile(bench.target.mesh(), &request).unwrap_err().to_string();
    assert_eq!(
        error,
        "9 workers share the router of 0:e9, but its mux has 8 channels: use fewer workers per link"
    );
}

/// Runs a request over the running fabric, with a fault of the sending worker.
fn over_what_runs(bench: &mut Bench, request: &Request, fault: &str) -> Result<(), String> {
    let running = running_fabric(&mut bench.target, &bench.images).unwrap();
    let program = compile_over(bench.target.mesh(), request, running.as_ref()).unwrap();
    let sends = program.workers.iter().find(|worker| worker.outbound.is_some()).unwrap().place;
    let faults = match fault {
        "" => Vec::new(),
        _ => vec![format!("core:{}.{}-{}:brisc:{fault}", sends.chip, sends.tile.x, sends.tile.y)],
    };
    let faults = faults.iter().map(|fault| fault.parse().unwrap()).collect();
    let settings = RunSettings { faults, deadline_cycles: 300_000, ..RunSettings::default() };
    let mut run = Run::new(program, settings);
    let report = run.finish(&mut bench.target, &mut bench.images, STEP_CYCLES);
    let report = report.map_err(|error| crate::common::sentence(&error))?.unwrap();
    assert_eq!(report.wrong, Some(0));
    Ok(())
}

#[test]
fn a_dead_client_leaves_no_channel_of_a_running_fabric_open() {
    let mut bench = Bench::new("n300");
    let plan = FabricPlan::new(bench.target.mesh(), &FabricRequest::new(FabricTopology::Mesh));
    let plan = plan.unwrap();
    let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
    fabric.finish(&mut bench.target, &mut bench.images, STEP_CYCLES).unwrap();
    // A client of the router itself, then a client of a mux. Both are held in reset, and the next
    // run boots them.
    for (op, number) in [(Op::SendReceive, 1), (Op::ReduceScatter, 2)] {
        let request = workers(over_fabric(op, 2, 150_000), number);
        let error = over_what_runs(&mut bench, &request, "stuck@75us..2ms").unwrap_err();
        println!("{error}");
        assert!(error.contains("does not answer"), "{error}");
        assert!(!error.contains("stays open"), "{error}");
        bench.target.pass(2_000_000).unwrap();
        over_what_runs(&mut bench, &request, "").unwrap();
        over_what_runs(&mut bench, &request, "").unwrap();
    }
    assert_eq!(running_fabric(&mut bench.target, &bench.images), Ok(Some(plan)));
}

#[test]
fn a_run_over_the_fabric_can_be_cancelled() {
    let mut bench = Bench::new("n300");
    let request = workers(over_fabric(Op::ReduceScatter, 2, 100_000), 2);
    let program = compile(bench.target.mesh(), &request).unwrap();
    let mut run = Run::new(program, RunSettings { check: false, ..RunSettings::default() });
    loop {
        match run.poll(&mut bench.target, &mut bench.images).unwrap() {
            RunProgress::Running { stage: Stage::Transfer, done, .. } if done > 0 => break,
            RunProgress::Running { .. } => bench.target.pass(300).unwrap(),
            other @ RunProgress::Finished(_) => panic!("{other:?}"),
        }
    }
    run.cancel();
    let end = run.finish(&mut bench.target, &mut bench.images, STEP_CYCLES);
    assert_eq!(end, Ok(None));
    assert_eq!(running_fabric(&mut bench.target, &bench.images), Ok(None));
    bench.is_right(&over_fabric(Op::AllGather, 2, 100));
}
