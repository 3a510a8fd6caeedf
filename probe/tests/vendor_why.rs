//! The verdict on the same hangs on the vendor's simulator, if `MESHSCOPE_TTSIM_DIR` names its
//! libraries, and on the emulator.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use crate::common;

use access::bar_target::BarTarget;
use collectives::{Op, Program, Request, Run, RunProgress, RunSettings, Stage, compile};
use common::{open, powered};
use diagnosis::{Condition, Finding, Place as Root};
use images::ImageMap;
use launch::{CONFIG_BASE, TEXT_OFFSET};
use layouts::{CoreId, CoreKind};
use machine::target::Target;
use probe::session::Session;

/// The vendor's simulator is slow: the least time that proves a hang, and some.
const WATCHED_CYCLES: u64 = 1_500_000;
/// `jal x0, 0`: jumps to itself.
const JUMP_TO_ITSELF: u32 = 0x6F;

/// Launches an all-gather, which somebody changes, and lets it come to a stand.
fn verdict(
    mut target: BarTarget,
    change: fn(&mut Program),
    harm: fn(&mut BarTarget, &Program),
) -> (CoreId, Vec<Finding>) {
    let (mut images, _) = ImageMap::firmware();
    let request = Request { delay_cycles: 20_000, ..Request::new(Op::AllGather, 400 * 2_048) };
    let mut program = compile(target.mesh(), &request).unwrap();
    let worker = victim(&program);
    change(&mut program);
    let settings = RunSettings { deadline_cycles: u64::MAX, ..RunSettings::default() };
    let mut run = Run::new(program.clone(), settings);
    loop {
        match run.poll(&mut target, &mut images).unwrap() {
            RunProgress::Running { stage: Stage::Transfer, .. } => break,
            RunProgress::Running { .. } => target.pass(2_000).unwrap(),
            RunProgress::Finished(_) => panic!("it has ended"),
        }
    }
    harm(&mut target, &program);
    target.pass(300_000).unwrap();
    let mut session = Session::with_target(Box::new(target), images);
    let watched = session.diagnose(WATCHED_CYCLES).unwrap();
    (worker, watched.diagnosis.findings)
}

/// The worker whose text or launch is harmed.
fn victim(program: &Program) -> CoreId {
    let place = program.workers[0].place;
    CoreId { chip: place.chip, tile: place.tile, core: CoreKind::Brisc }
}

/// Judges the same hang on both machines, whose worker is the cause.
fn same(condition: Condition, change: fn(&mut Program), harm: fn(&mut BarTarget, &Program)) {
    let Some(vendor) = open("wh_x2") else { return };
    let (ours, _) = powered("n300", vendor.abilities().clone());
    for target in [vendor, ours] {
        let name = target.name().to_owned();
        let (worker, findings) = verdict(target, change, harm);
        let facts: Vec<_> = findings.iter().map(|it| (it.condition, it.place)).collect();
        assert_eq!(facts, [(condition, Root::Core(worker))], "{name}: {findings:#?}");
    }
}

#[test]
fn a_worker_that_was_not_launched() {
    let change = |program: &mut Program| drop(program.workers.remove(0));
    same(Condition::IncrementNeverSent, change, |_, _| {});
}

#[test]
fn a_worker_whose_text_was_overwritten() {
    let harm = |target: &mut BarTarget, program: &Program| {
        let words = JUMP_TO_ITSELF.to_le_bytes().repeat(0x800 / 4);
        let place = program.workers[0].place;
        target.write(place.at(CONFIG_BASE + TEXT_OFFSET), &words).unwrap();
    };
    same(Condition::TextOverwritten, |_| {}, harm);
}
