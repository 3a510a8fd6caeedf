//! How fast the machine around the harts is: idle meshes, busy tiles that share a NoC, host accesses.
//!
//! `cargo bench -p emulator --bench mesh`.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a bench")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{addi, jal, li, lw, store, sw};
use emulator::{LoadImage, Mesh, MeshConfig, PowerOn};
use std::time::Instant;

/// A mesh of two chips of which the first `tiles` Ethernet tiles each run a program.
fn mesh(tiles: u8, chips: usize, threads: usize, program: &[u32]) -> Mesh {
    let mut config = MeshConfig { sleep: false, threads, ..MeshConfig::n300() };
    let bytes: Vec<u8> = program.iter().flat_map(|word| word.to_le_bytes()).collect();
    for chip in &mut config.chips[..chips] {
        for channel in 0..tiles {
            let (x, y) = chip.eth_tile(channel).unwrap();
            let image = LoadImage::Load { addr: 0, bytes: bytes.clone() };
            chip.power_on.push(PowerOn { x, y, image, start: true });
        }
    }
    Mesh::new(config).unwrap()
}

fn report(name: &str, amount: f64, unit: &str, started: Instant) {
    let rate = amount / started.elapsed().as_secs_f64();
    println!("{name:<44} {:>10.1} M {unit}/s", rate / 1e6);
}

/// Two L1 accesses in six instructions.
fn mixed() -> Vec<u32> {
    vec![addi(5, 5, 1), addi(6, 6, 3), sw(5, 0, 0x700), lw(7, 0, 0x704), addi(7, 7, 1), jal(0, -20)]
}

/// An inline write to a neighbour once in `rounds` times five instructions, otherwise the same.
fn talking(rounds: usize) -> Vec<u32> {
    let mut program = Vec::new();
    let niu = 0xFFB2_0800;
    for (offset, value) in [(0, 0x3000), (4, 8 << 4), (0x1C, 0x0A), (0x20, 0xF), (0x24, 7)] {
        program.extend(store(niu + offset, value));
    }
    program.extend(li(10, niu));
    program.extend(li(11, 1));
    let start = program.len();
    program.push(sw(11, 10, 0x28));
    for _ in 0..rounds {
        program.extend(&mixed()[..5]);
    }
    program.push(jal(0, -4 * (program.len() - start) as i32));
    program
}

fn main() {
    let started = Instant::now();
    let mut idle = Mesh::new(MeshConfig::n300()).unwrap();
    println!("{:<44} {:>10.1} ms", "build a bare n300", started.elapsed().as_secs_f64() * 1e3);
    let started = Instant::now();
    for _ in 0..1_000_000 {
        idle.clock(1000);
    }
    report("idle n300, by 1000 cycles", 1e9, "cycles", started);
    let started = Instant::now();
    let mut word = [0; 4];
    for _ in 0..1_000_000 {
        idle.bar_read(0, 0, 0x1000, &mut word);
    }
    report("word reads of an idle n300", 1e6, "reads", started);
    let programs = [
        ("busy", mixed()),
        ("a NoC write every 202,", talking(40)),
        ("a NoC write every 32,", talking(6)),
    ];
    for (name, program) in programs {
        for (tiles, chips, threads) in [(1, 1, 1), (16, 1, 1), (16, 2, 1), (16, 2, 2)] {
            let mut mesh = mesh(tiles, chips, threads, &program);
            let harts = u64::from(tiles) * chips as u64;
            let cycles = 50_000_000 / harts;
            let started = Instant::now();
            mesh.clock(cycles);
            let name = format!("{harts} ERISCs, {name} {threads} host threads");
            report(&name, (cycles * harts) as f64, "instructions", started);
            assert!(mesh.conditions().is_empty());
        }
    }
}
