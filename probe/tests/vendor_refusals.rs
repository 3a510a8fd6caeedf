//! The vendor's simulator answers every access that the access layer allows, and its process
//! survives.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use access::bar_target::BarTarget;
use common::{addr, host, library};
use layouts::{ChipKind, Range, Space, TileKind};
use machine::patience::Deadlines;
use machine::snapshot::{AccessError, Plan, Span};
use machine::target::Target;
use transport::ttsim;

/// Returns every word of a range of registers, or the ends of a range of memory.
fn words(range: &Range) -> Vec<u64> {
    if range.memory {
        return vec![range.start, range.end() - 4];
    }
    (range.start..range.end()).step_by(4).collect()
}

fn open(build: &str) -> Option<BarTarget> {
    let bar = ttsim::open(&library(build)?, &host()).unwrap();
    let abilities = ttsim::abilities().unwrap();
    Some(BarTarget::open("ttsim", Box::new(bar), abilities, Deadlines::default()).unwrap())
}

#[test]
fn every_word_that_is_allowed_is_answered() {
    use TileKind::{Arc, Dram, Eth, Pcie, Router, Tensix};
    let tiles = [
        (Tensix, (1, 2)),
        (Tensix, (9, 11)),
        (Eth, (9, 0)),
        (Eth, (9, 6)),
        (Dram, (0, 0)),
        (Dram, (5, 8)),
        (Arc, (0, 10)),
        (Pcie, (0, 3)),
        (Router, (0, 2)),
    ];
    let Some(mut target) = open("wh_x2") else { return };
    for (kind, (x, y)) in tiles {
        let ranges = ChipKind::Wormhole
            .layout()
            .ranges
            .of(Space::Tile(kind))
            .iter()
            .filter(|r| r.bytes < 1 << 32);
        for range in ranges {
            let spans = words(range).into_iter().map(|at| Span { addr: addr(0, x, y, at), len: 4 });
            let snapshot = target.read(&Plan { spans: spans.collect() });
            let bad = snapshot.gaps.iter().find(|g| !matches!(g.reason, AccessError::Refused(_)));
            assert!(bad.is_none(), "{kind:?} {}: {bad:?}", range.name);
        }
    }
}
