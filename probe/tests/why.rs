//! The bank of hangs: the true cause of each is named.

use probe::why::judge_staged;
use workloads::study::why::Kind;

/// Kinds that are small and whose cause is named; `study why` judges all.
const NAMED: [&str; 19] = [
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
    "firmware-stopped",
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
