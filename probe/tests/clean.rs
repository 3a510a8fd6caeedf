//! `clean` on emulated meshes whose owner is dead: at any moment of a collective, with a link that
//! is down, with cores that stand still, and with what it must not touch. `.ci/deep cleanings` has
//! more moments.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{permitted, powered};
use collectives::clean::{CleanReport, CleanTile, Done};
use collectives::{
    Clean, CleanSettings, FabricOptions, Op, Request, Run, RunProgress, RunSettings, Transport,
    compile,
};
use images::ImageMap;
use launch::dice::Random;
use layouts::{ChipId, NocXy};
use machine::fault::Fault;
use machine::place::Place;
use machine::target::{Abilities, Allow};
use probe::session::Session;

const STEP_CYCLES: u64 = 2_000;

/// The time for which a message of a run that is to be killed stays in its buffer.
const DELAY_CYCLES: u32 = 3_000_000;
/// After this time the data of such a run on an n300 moves.
const MOVING_CYCLES: u64 = 2_000_000;

fn fabric() -> Transport {
    Transport::Fabric(FabricOptions::default())
}

fn open(mesh: &str, allow: Allow) -> Session {
    let (target, images) = powered(mesh, Abilities { allow, ..permitted() });
    Session::with_target(Box::new(target), images)
}

fn request(transport: Transport) -> Request {
    Request { transport, ..Request::new(Op::AllGather, 64 << 10) }
}

fn run(session: &mut Session, request: &Request) -> Run {
    Run::new(compile(session.target().mesh(), request).unwrap(), RunSettings::default())
}

/// A run that takes long, since each message stays in its buffer for a while.
fn slow(session: &mut Session, transport: Transport) -> Run {
    run(session, &Request { delay_cycles: DELAY_CYCLES, ..request(transport) })
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
    let mut run = run(session, &request(transport));
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
    let whole = slow(&mut session, transport);
    killed_after(&mut session, whole, u64::MAX / 2);
    let whole_cycles = session.target().now().unwrap() - before;
    for _ in 0..count {
        let mut session = open(mesh, Allow::ALL);
        let cycles = random.below(whole_cycles);
        let doomed = slow(&mut session, transport);
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
    moments("n300", Transport::Edm, 1, 3);
}

#[test]
fn a_run_over_a_fabric_killed_at_any_moment_is_torn_down() {
    moments("n300", fabric(), 2, 3);
}

/// The tile of an Ethernet channel.
fn eth(chip: u16, channel: u8) -> Place {
    Place { chip: ChipId(chip), tile: crate::common::layout().eth_channel(channel).unwrap() }
}

fn at(report: &CleanReport, place: Place) -> &CleanTile {
    report.tiles.iter().find(|tile| tile.place == place).expect("something stood there")
}

/// A slow run on the link 0:e9 to 1:e1, killed while its data moves, after a fault.
fn killed_with(session: &mut Session, transport: Transport, fault: &str) {
    let doomed = slow(session, transport);
    killed_after(session, doomed, MOVING_CYCLES);
    let now = session.target().now().unwrap();
    let fault = fault.parse::<Fault>().unwrap().counted_from(now);
    session.target().disrupt(&fault).unwrap();
}

#[test]
fn a_link_that_is_down_for_good_keeps_no_edm() {
    let mut session = open("n300", Allow::ALL);
    killed_with(&mut session, Transport::Edm, "link:0.9:down");
    let report = clean(&mut session, false);
    let left = at(&report, eth(0, 9)).left.as_ref().expect("its credits cannot come back");
    assert!(left.why.contains("told to end gracefully"), "{left:?}");
    assert_eq!(left.next, "`clean --escalate` ends it at once");
    let report = clean(&mut session, true);
    assert!(report.is_clean(), "{report:#?}");
    assert_eq!(at(&report, eth(0, 9)).done[0], Done::EndedAtOnce);
}

#[test]
fn a_compute_core_that_stands_still_is_reset_and_no_other() {
    let mut session = open("n300", Allow::ALL);
    killed_with(&mut session, Transport::Edm, "core:0.2-2:brisc:stuck");
    let stuck = Place { chip: ChipId(0), tile: NocXy { x: 2, y: 2 } };
    let report = clean(&mut session, false);
    let left = at(&report, stuck).left.as_ref().unwrap();
    assert_eq!(left.next, "`clean --escalate` ends it at once, then resets its tile");
    let report = clean(&mut session, true);
    for tile in &report.tiles {
        let reset = tile.done.iter().any(|it| [Done::Rebooted, Done::HeldInReset].contains(it));
        assert_eq!(reset, tile.place == stuck, "{tile:?}");
    }
    assert!(report.is_clean(), "{report:#?}");
}

#[test]
fn an_ethernet_core_that_stands_still_is_named_and_not_reset() {
    let mut session = open("n300", Allow::ALL);
    killed_with(&mut session, Transport::Edm, "core:0.e9:stuck");
    let report = clean(&mut session, true);
    let tile = at(&report, eth(0, 9));
    let left = tile.left.as_ref().unwrap();
    assert!(left.why.contains("stands still"), "{left:?}");
    assert!(left.next.contains("a reset of its board"), "{left:?}");
    assert_eq!(tile.done, []);
    assert!(report.tiles.iter().filter(|it| it.place != eth(0, 9)).all(|it| it.left.is_none()));
    assert!(report.lost.is_empty(), "chip 1 is reached over the other link: {report:#?}");
}
