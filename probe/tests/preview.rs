//! The cost that a dry run previews is the cost of the access.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{built, idle};
use crate::sick;

use access::AuditLog;
use access::bar_target::BarTarget;
use layouts::{ChipId, NocAddr, NocXy};
use machine::patience::Deadlines;
use machine::snapshot::{Plan, Span};
use machine::target::{Abilities, AccessRoute, Allow, Preview, Target, TargetBus};
use sick::{Handle, Sick};
use transport::emulator_bar::EmulatorBar;

fn open(allow: Allow) -> (BarTarget, Handle) {
    let mesh = emulator::Mesh::new(emulator::MeshConfig::n300()).unwrap();
    let abilities = Abilities { allow, stepped_time: true, ..Abilities::default() };
    let (bar, handle) = Sick::new(Box::new(EmulatorBar::new(mesh)));
    (BarTarget::open("bare", Box::new(bar), abilities, Deadlines::default()).unwrap(), handle)
}

fn span(chip: u16, x: u8, offset: u64, len: u32) -> Span {
    Span { addr: NocAddr { chip: ChipId(chip), tile: NocXy { x, y: 3 }, offset }, len }
}

fn sum(preview: &Preview) -> u64 {
    preview.accesses.iter().map(|visit| visit.transactions).sum()
}

#[test]
fn a_snapshot_costs_what_was_promised_and_the_promise_nothing() {
    let (mut target, handle) = open(Allow::default());
    let wanted = [
        span(0, 1, 0x100, 4),
        span(0, 1, 0x120, 6),
        span(0, 2, 0xF_FFF0, 0x40),
        span(0, 3, 0xFFB1_21F0, 8),
        span(0, 3, 0x16_E000, 4),
        span(0, 4, 0, 0x2_0000),
    ];
    let plan = Plan { spans: wanted.to_vec() };
    for _ in 0..2 {
        let before = handle.state().transactions;
        let promised = target.preview(std::slice::from_ref(&plan));
        assert_eq!(handle.state().transactions, before);
        assert_eq!(promised.gaps.len(), 1);
        let visits = promised.accesses.len();
        let snapshot = target.read(&plan);
        assert_eq!((sum(&promised), visits), (snapshot.transactions, snapshot.pieces.len()));
        assert_eq!(handle.state().transactions - before, snapshot.transactions);
    }
}

#[test]
fn a_write_costs_what_was_promised() {
    let log = std::env::temp_dir().join(format!("meshscope-preview-{}", std::process::id()));
    let (mut target, _) = open(Allow::ALL);
    target.keep_audit(AuditLog::at(&log, "bare"));
    for (offset, len) in [(0x100, 4), (0x201, 2), (0x300, 0x80), (0xFFB1_21B0, 4), (0xFFB4_0088, 4)]
    {
        // On a tile that has already answered, and on a tile that has not.
        for x in [1, 1, (offset >> 4 & 7) as u8 + 2] {
            let x = if x == 5 { 4 } else { x };
            let promised = target.preview_write(span(0, x, offset, len));
            assert!(promised.accesses.last().unwrap().write);
            let before = target.transactions();
            target.write(span(0, x, offset, len).addr, &vec![0; len as usize]).unwrap();
            assert_eq!(target.transactions() - before, sum(&promised), "{x} {offset:#x} {len}");
        }
    }
    std::fs::remove_file(log).unwrap();
    let (mut target, _) = open(Allow::default());
    let refused = target.preview_write(span(0, 1, 0x2_0000, 4)).gaps;
    assert_eq!(refused[0].reason.to_string(), "refused: writing l1 there needs --allow write");
}

#[test]
fn what_goes_through_a_queue_costs_at_least_what_was_promised() {
    let (mut target, _) = built(&idle("n300"));
    for wanted in [span(1, 1, 0x2_0000, 4), span(1, 1, 0x2_0010, 0x1000)] {
        let plan = Plan { spans: vec![wanted] };
        let promised = target.preview(std::slice::from_ref(&plan));
        assert_eq!(promised.accesses[0].route, AccessRoute::Queue);
        assert!(sum(&promised) <= target.read(&plan).transactions);
    }
}
