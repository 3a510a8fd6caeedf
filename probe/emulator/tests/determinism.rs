//! The same host actions at the same cycles yield the same bytes, however time is split, whichever
//! harts sleep, and on any number of threads.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use common::{Host, T0, T1, T2, addi, bne, jal, li, lw, store, sw};
use emulator::{Disruption, HartId, LoadImage, Mesh, MeshConfig, PowerOn, StreamId};

const NIU: u32 = 0xFFB2_0000;
const TXQ: u32 = 0xFFB9_0000;

/// Returns the program of a busy core: it counts, stores the time, increments a word of another
/// tile and waits for the answer, and writes a block to a third tile. On an Ethernet tile it also
/// sends a block to the peer.
fn busy_program(next: (u32, u32), far: (u32, u32), own: (u32, u32), eth: bool) -> Vec<u32> {
    let mid = |(x, y): (u32, u32)| x << 4 | y << 10;
    let mut p = Vec::new();
    for (offset, value) in [
        (0xC00, 0x3000),
        (0xC04, mid(next)),
        (0xC0C, 4),
        (0xC10, mid(own)),
        (0xC1C, 0x11),
        (0xC20, 0x107C),
        (0xC24, 1),
        (0x000, 0x3000),
        (0x004, mid(own)),
        (0x00C, 0x3100),
        (0x010, mid(far)),
        (0x01C, 0x12),
        (0x020, 96),
    ] {
        p.extend(store(NIU + offset, value));
    }
    let start = p.len();
    // Count, and store the clock.
    p.extend([lw(T0, 0, 0x700), addi(T0, T0, 1), sw(T0, 0, 0x700)]);
    p.extend(li(T1, 0xFFB1_2000));
    p.extend([lw(T2, T1, 0x1F0), sw(T2, 0, 0x704)]);
    // Atomic, then wait for its answer: counter 0 equals the count.
    p.extend(store(NIU + 0xC28, 1));
    p.extend([lw(T0, 0, 0x700)]);
    p.extend(li(T1, NIU));
    p.extend([lw(T2, T1, 0x200), bne(T0, T2, -4)]);
    // Block write when the buffer is free.
    p.extend([lw(T2, T1, 0x28), bne(T2, 0, -4)]);
    p.extend(store(NIU + 0x28, 1));
    if eth {
        p.extend(li(T1, TXQ));
        p.extend([lw(T2, T1, 4), bne(T2, 0, 48 + 48)]);
        for (offset, value) in [(0x14, 0x3100), (0x18, 96), (0x1C, 0x3200), (0x04, 2)] {
            p.extend(store(TXQ + offset, value));
        }
        // Skips the four stores of five instructions each when the queue is busy.
        let skip = p.len() - 20 - 1;
        p[skip] = bne(T2, 0, 21 * 4);
    }
    p.push(jal(0, -4 * (p.len() - start) as i32));
    p
}

pub(crate) fn busy_mesh(seed: u64, sleep: bool, threads: usize) -> Mesh {
    let mut config = MeshConfig { seed, sleep, threads, ..MeshConfig::n300() };
    let eth = |channel: u8| {
        let x = [9u32, 1, 8, 2, 7, 3, 6, 4][usize::from(channel % 8)];
        (x, if channel < 8 { 0 } else { 6 })
    };
    for chip in 0..2 {
        let mut tiles: Vec<((u32, u32), bool)> = (0..16).map(|c| (eth(c), true)).collect();
        tiles.extend([((1, 1), false), ((2, 1), false), ((9, 11), false)]);
        for (i, &(own, is_eth)) in tiles.iter().enumerate() {
            let (next, _) = tiles[(i + 1) % tiles.len()];
            let (far, _) = tiles[(i * 5 + 3 + chip) % tiles.len()];
            let program = busy_program(next, far, own, is_eth);
            let bytes = program.iter().flat_map(|word| word.to_le_bytes()).collect();
            config.chips[chip].power_on.push(PowerOn {
                x: own.0 as u8,
                y: own.1 as u8,
                image: LoadImage::Load { addr: 0, bytes },
                start: true,
            });
        }
    }
    Mesh::new(config).unwrap()
}

/// Returns the state of the first chip, and through its links that of the second.
fn state(mesh: Mesh) -> (u64, Vec<u8>) {
    assert!(mesh.conditions().is_empty(), "{:?}", &mesh.conditions()[..3]);
    let mut host = Host { mesh };
    let mut seen = Vec::new();
    let now = host.mesh.now();
    for tile in [(9, 6), (1, 6), (4, 0), (1, 1), (2, 1), (9, 11)] {
        seen.extend(host.read_tile(tile, 0x3000, 0x300));
        seen.extend(host.read_tile(tile, 0x700, 8));
        for index in [0, 1, 2, 5, 8, 0xA, 0x10, 0x20, 0x31, 0x38] {
            seen.extend(host.register(tile, NIU + 0x200 + 4 * index).to_le_bytes());
        }
        host.set_register(
            tile,
            0xFFB1_2054,
            1 << 29 | 7 << 16 | if tile.1 % 6 == 0 { 18 } else { 10 },
        );
        seen.extend(host.register(tile, 0xFFB1_205C).to_le_bytes());
    }
    (now, seen)
}

fn run(mut mesh: Mesh, total: u64, step: impl Fn(u64) -> u64) -> (u64, Vec<u8>) {
    let mut done = 0;
    while done < total {
        let n = step(done).clamp(1, total - done);
        mesh.clock(n);
        done += n;
    }
    state(mesh)
}

#[test]
fn no_cut_no_sleep_and_no_thread_shows() {
    let total = 30_000;
    let expected = run(busy_mesh(5, true, 1), total, |_| total);
    assert!(expected.1.iter().any(|byte| *byte != 0));
    assert_eq!(run(busy_mesh(5, true, 1), total, |done| done * 7 % 97), expected, "cut");
    assert_eq!(run(busy_mesh(5, false, 1), total, |_| total), expected, "sleep");
    assert_eq!(run(busy_mesh(5, false, 2), total, |done| done % 501), expected, "both, threads");
    assert_eq!(run(busy_mesh(5, true, 2), total, |_| total), expected, "threads");
    assert_ne!(run(busy_mesh(6, true, 1), total, |_| total), expected, "another seed");
}

/// Plans a disruption of each kind, some with an end and some without.
pub(crate) fn disrupted(mut mesh: Mesh) -> Mesh {
    let core = |x, y, hart| HartId { chip: 1, x, y, hart };
    let stream = StreamId { chip: 0, x: 9, y: 6, stream: 3 };
    for (disruption, from, until) in [
        (Disruption::LinkFlap { link: 0, period_cycles: 1501 }, 2000, Some(9001)),
        (Disruption::LinkDown { link: 1 }, 4003, Some(6007)),
        (Disruption::LinkSlow { link: 1, factor: 3 }, 6007, None),
        (Disruption::BitErrors { link: 0, per_terabit: 100_000_000 }, 9001, None),
        (Disruption::SlowAck { link: 1, end: 1, delay_cycles: 777 }, 1, Some(20_000)),
        (Disruption::StuckCore(core(9, 0, 0)), 11_111, Some(13_000)),
        (Disruption::StuckCore(core(1, 1, 0)), 12_000, None),
        (Disruption::StreamHeld(stream), 5_003, Some(14_001)),
        (Disruption::ChipDead { chip: 1 }, 22_003, None),
    ] {
        assert!(mesh.disrupt(disruption, from, until));
    }
    mesh
}

#[test]
fn disruptions_are_deterministic_too() {
    let total = 25_000;
    let mesh = |sleep, threads| disrupted(busy_mesh(5, sleep, threads));
    let expected = run(mesh(true, 1), total, |_| total);
    assert_ne!(run(busy_mesh(5, true, 1), total, |_| total), expected, "without");
    assert_eq!(run(mesh(true, 1), total, |done| done * 7 % 97), expected, "cut");
    assert_eq!(run(mesh(false, 1), total, |_| total), expected, "sleep");
    assert_eq!(run(mesh(false, 2), total, |done| done % 501), expected, "both, threads");
    assert_eq!(run(mesh(true, 2), total, |_| total), expected, "threads");
}

/// A run in single cycles.
#[test]
fn single_cycles() {
    let expected = run(busy_mesh(1, true, 1), 3000, |_| 3000);
    assert_eq!(run(busy_mesh(1, true, 1), 3000, |_| 1), expected);
    assert_eq!(run(busy_mesh(1, false, 1), 3000, |_| 1), expected);
}

#[test]
fn a_journal_replays() {
    let mut host = Host { mesh: busy_mesh(3, true, 1) };
    host.mesh.record(true);
    let mut seen = Vec::new();
    for i in 0..40u64 {
        host.mesh.clock(i * 37 % 211);
        host.point(i % 4, (9, 6), 0);
        seen.extend(host.read((i % 4) << 20 | 0x3000, 96 + i as usize));
        if i % 5 == 0 {
            host.write_tile((1, 1), 0x3000, &i.to_le_bytes());
        }
        if i % 16 == 7 {
            let end = host.mesh.now() + 999;
            assert!(host.mesh.disrupt(Disruption::LinkDown { link: 1 }, end - 500, Some(end)));
            host.mesh.disrupt(Disruption::LinkFlap { link: 0, period_cycles: 901 }, 0, Some(end));
        }
        if i == 20 || i == 30 {
            host.mesh.set_link(0, i == 30);
        }
        seen.extend(host.mesh.config_read(0, 0).to_le_bytes());
    }
    let journal = host.mesh.journal().unwrap().clone();
    let end = host.mesh.now();
    for (sleep, threads) in [(true, 1), (false, 2)] {
        let mut again = busy_mesh(3, sleep, threads);
        assert_eq!(again.replay(&journal), seen);
        assert_eq!(again.now(), end);
    }
}
