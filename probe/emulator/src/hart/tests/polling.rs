//! The loops in which firmware idles: each must sleep, with no other visible effect.

use super::rig::asm::{addi, branch, i, jal, jalr, load, lui, lw, r, store, sw};
use super::rig::{CLOCK, REGISTERS, Rig, RunMode};
use crate::hart::DeviceSet;

const DATA: u32 = 0x8000;

/// s0 = data, s1 = devices, sp = private RAM.
fn prologue() -> Vec<u32> {
    vec![lui(8, DATA), lui(9, CLOCK), lui(2, 0xFFB0_0000), addi(2, 2, 0x700)]
}

/// Events from outside, with their cycles.
type Events<'a> = &'a [(u64, fn(&mut Rig))];

/// Runs a program up to a cycle, with events, in all modes. The sleeping run may execute at most
/// `awake` instructions.
fn check(name: &str, body: &[u32], events: Events<'_>, to: u64, awake: u64) {
    check_on(Rig::tensix, name, body, events, to, awake);
    check_on(Rig::eth, name, body, events, to, u64::MAX);
}

/// Like [`check`] on the tile that `tile` makes.
fn check_on(
    tile: fn(bool) -> Rig,
    name: &str,
    body: &[u32],
    events: Events<'_>,
    to: u64,
    awake: u64,
) {
    let scene = |sleep| {
        let mut rig = tile(sleep);
        rig.program(0x1000, &[prologue(), body.to_vec()].concat());
        rig.start(0, 0x1000);
        rig
    };
    let play = |mut rig: Rig, mode| {
        let mut states = Vec::new();
        for (cycle, event) in events {
            rig.run(mode, *cycle);
            states.push(rig.state());
            event(&mut rig);
        }
        rig.run(mode, to);
        states.push(rig.state());
        (states, rig)
    };
    let (expected, plain) = play(scene(false), RunMode::Reference);
    assert_eq!(plain.group.stopped(0), None, "{name}");
    for mode in [RunMode::Whole, RunMode::Slices(1), RunMode::Slices(2), RunMode::SingleCycles] {
        let (found, rig) = play(scene(true), mode);
        assert_eq!(expected, found, "{name} {mode:?}");
        if mode == RunMode::Whole {
            assert!(rig.executed() <= awake, "{name}: executed {}", rig.executed());
        }
    }
}

/// Appends to a wait loop a store of the count in t3 to the data, and a jump back to the start.
fn then_count(mut wait: Vec<u32>) -> Vec<u32> {
    wait.extend([addi(28, 28, 1), sw(28, 8, 0x40)]);
    let back = -4 * wait.len() as i32;
    wait.push(jal(0, back));
    wait
}

#[test]
fn a_go_word() {
    let body = then_count(vec![lw(10, 8, 0), branch(0, 10, 0, -4), sw(0, 8, 0)]);
    let go = |rig: &mut Rig| rig.memory.write_u32(DATA, 1).unwrap();
    check("go word", &body, &[(5000, go), (5001, go), (9003, go)], 20_000, 800);
}

#[test]
fn queue_indices_behind_a_call_with_stack_pushes() {
    let body = vec![
        addi(2, 2, -16),
        jal(1, 24),
        branch(0, 10, 0, -4),
        sw(11, 8, 4),
        addi(28, 28, 1),
        sw(28, 8, 0x40),
        jal(0, -20),
        // The function: saves ra and s2, compares indices.
        addi(2, 2, -16),
        sw(1, 2, 12),
        sw(18, 2, 8),
        lw(11, 8, 0),
        lw(18, 8, 4),
        r(0x20, 0, 10, 11, 18),
        lw(18, 2, 8),
        lw(1, 2, 12),
        addi(2, 2, 16),
        jalr(0, 1, 0),
    ];
    let push = |rig: &mut Rig| {
        let index = rig.memory.read_u32(DATA).unwrap();
        rig.memory.write_u32(DATA, index + 1).unwrap();
    };
    check("queue", &body, &[(3000, push), (3100, push), (9000, push)], 30_000, 1600);
}

#[test]
fn a_heartbeat_by_the_wall_clock() {
    let wait = vec![lw(10, 9, 0), r(0x20, 0, 11, 10, 12), branch(6, 11, 13, -8), addi(12, 10, 0)];
    let body = [vec![lui(13, 0x1000)], then_count(wait)].concat();
    check("heartbeat", &body, &[], 100_000, 6000);
}

/// A loop that waits for 4096 cycles, then counts a word of L1 up, 16 bits of it under a mark.
fn beat() -> Vec<u32> {
    let wait = vec![lw(10, 9, 0), r(0x20, 0, 11, 10, 12), branch(6, 11, 13, -8), addi(12, 10, 0)];
    let mut body = vec![lui(13, 0x1000), lui(14, 0xABCD_0000)];
    body.extend(wait);
    body.extend([
        lw(10, 8, 0x44),
        addi(10, 10, 1),
        i(0x13, 1, 10, 10, 16),
        i(0x13, 5, 10, 10, 16),
        sw(10, 8, 0x44),
        r(0, 6, 10, 10, 14),
        sw(10, 8, 0x40),
        lw(11, 8, 0x20),
        sw(11, 8, 0x24),
    ]);
    body.push(jal(0, -4 * (body.len() as i32 - 2)));
    body
}

#[test]
fn a_heartbeat_in_l1_is_counted_without_execution() {
    check_on(Rig::eth, "beat", &beat(), &[], 1_000_000, 30_000);
    // The word is masked to 16 bits, so the count wraps.
    let wrap = |rig: &mut Rig| rig.memory.write_u32(DATA + 0x44, 0xFFF0).unwrap();
    check_on(Rig::eth, "wrap", &beat(), &[(300_000, wrap)], 1_000_000, 60_000);
}

#[test]
fn of_a_loop_inside_a_tick_two_iterations_are_executed() {
    // As an idle router of tt-metal: it polls 100 times, counts, and now and then does more.
    let mut body = vec![addi(13, 0, 100), lw(10, 8, 0), lw(11, 9, 0), addi(13, 13, -1)];
    body.extend([
        branch(1, 13, 0, -12),
        addi(14, 14, 1),
        i(0x13, 7, 15, 14, 0x3F),
        sw(14, 8, 0x40),
    ]);
    body.extend([branch(1, 15, 0, 8), sw(11, 8, 0x44)]);
    body.push(jal(0, -4 * body.len() as i32));
    let (odd, whole) = (64 * 410, 410);
    check_on(Rig::eth, "polls", &body, &[], 40 * odd, 40 * (3 * whole) + 20 * whole);
    let read = |_: &mut Rig| {};
    let poll = |rig: &mut Rig| rig.memory.write_u32(DATA, 5).unwrap();
    let events: Events<'_> = &[(120_001, read), (300_000, poll), (300_003, read)];
    check_on(Rig::eth, "polls", &body, events, 20 * odd, 20 * (3 * whole) + 40 * whole);
}

#[test]
fn a_store_from_outside_ends_a_tick() {
    let read = |_: &mut Rig| {};
    let input = |rig: &mut Rig| rig.memory.write_u32(DATA + 0x20, 77).unwrap();
    let output = |rig: &mut Rig| rig.memory.write_u32(DATA + 0x40, 5).unwrap();
    let device = |rig: &mut Rig| rig.group.devices_changed(DeviceSet::ALL);
    let events: Events<'_> =
        &[(120_001, read), (300_000, input), (500_003, output), (700_000, device), (800_001, read)];
    check_on(Rig::eth, "stores", &beat(), events, 1_000_000, 90_000);
}

#[test]
fn a_deadline_compared_with_sign() {
    let wait =
        vec![lw(10, 9, 0), r(0x20, 0, 11, 10, 12), branch(4, 11, 0, -8), r(0, 0, 12, 12, 13)];
    let body = [vec![lui(13, 0x1000), lui(12, 0xFFFF_F000), r(0, 0, 12, 12, 13)], then_count(wait)]
        .concat();
    check("deadline", &body, &[], 100_000, 6000);
}

#[test]
fn both_halves_of_the_clock() {
    // Reads high, low, high until the halves are consistent; the clock wraps at cycle 4096.
    let wait = vec![
        lw(10, 9, 4),
        lw(11, 9, 0),
        lw(12, 9, 4),
        branch(1, 10, 12, -12),
        r(0x20, 0, 14, 11, 15),
        r(0, 3, 16, 11, 15),
        r(0x20, 0, 17, 10, 18),
        r(0x20, 0, 17, 17, 16),
        branch(1, 17, 0, 12),
        branch(6, 14, 13, -36),
        addi(15, 11, 0),
        addi(15, 11, 0),
        addi(18, 10, 0),
    ];
    check("64-bit clock", &[vec![lui(13, 0x2000)], then_count(wait)].concat(), &[], 60_000, 6000);
}

#[test]
fn counters_in_registers_and_private_memory_are_carried_on() {
    let wait = vec![
        addi(28, 28, 1),
        lw(29, 2, 0),
        addi(29, 29, 3),
        sw(29, 2, 0),
        lw(30, 9, 0),
        sw(30, 2, 4),
        store(0, 28, 8, 0x20),
        lw(10, 8, 0),
        branch(0, 10, 0, -32),
    ];
    // The byte store is idempotent only while the low byte of the counter is unchanged: it must
    // keep the loop awake.
    let mut quiet = wait.clone();
    quiet.remove(6);
    let last = quiet.len() - 1;
    quiet[last] = branch(0, 10, 0, -28);
    let go = |rig: &mut Rig| rig.memory.write_u32(DATA, 1).unwrap();
    check("counters", &[quiet, vec![jal(0, 0)]].concat(), &[(7777, go)], 20_000, 600);
    check("byte counter", &[wait, vec![jal(0, 0)]].concat(), &[(7777, go)], 20_000, 20_000);
}

#[test]
fn bytes_of_a_counter_in_private_memory() {
    // The branch depends on a byte of a counted word, which must not be taken as constant.
    let wait = vec![
        lw(29, 2, 0),
        addi(29, 29, 3),
        sw(29, 2, 0),
        load(4, 30, 2, 1),
        branch(0, 30, 31, -16),
        addi(31, 30, 0),
    ];
    check("counted byte", &then_count(wait), &[], 20_000, 20_000);
}

#[test]
fn a_walk_over_empty_memory() {
    let wait = vec![lw(10, 12, 0), addi(12, 12, 4), branch(0, 10, 0, -8), addi(12, 8, 0)];
    let found = |rig: &mut Rig| rig.memory.write_u32(0xC000, 1).unwrap();
    check(
        "walk",
        &[vec![addi(12, 8, 0)], then_count(wait)].concat(),
        &[(1, found)],
        50_000,
        50_000,
    );
}

#[test]
fn the_same_value_stored_again() {
    let wait = vec![addi(10, 0, 7), sw(10, 8, 0x20), lw(11, 8, 0), branch(0, 11, 0, -12)];
    let overwrite = |rig: &mut Rig| rig.memory.write_u32(DATA + 0x20, 9).unwrap();
    check("same value", &then_count(wait), &[(1234, overwrite), (5678, overwrite)], 10_000, 600);
}

#[test]
fn a_heartbeat_in_l1_of_a_hart_that_is_alone() {
    // As the firmware of tt-metal's idle Ethernet cores counts while it waits for a go message.
    let beat = vec![
        lui(21, 0xAABB_0000),
        lw(13, 8, 0),
        addi(15, 18, 1),
        i(0x13, 1, 14, 15, 16),
        i(0x13, 5, 14, 14, 16),
        r(0, 6, 14, 14, 21),
        sw(14, 8, 0x40),
        addi(18, 15, 0),
        branch(0, 13, 0, -28),
        sw(0, 8, 0x40),
        jal(0, 0),
    ];
    let overwrite = |rig: &mut Rig| rig.memory.write_u32(DATA + 0x40, 9).unwrap();
    let go = |rig: &mut Rig| rig.memory.write_u32(DATA, 0x80).unwrap();
    check_on(Rig::eth, "heartbeat", &beat, &[(12_345, overwrite), (900_001, go)], 1_000_000, 3000);
}

#[test]
fn bits_of_the_clock() {
    let shifted =
        vec![lw(10, 9, 0), i(0x13, 5, 11, 10, 10), branch(0, 11, 12, -8), addi(12, 11, 0)];
    check("shift", &then_count(shifted), &[], 50_000, 12_000);
    let masked =
        vec![lw(10, 9, 0), i(0x13, 7, 11, 10, 0x400), branch(0, 11, 12, -8), addi(12, 11, 0)];
    check("mask", &then_count(masked), &[], 50_000, 12_000);
}

#[test]
fn a_device_register() {
    let wait = vec![lw(10, 9, 0x10), branch(0, 10, 11, -4), addi(11, 10, 0), sw(11, 9, 0x14)];
    let change = |rig: &mut Rig| {
        rig.devices.registers[0] += 1;
        rig.group.devices_changed(DeviceSet::of(0));
    };
    check(
        "device",
        &then_count(wait),
        &[(4000, change), (4001, change), (8000, change)],
        12_000,
        1200,
    );
}

#[test]
fn a_register_with_an_effect_prevents_sleep() {
    let wait = vec![lw(10, 9, 8), jal(0, -4)];
    check("ticket", &wait, &[], 3000, 3000);
    let (mut rig, rate) = (Rig::tensix(true), 5000);
    rig.program(0x1000, &[prologue(), vec![lw(10, 9, 8), jal(0, -4)]].concat());
    rig.start(0, 0x1000);
    rig.run(RunMode::Whole, rate);
    assert_eq!(rig.executed(), rate);
    assert_eq!(REGISTERS, 0xFFB1_2010);
}

#[test]
fn an_endless_loop_needs_no_waking() {
    let mut rig = Rig::tensix(true);
    rig.program(0x1000, &[jal(0, 0)]);
    rig.start(0, 0x1000);
    rig.run(RunMode::Whole, 1000);
    assert_eq!(rig.group.next_wake(&rig.memory), None);
    rig.run(RunMode::Whole, 1_000_000_000);
    assert_eq!(rig.group.retired(0), 1_000_000_000);
    // Replaces the code of a sleeping hart.
    rig.program(0x1000, &[addi(10, 0, 5), jal(0, 0)]);
    assert_eq!(rig.group.next_wake(&rig.memory), Some(1_000_000_000));
    rig.run(RunMode::Whole, 1_000_000_034);
    assert_eq!((rig.group.register(0, 10), rig.group.pc(0)), (5, 0x1004));
}
