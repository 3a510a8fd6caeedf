//! Every kind of the bank brings its machine into the state that its truth claims.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]
use super::*;
use std::time::Instant;

/// Time between the two looks, in cycles.
const APART_CYCLES: u64 = 2_000_000;

fn proved(kind: Kind, seed: u64) {
    let begun = Instant::now();
    let mut staged =
        kind.stage(seed).unwrap_or_else(|error| panic!("{} {seed}: {error}", kind.name()));
    let built = begun.elapsed();
    let moved = staged.movement(APART_CYCLES).unwrap();
    eprintln!("{} {seed} {built:?} {:?}: {}", kind.name(), moved, staged.about);
    assert_eq!(staged.truth.as_ref().map(|truth| truth.severity), kind.severity());
    assert!(moved.read > 0, "{}", staged.about);
    assert_eq!(moved.changed == 0, kind.is_hang(), "{moved:?} {}", staged.about);
}

#[test]
fn every_kind_is_what_its_truth_says() {
    for &kind in Kind::ALL {
        proved(kind, 1);
    }
}

/// `BANK_SEEDS` seeds from `BANK_FIRST` of the kinds whose names contain `BANK_KIND`.
#[test]
#[ignore = "the long form"]
fn many_seeds_of_every_kind() {
    let number = |name: &str, default| std::env::var(name).map_or(default, |n| n.parse().unwrap());
    let name = std::env::var("BANK_KIND").unwrap_or_default();
    let first = number("BANK_FIRST", 100);
    for kind in Kind::ALL.iter().filter(|kind| kind.name().contains(&name)) {
        for seed in first..first + number("BANK_SEEDS", 20) {
            proved(*kind, seed);
        }
    }
}
