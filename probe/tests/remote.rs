//! Accesses to near and far chips, with the same assertions on the emulator and, if
//! `MESHSCOPE_TTSIM_DIR` names its libraries, on the vendor's simulator.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use access::bar_target::BarTarget;
use common::{addr, powered, read};
use layouts::NocAddr;
use machine::snapshot::{Plan, Span};
use machine::target::{Abilities, Allow, Chip, Quarantine, Target};

fn emulator(scene: &str) -> BarTarget {
    let abilities = Abilities { allow: Allow::ALL, stepped_time: true, ..Abilities::default() };
    powered(scene, abilities).0
}

/// Returns the emulated mesh and, if available, the vendor's build of the same shape.
fn machines(scene: &str, build: &str) -> impl Iterator<Item = BarTarget> {
    std::iter::once(emulator(scene)).chain(common::open(build))
}

fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..len).map(|_| random.u8(..)).collect()
}

/// One near and one far chip.
const BOTH: [u16; 2] = [0, 1];

#[test]
fn sub_word_writes_leave_their_neighbours_at_every_alignment() {
    for mut target in machines("n300", "wh_x2") {
        for chip in BOTH {
            let start = addr(chip, 2, 2, 0x2_0000);
            let mut expected = bytes(1, 64);
            target.write(start, &expected).unwrap();
            for at in 0..4 {
                for len in 1..=9 {
                    let new = bytes((at * 16 + len) as u64, len);
                    let addr = NocAddr { offset: start.offset + 28 + at as u64, ..start };
                    target.write(addr, &new).unwrap();
                    expected[28 + at..28 + at + len].copy_from_slice(&new);
                    let found = read(&mut target, start, 64);
                    assert_eq!(found, expected, "chip {chip}, {len} bytes at {at}");
                    assert_eq!(read(&mut target, addr, len as u32), new);
                }
            }
        }
    }
}

fn write_and_read_back(mut target: BarTarget) {
    // Three tiles of each chip, in its first row that is not fused off.
    let works = |chip: &Chip, row: &u8| chip.is_fused_off(*row) == Some(false);
    let row = |chip: &Chip| (1..6).find(|y| works(chip, y)).expect("a row that works");
    let chips: Vec<(u16, u8)> =
        target.mesh().chips.iter().map(|chip| (chip.id.0, row(chip))).collect();
    let mut plan = Plan::default();
    let mut expected = Vec::new();
    for (chip, y) in chips {
        for x in [1, 2, 9] {
            let seed = u64::from(chip) << 8 | u64::from(x);
            let start = addr(chip, x, y, 0x2_0000 + 4 * u64::from(x));
            let written = bytes(seed, 2500);
            target.write(start, &written).unwrap();
            // Words, small and large blocks, unaligned addresses: more of each than fit into a
            // queue.
            for (at, len) in
                [(0, 4), (64, 4), (333, 3), (400, 20), (512, 2), (700, 1300), (2200, 300)]
            {
                let place = NocAddr { offset: start.offset + at as u64, ..start };
                plan.spans.push(Span { addr: place, len: len as u32 });
                expected.push(written[at..at + len].to_vec());
            }
        }
    }
    let before = target.queue_commands();
    let snapshot = target.read(&plan);
    assert_eq!(snapshot.gaps, []);
    for (span, expected) in plan.spans.iter().zip(expected) {
        assert_eq!(snapshot.bytes(span.addr, span.len).unwrap(), expected, "{span:?}");
    }
    assert!(target.queue_commands() > before);
    assert!(target.quarantined().is_empty());
}

#[test]
fn a_plan_over_both_chips_of_an_n300_brings_what_was_written() {
    machines("n300", "wh_x2").for_each(write_and_read_back);
}

#[test]
fn a_plan_over_all_chips_of_a_t3000_brings_what_was_written() {
    machines("t3000", "wh_x8").for_each(write_and_read_back);
}

#[test]
fn far_words_cost_as_little_as_counted() {
    // A word of each compute tile, as waypoints are read: five words apart, so that none merge.
    // In cycles. The simulator answers a single word after 310 to 360 (wormhole.md 10.6.C).
    let most_cycles = [1_300, 200];
    for (mut target, most_cycles) in machines("n300", "wh_x2").zip(most_cycles) {
        let places = (0..400_u64).map(|at| addr(1, 1 + at as u8 % 4, 2, 0x2_0000 + 400 * at));
        let plan = Plan { spans: places.map(|addr| Span { addr, len: 4 }).collect() };
        target.read(&plan);
        let (before, commands) = (target.now().unwrap(), target.queue_commands());
        let snapshot = target.read(&plan);
        assert_eq!(snapshot.gaps, []);
        assert_eq!(target.queue_commands() - commands, 400);
        let cycles = target.now().unwrap() - before;
        eprintln!(
            "{}: {} cycles, {} transactions a word",
            target.name(),
            cycles / 400,
            snapshot.transactions / 400
        );
        assert!(cycles / 400 < most_cycles, "{cycles} cycles");
        assert!(snapshot.transactions < 400 * 8, "{} transactions", snapshot.transactions);
    }
}
