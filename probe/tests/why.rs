//! The bank of hangs: the true cause of each is named.
#![allow(clippy::print_stderr, reason = "tests")]

use probe::why::{judge, judge_staged};
use workloads::study::why::Kind;

/// `BANK_SEEDS` seeds from `BANK_FIRST` of the kinds whose names contain `BANK_KIND`.
#[test]
#[ignore = "the long form"]
fn the_bank() {
    let number = |name: &str, default| std::env::var(name).map_or(default, |n| n.parse().unwrap());
    let name = std::env::var("BANK_KIND").map_or(String::new(), |name| name);
    let first = number("BANK_FIRST", 1);
    let seeds = number("BANK_SEEDS", 1);
    for kind in Kind::ALL.iter().filter(|kind| kind.name().contains(&name)) {
        for seed in first..first + seeds {
            let judged = match judge(*kind, seed) {
                Ok(judged) => judged,
                Err(error) => {
                    eprintln!("NONE {error}");
                    continue;
                }
            };
            let (right, exact) = (judged.is_right(), judged.is_exact());
            eprintln!(
                "{} {} {}",
                if right { "RIGHT" } else { "WRONG" },
                if exact { "EXACT" } else { "OFF" },
                judged.words()
            );
        }
    }
}

/// Kinds that are small and whose cause is named; `the_bank` judges all.
const NAMED: [&str; 18] = [
    "edm-link-down",
    "edm-link-down-before",
    "edm-stuck",
    "worker-stuck",
    "worker-stuck-before-go",
    "core-in-reset",
    "credits-lost",
    "ends-differ",
    "handshake-impossible",
    "worker-paused",
    "ring-stuck",
    "ring-member-missing",
    "fabric-link-down",
    "bring-up-missing",
    "router-paused",
    "queue-full",
    "idle",
    "all-gather",
];

#[test]
fn causes_are_named_first() {
    let mut wrong = Vec::new();
    for kind in NAMED.map(|name| Kind::named(name).unwrap()) {
        let judged = judge_staged(kind, 1, kind.stage_small(1).unwrap()).unwrap();
        if !judged.is_right() || !judged.is_exact() {
            wrong.push(judged.words());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
