//! No access by the host or a core may end the process: random accesses, random registers, random
//! code.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use common::{Host, T0, T1, addi, jal, li, lw, sw};
use emulator::MeshConfig;
use fastrand::Rng;

/// Bases of all register pages, on either kind of tile.
const PAGES: [u32; 24] = [
    0x0000_0000,
    0x0003_FF00,
    0x0016_DF00,
    0xFFB0_0000,
    0xFFB1_1000,
    0xFFB1_2000,
    0xFFB1_3000,
    0xFFB2_0000,
    0xFFB2_0400,
    0xFFB2_0C00,
    0xFFB3_0000,
    0xFFB3_0800,
    0xFFB4_0000,
    0xFFB5_F000,
    0xFFB9_0000,
    0xFFB9_1000,
    0xFFB9_2000,
    0xFFB9_4000,
    0xFFBA_0000,
    0xFFBB_0000,
    0xFFE0_0000,
    0xFFE4_0000,
    0xFFE8_0000,
    0xFFEF_0000,
];

fn address(rng: &mut Rng) -> u32 {
    let base = PAGES[rng.usize(..PAGES.len())];
    base.wrapping_add(4 * rng.u32(..64)).wrapping_add(if rng.u8(..16) == 0 { 0x200 } else { 0 })
}

/// Returns a value that is likely to be meaningful: a small number, coordinates, a command, an
/// address, or any word.
fn value(rng: &mut Rng) -> u32 {
    match rng.u8(..6) {
        0 => rng.u32(..17),
        1 => 1 << rng.u32(..32),
        2 => rng.u32(..10) << 4 | rng.u32(..12) << 10 | rng.u32(..10) << 16 | rng.u32(..12) << 22,
        3 => address(rng),
        4 => [0x2090, 0x12, 0x132, 0x1A, 0x11, 0x107C, 0x47000, 0x4000_0040][rng.usize(..8)],
        _ => rng.u32(..),
    }
}

fn tile(rng: &mut Rng) -> (u8, u8) {
    (rng.u8(..10), rng.u8(..12))
}

/// Returns a loop of loads and stores of registers.
fn register_program(rng: &mut Rng) -> Vec<u32> {
    let mut program = Vec::new();
    for _ in 0..rng.usize(1..20) {
        program.extend(li(T0, address(rng)));
        if rng.u8(..3) == 0 {
            program.push(lw(T1, T0, 0));
        } else {
            program.extend(li(T1, value(rng)));
            program.push(sw(T1, T0, 0));
        }
    }
    program.push(addi(T0, T0, 1));
    program.push(jal(0, -4 * program.len() as i32));
    program
}

fn host_action(rng: &mut Rng, host: &mut Host) {
    match rng.u8(..12) {
        0 => host.mesh.clock(rng.u64(..3000)),
        1 => host.entry(rng.u64(..186), rng.u64(..)),
        2 => {
            let offset = rng.u64(..0x2000_0100);
            host.read(offset, rng.usize(..200));
        }
        3 => {
            let offset = rng.u64(..0x2000_0100);
            host.write(offset, &rng.u64(..).to_le_bytes()[..rng.usize(..9)]);
        }
        4 => {
            let program: Vec<u32> = (0..64).map(|_| rng.u32(..)).collect();
            host.run([(9, 6), (1, 1), (9, 0)][rng.usize(..3)], &program);
        }
        5 | 6 => {
            let program = register_program(rng);
            host.run([(9, 6), (1, 1), (2, 1), (1, 6)][rng.usize(..4)], &program);
        }
        7 => host.mesh.set_link(rng.usize(..3), rng.bool()),
        8 => {
            let offset = [0x1FF3_0060, 0x1FE8_0000, 0x1FF5_0000, 0x1FD0_2000][rng.usize(..4)];
            host.write(offset + 4 * rng.u64(..64), &value(rng).to_le_bytes());
        }
        _ => {
            let (at, addr) = (tile(rng), address(rng));
            if rng.bool() {
                host.set_register(at, addr, value(rng));
            } else {
                host.register(at, addr);
            }
        }
    }
}

#[test]
fn noise_ends_nothing() {
    let count = std::env::var("MESHSCOPE_NOISE").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    for seed in 0..count {
        let mut rng = Rng::with_seed(seed);
        let mut config = MeshConfig { seed, ..MeshConfig::n300() };
        config.chips[0].translation = rng.bool();
        config.timing.host_dead_read = 2000;
        let mut host = Host::new(config);
        for _ in 0..300 {
            host_action(&mut rng, &mut host);
            if rng.u8(..50) == 0 {
                // A hang takes the bus down; continue with a fresh chip.
                host.mesh.reset_chip(0);
            }
        }
        assert!(!host.mesh.conditions().is_empty());
    }
}
