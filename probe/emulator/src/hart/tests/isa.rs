//! RV32IM at its edge cases, in the plain interpreter and in the fast loop.

use super::rig::asm::{addi, branch, i, jal, jalr, load, lui, r, store};
use super::rig::{Rig, RunMode};
use crate::hart::{Cause, DeviceFault, HartStop};

/// Returns x12 after the instructions ran with `a` in x10 and `b` in x11, in the reference and in
/// the fast loop.
fn result(words: &[u32], a: u32, b: u32) -> u32 {
    let mut values = Vec::new();
    for mode in [RunMode::Reference, RunMode::Whole] {
        let mut rig = Rig::tensix(false);
        rig.program(0x1000, words);
        rig.program(0x1000 + 4 * words.len() as u32, &[jal(0, 0)]);
        rig.start(0, 0x1000);
        rig.group.set_register(0, 10, a);
        rig.group.set_register(0, 11, b);
        rig.run(mode, 100);
        assert_eq!(rig.group.stopped(0), None);
        values.push(rig.group.register(0, 12));
    }
    assert_eq!(values[0], values[1]);
    values[0]
}

const MIN: u32 = 0x8000_0000;

#[test]
fn multiplication_and_division() {
    let m = |funct3, a, b| result(&[r(1, funct3, 12, 10, 11)], a, b);
    assert_eq!(m(0, 0xFFFF_FFFF, 7), 0xFFFF_FFF9);
    assert_eq!(m(1, MIN, MIN), 0x4000_0000);
    assert_eq!(m(1, u32::MAX, u32::MAX), 0);
    assert_eq!(m(2, u32::MAX, u32::MAX), u32::MAX);
    assert_eq!(m(2, 2, u32::MAX), 1);
    assert_eq!(m(3, u32::MAX, u32::MAX), 0xFFFF_FFFE);
    assert_eq!(m(4, -7i32 as u32, 2), -3i32 as u32);
    assert_eq!(m(4, 5, 0), u32::MAX);
    assert_eq!(m(4, MIN, u32::MAX), MIN);
    assert_eq!(m(5, 5, 0), u32::MAX);
    assert_eq!(m(5, MIN, 3), MIN / 3);
    assert_eq!(m(6, -7i32 as u32, 2), -1i32 as u32);
    assert_eq!(m(6, 5, 0), 5);
    assert_eq!(m(6, MIN, u32::MAX), 0);
    assert_eq!(m(7, 5, 0), 5);
    assert_eq!(m(7, u32::MAX, 10), 5);
}

#[test]
fn shifts_and_comparisons() {
    let op = |funct7, funct3, a, b| result(&[r(funct7, funct3, 12, 10, 11)], a, b);
    assert_eq!(op(0, 1, 1, 33), 2);
    assert_eq!(op(0, 5, MIN, 63), 1);
    assert_eq!(op(0x20, 5, MIN, 31), u32::MAX);
    assert_eq!(op(0, 2, MIN, 1), 1);
    assert_eq!(op(0, 3, MIN, 1), 0);
    assert_eq!(op(0x20, 0, 0, 1), u32::MAX);
    assert_eq!(result(&[i(0x13, 5, 12, 10, 0x41F)], MIN, 0), u32::MAX);
    assert_eq!(result(&[i(0x13, 3, 12, 10, -1)], 5, 0), 1);
    assert_eq!(result(&[i(0x13, 2, 12, 10, -1)], 5, 0), 0);
    assert_eq!(result(&[lui(12, 0xFFFF_F000), addi(12, 12, -1)], 0, 0), 0xFFFF_EFFF);
    assert_eq!(result(&[0x0000_1617], 0, 0), 0x2000, "auipc x12, 1");
}

#[test]
fn x0_stays_zero() {
    assert_eq!(
        result(&[addi(0, 10, 5), jal(0, 4), load(2, 0, 10, 0), r(0, 0, 12, 0, 0)], 0x100, 0),
        0
    );
}

#[test]
fn loads_extend_and_stores_are_narrow() {
    for base in [0x8000, 0xFFB0_0100] {
        let widened =
            |funct3| result(&[store(2, 11, 10, 0), load(funct3, 12, 10, 0)], base, 0x8182_8384);
        assert_eq!(widened(0), 0xFFFF_FF84);
        assert_eq!(widened(1), 0xFFFF_8384);
        assert_eq!(widened(4), 0x84);
        assert_eq!(widened(5), 0x8384);
        let narrow = |funct3| {
            result(
                &[store(2, 10, 10, 0), store(funct3, 11, 10, 2), load(2, 12, 10, 0)],
                base,
                0x1122_3344,
            )
        };
        assert_eq!(narrow(0), base & 0xFF00_FFFF | 0x0044_0000);
        assert_eq!(narrow(1), base & 0x0000_FFFF | 0x3344_0000);
    }
}

#[test]
fn jumps_link_and_clear_the_lowest_bit() {
    assert_eq!(result(&[jalr(12, 10, 1)], 0x1004, 0), 0x1004);
    assert_eq!(
        result(&[jalr(10, 10, 0), addi(12, 10, 0)], 0x1004, 0),
        0x1004,
        "the target is read before the link"
    );
    let taken = |funct3, a, b| result(&[branch(funct3, 10, 11, 8), addi(12, 0, 1)], a, b) == 0;
    assert!(
        taken(0, 5, 5)
            && taken(1, 5, 6)
            && taken(4, MIN, 0)
            && taken(5, 0, MIN)
            && taken(6, 0, MIN)
            && taken(7, MIN, 0)
    );
    assert!(
        !taken(0, 5, 6)
            && !taken(1, 5, 5)
            && !taken(4, 0, MIN)
            && !taken(5, MIN, 0)
            && !taken(6, MIN, 0)
            && !taken(7, 0, MIN)
    );
}

fn stop(words: &[u32]) -> HartStop {
    let mut stops = Vec::new();
    for mode in [RunMode::Reference, RunMode::Whole] {
        let mut rig = Rig::tensix(true);
        rig.program(0x1000, words);
        rig.start(0, 0x1000);
        rig.run(mode, 1000);
        assert_eq!(rig.group.next_wake(&rig.memory), None);
        stops.push(rig.group.stopped(0).unwrap());
    }
    assert_eq!(stops[0], stops[1]);
    stops[0]
}

#[test]
fn what_cannot_be_executed_stops_the_hart_with_a_name() {
    let at = |cause, pc, address| HartStop {
        cause,
        hart: 0,
        pc,
        address,
        cycle: u64::from(pc - 0x1000) / 4,
    };
    assert_eq!(stop(&[0]), at(Cause::IllegalInstruction, 0x1000, 0));
    assert_eq!(
        stop(&[addi(1, 0, 1), 0xFFFF_FFFF]),
        at(Cause::IllegalInstruction, 0x1004, u32::MAX)
    );
    assert_eq!(stop(&[0x0000_0008]), at(Cause::TensixInstruction, 0x1000, 8));
    assert_eq!(stop(&[0x0000_0073]), at(Cause::Ecall, 0x1000, 0x1000));
    assert_eq!(stop(&[0x0010_0073]), at(Cause::Ebreak, 0x1000, 0x1000));
    assert_eq!(stop(&[i(0x73, 2, 5, 0, 0x300)]), at(Cause::UnknownCsr, 0x1000, 0x300));
    assert_eq!(stop(&[addi(5, 0, 2), load(2, 6, 5, 0)]), at(Cause::MisalignedAccess, 0x1004, 2));
    assert_eq!(
        stop(&[lui(5, 0xFFB0_0000), store(1, 6, 5, 1)]),
        at(Cause::MisalignedAccess, 0x1004, 0xFFB0_0001)
    );
    assert_eq!(
        stop(&[lui(5, 0x0020_0000), load(2, 6, 5, 0)]),
        at(Cause::Device(DeviceFault("unmapped load")), 0x1004, 0x0020_0000)
    );
    assert_eq!(
        stop(&[addi(5, 0, 0x102), jalr(1, 5, 0)]),
        at(Cause::MisalignedFetch, 0x1004, 0x102)
    );
    assert_eq!(
        stop(&[addi(5, 0, 1), branch(1, 5, 0, 6)]),
        at(Cause::MisalignedFetch, 0x1004, 0x100A)
    );
    assert_eq!(stop(&[jal(1, 6)]), at(Cause::MisalignedFetch, 0x1000, 0x1006));
    let jumped = stop(&[lui(5, 0x0020_0000), jalr(1, 5, 0)]);
    assert_eq!((jumped.cause, jumped.pc, jumped.cycle), (Cause::UnmappedFetch, 0x0020_0000, 2));
}

#[test]
fn the_chicken_bits_are_storage() {
    let set = [
        lui(12, 0x1000),
        i(0x73, 2, 0, 12, 0x7C0),
        i(0x73, 6, 0, 3, 0x7C0),
        i(0x73, 7, 0, 1, 0x7C0),
        i(0x73, 2, 12, 0, 0x7C0),
    ];
    assert_eq!(result(&set, 0, 0), 0x1002);
}

#[test]
fn a_trisc_has_half_the_private_memory() {
    let words = [lui(5, 0xFFB0_1000), load(2, 6, 5, -4), jal(0, 0)];
    let mut rig = Rig::tensix(true);
    rig.program(0x1000, &words);
    for hart in 0..5 {
        rig.start(hart, 0x1000);
    }
    rig.run(RunMode::Whole, 100);
    let stopped: Vec<bool> = (0..5).map(|hart| rig.group.stopped(hart).is_some()).collect();
    assert_eq!(stopped, [false, false, true, true, true]);
}
