//! A snapshot in parts has what a whole one has.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;
use decode::inspect::ReadSet;
use layouts::{ChipId, NocXy};
use machine::progress::Progress;
use machine::target::Allow;
use probe::session::{PartLimits, Parts, Session};
use std::collections::BTreeSet;
use std::time::Duration;

#[test]
fn parts_keep_to_their_limit_and_add_up_to_a_snapshot() {
    let mut session =
        Session::open("emulator:n300,run=idle", &common::host(), Allow::default()).unwrap();
    let read_set = ReadSet::everything(session.target().mesh());
    let whole = session.inspect(&read_set);
    let most = PartLimits { transactions: 200, time: Duration::from_hours(1) };
    let first = BTreeSet::from([(ChipId(1), NocXy { x: 9, y: 0 })]);
    let (mut parts, mut read, mut calls) = (Parts::default(), BTreeSet::new(), 0);
    let last = loop {
        let before = session.target().transactions();
        let part = session.inspect_part(&mut parts, &read_set, (None, &first), most);
        // A tile of a chip further away takes several times as many.
        let spent = session.target().transactions() - before;
        assert!(spent < 6 * most.transactions, "part {calls}: {spent}");
        if calls == 0 {
            assert!(first.iter().all(|tile| parts.just_read().contains(tile)), "it comes first");
        }
        assert!(parts.just_read().iter().all(|tile| read.insert(*tile)), "no tile is read twice");
        calls += 1;
        match parts.progress() {
            Some(Progress::Snapshot(count)) => {
                assert!(parts.goes_on(&read_set) && count.done < count.of, "{count:?}");
            }
            progress => {
                assert_eq!(progress, None);
                break part;
            }
        }
    };
    assert!(calls > 2 && !parts.goes_on(&read_set), "{calls} parts");
    let ranges = |snapshot: &machine::snapshot::Snapshot| {
        let of = |piece: &machine::snapshot::Piece| {
            let from = piece.addr.offset;
            (piece.addr.chip, piece.addr.tile, from, from + piece.bytes.len() as u64)
        };
        snapshot.pieces.iter().map(of).collect::<BTreeSet<_>>()
    };
    let missing: Vec<_> =
        ranges(&whole.snapshot).difference(&ranges(&last.snapshot)).copied().collect();
    assert_eq!(missing, []);
    assert_eq!(last.state.gaps, whole.state.gaps);
}
