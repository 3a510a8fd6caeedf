//! Every kind of the bank brings its machine into the state that its truth claims.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "tests")]
use super::*;
use diagnosis::Condition;
use images::ImageMap;
use machine::clients::Client;
use machine::target::{Target, TargetBus};
use probe::session::{Session, Watch};
use std::collections::BTreeSet;

/// Time between the two looks, in cycles.
const APART_CYCLES: u64 = 2_000_000;
/// Time over which a verdict looks, in cycles.
const LOOKED_CYCLES: u64 = 30_000_000;
/// The kinds are proved in as many parts: the tests have the first, `.ci/deep verdicts` has all.
const PARTS: usize = 3;
/// Kinds whose cores do what the machine refuses.
const REFUSED: [Kind; 3] = [Kind::TextOverwritten, Kind::NocUnanswered, Kind::RegionsOverlap];

fn proved(kind: Kind) {
    let staged = kind.stage_small(1);
    let mut staged = staged.unwrap_or_else(|error| panic!("{}: {error}", kind.name()));
    let truth = staged.truth.as_ref();
    assert_eq!(truth.map(|truth| truth.severity), kind.severity(), "{}", staged.about);
    assert!(truth.is_none_or(|truth| !truth.root.is_empty()), "{}", staged.about);
    let remarks = staged.target.remarks();
    assert!(remarks.is_empty() || REFUSED.contains(&kind), "{}: {remarks:?}", staged.about);
    let moved = staged.movement(APART_CYCLES).unwrap();
    let about = &staged.about;
    assert!(moved.read > 0, "{about}");
    assert_eq!(moved.changed == 0, kind.is_hang(), "{} {moved:?} {about}", kind.name());
}

fn all_are_proved(kinds: impl Fn(Kind) -> bool) {
    let part = std::env::var("MESHSCOPE_PART").map_or(0, |part| part.parse().unwrap());
    let all = Kind::ALL.iter().copied().filter(|kind| kinds(*kind));
    all.skip(part).step_by(PARTS).for_each(proved);
}

#[test]
fn hangs_stand_still() {
    all_are_proved(Kind::is_hang);
}

#[test]
fn other_runs_move() {
    all_are_proved(|kind| !kind.is_hang());
}

#[test]
fn names_are_unique_and_hangs_and_healthy_runs_are_many() {
    let names: BTreeSet<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names.len(), Kind::ALL.len());
    assert!(Kind::ALL.iter().all(|kind| Kind::named(kind.name()) == Some(*kind)));
    assert!(Kind::ALL.iter().filter(|kind| kind.is_hang()).count() >= 24);
    assert!(Kind::ALL.iter().filter(|kind| kind.severity().is_none()).count() >= 8);
}

#[test]
fn a_seed_gives_the_same_run() {
    let staged = || {
        let mut staged = Kind::EdmStuck.stage_small(5).unwrap();
        (staged.target.now().unwrap(), staged.about, staged.truth)
    };
    assert_eq!(staged(), staged());
}

/// `MESHSCOPE_TT_FABRIC` is a folder with tt-metal's kernels for a mesh of two chips.
#[test]
fn runs_on_metal_are_what_their_truths_say() {
    let Some(folder) = std::env::var_os("MESHSCOPE_TT_FABRIC").map(std::path::PathBuf::from) else {
        eprintln!("skipped: MESHSCOPE_TT_FABRIC names no folder with tt-metal's kernels");
        return;
    };
    for &kind in MetalKind::ALL {
        for seed in 1..4 {
            let mut staged = kind.stage(seed, &folder).unwrap();
            let moved = staged.movement(APART_CYCLES).unwrap();
            eprintln!("{} {seed} {moved:?} {}", kind.name(), staged.about);
            assert_eq!(moved.changed == 0, kind.severity().is_some());
        }
    }
}

/// The client that may write can be about to send what is missing.
#[test]
fn no_launcher_is_accused_while_it_may_be_at_work() {
    let staged = Kind::LauncherKilled.stage_small(1).unwrap();
    let (images, _) = ImageMap::firmware();
    let mut session = Session::with_target(Box::new(staged.target), images);
    let mut left = |writer: Option<Client>| {
        let mut watch = Watch::new(LOOKED_CYCLES);
        for _ in 0..4 {
            session.look(&mut watch);
            let mut newest = watch.newest().unwrap().clone();
            newest.state.before.writer.clone_from(&writer);
            watch.add(newest);
            session.pass(LOOKED_CYCLES / 3).unwrap();
        }
        let diagnosis = session.judge(&mut watch);
        diagnosis.findings.iter().filter(|it| it.condition == Condition::Leftover).count()
    };
    assert!(left(None) > 0);
    assert_eq!(left(Some(Client::this())), 0);
}
