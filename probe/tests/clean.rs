//! `clean` on emulated meshes whose owner is dead: at any moment of a collective, with a link that
//! is down, with cores that stand still, and with what it must not touch.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use access::bar_target::BarTarget;
use collectives::clean::{CleanReport, Done, Found};
use collectives::{
    Clean, CleanSettings, FabricOptions, Op, Request, Run, RunProgress, RunSettings, Transport,
    compile,
};
use decode::images::ImageMap;
use launch::dice::Random;
use launch::topology::TopologyKind;
use launch::{Firmware, KernelLaunch, launch_kernel};
use layouts::{ChipId, NocXy};
use machine::fault::Fault;
use machine::patience::Deadlines;
use machine::place::Place;
use machine::target::{Abilities, Allow, Target};
use probe::session::Session;
use transport::emulator_bar::EmulatorBar;
use workloads::scene::Scene;

const STEP_CYCLES: u64 = 2_000;

fn fabric() -> Transport {
    Transport::Fabric(FabricOptions::default())
}

fn open(mesh: &str, allow: Allow) -> Session {
    let (images, problems) = ImageMap::firmware();
    assert_eq!(problems, Vec::<String>::new());
    let bar = Box::new(EmulatorBar::new(Scene::new(mesh).power_on(&images).unwrap()));
    let abilities = Abilities { allow, stepped_time: true, faults: true, ..Abilities::default() };
    let target = BarTarget::open(mesh, bar, abilities, Deadlines::default()).unwrap();
    Session::with_target(Box::new(target), images)
}

fn request(transport: Transport) -> Request {
    Request { transport, ..Request::new(Op::AllGather, 64 << 10) }
}

fn run(session: &mut Session, transport: Transport, settings: RunSettings) -> Run {
    Run::new(compile(session.target().mesh(), &request(transport)).unwrap(), settings)
}

/// Runs for a time, then forgets everything about the run, as a killed process does.
fn killed_after(session: &mut Session, mut run: Run, cycles: u64) {
    let (target, images) = session.parts();
    let end = target.now().unwrap() + cycles;
    while target.now().unwrap() < end {
        if let Ok(RunProgress::Finished(_)) | Err(_) = run.poll(target, images) {
            break;
        }
        target.pass(STEP_CYCLES).unwrap();
    }
    *session.images() = ImageMap::firmware().0;
}

fn clean(session: &mut Session, escalate: bool) -> CleanReport {
    session.verify_all();
    let (target, images) = session.parts();
    Clean::new(CleanSettings { escalate }).finish(target, images, STEP_CYCLES).unwrap()
}

fn all_right(session: &mut Session, transport: Transport) {
    let mut run = run(session, transport, RunSettings { check: true, ..RunSettings::default() });
    let (target, images) = session.parts();
    let report = run.finish(target, images, STEP_CYCLES);
    let wrong = report.map(|report| report.unwrap().wrong);
    assert_eq!(wrong.map_err(|error| crate::common::sentence(&error)), Ok(Some(0)));
}

/// How a run ends that nobody cleans up.
fn moments(mesh: &str, transport: Transport, seed: u64, count: u64) {
    let mut random = Random(seed);
    let mut session = open(mesh, Allow::ALL);
    let before = session.target().now().unwrap();
    all_right(&mut session, transport);
    let whole_cycles = session.target().now().unwrap() - before;
    for _ in 0..count {
        let mut session = open(mesh, Allow::ALL);
        let cycles = random.below(whole_cycles);
        let doomed = run(&mut session, transport, RunSettings::default());
        killed_after(&mut session, doomed, cycles);
        let mut report = clean(&mut session, false);
        eprintln!("{cycles}: {}", report.sentence());
        if !report.is_clean() {
            for tile in &report.tiles {
                eprintln!("   {tile:?}");
            }
            report = clean(&mut session, true);
            eprintln!("   escalated: {}", report.sentence());
        }
        assert!(report.is_clean(), "after {cycles}: {report:#?}");
        let again = clean(&mut session, false);
        assert_eq!(again.tiles, [], "after {cycles}");
        all_right(&mut session, transport);
    }
}

#[test]
fn a_run_over_edms_killed_at_any_moment_is_torn_down() {
    moments("n300", Transport::Edm, 1, 12);
}

#[test]
fn a_run_over_a_fabric_killed_at_any_moment_is_torn_down() {
    moments("n300", fabric(), 2, 12);
}
