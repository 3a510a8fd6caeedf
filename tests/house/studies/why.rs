//! The bank of hangs: the true cause of each is named.

use diagnosis::{Condition, Finding};
use tests::study::why::{Kind, judge, judge_staged};

/// Kinds that are small, one of each origin; `.ci/deep verdicts` judges all.
const NAMED: [&str; 8] = [
    "edm-stuck",
    "core-in-reset",
    "credits-lost",
    "ring-member-missing",
    "fabric-link-down",
    "router-paused",
    "noc-unanswered",
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

/// A kernel that was paused by its control word is not halted, and no healthy run has a halted core.
#[test]
fn only_halted_cores_are_called_halted() {
    let halted = |finding: &Finding| finding.condition == Condition::CoreHalted;
    for name in ["worker-paused", "router-paused", "worker-stuck"] {
        let kind = Kind::named(name).unwrap();
        let judged = judge_staged(kind, 2, kind.stage_small(2).unwrap()).unwrap();
        assert!(!judged.findings.iter().any(halted), "{}", judged.words());
    }
}

/// Seeds whose silent tile is on a chip with PCIe or behind it, where the first read of the tile
/// takes the whole device along, or all requests through the routing queues.
const SILENT_TILES: [u64; 2] = [4_341_037, 4_341_041];

#[test]
fn a_silent_tile_is_named_and_not_its_chip() {
    let kind = Kind::named("noc-unanswered").unwrap();
    for seed in SILENT_TILES {
        let judged = judge(kind, seed).unwrap();
        assert!(judged.is_right() && judged.is_exact(), "{}", judged.words());
        let gone = |finding: &Finding| finding.condition == Condition::ChipGone;
        assert!(!judged.findings.iter().any(gone), "{}", judged.words());
    }
}
