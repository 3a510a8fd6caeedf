//! tt-metal's released firmware (ttnn 0.81.1) boots on the emulator: wormhole.md 4.2 and
//! wormhole.md 10.6.K, wormhole.md 10.6.L.
//!
//! Runs when `MESHSCOPE_TT_METAL_ELFS` names the folder of the unpacked Python package.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use common::{Host, T0, T1, jal, li, sw};
use emulator::{ChipConfig, MeshConfig};
use object::{Object, ObjectSegment};
use std::path::PathBuf;

fn folder() -> Option<PathBuf> {
    let root = std::env::var_os("MESHSCOPE_TT_METAL_ELFS").map(PathBuf::from);
    if root.is_none() {
        println!("skipped: MESHSCOPE_TT_METAL_ELFS names no unpacked ttnn wheel");
    }
    root.map(|root| root.join("ttnn/tt_metal/pre-compiled/1003041148146844629"))
}

/// Loads an ELF: L1 segments at their address, private RAM at its initial image.
fn load(host: &mut Host, tile: (u8, u8), path: &std::path::Path, private: u64) {
    let file = std::fs::read(path).unwrap();
    let elf = object::File::parse(&*file).unwrap();
    for segment in elf.segments() {
        let (addr, data) = (segment.address(), segment.data().unwrap());
        if !data.is_empty() {
            let addr = if addr >= 0xFFB0_0000 { private + (addr - 0xFFB0_0000) } else { addr };
            host.write_tile(tile, addr, data);
        }
    }
}

fn words(host: &mut Host, tile: (u8, u8), addr: u64) -> u32 {
    u32::from_le_bytes(host.read_tile(tile, addr, 4).try_into().unwrap())
}

fn program(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn chip() -> Host {
    let mut chip = ChipConfig::wormhole(true);
    chip.translation = true;
    Host::new(MeshConfig { chips: vec![chip], ..MeshConfig::default() })
}

/// Loads the five images and releases BRISC, which starts the others.
fn start_tensix(host: &mut Host, folder: &std::path::Path, tile: (u8, u8)) {
    host.set_register(tile, 0xFFB1_21B0, 0x47800);
    for (name, private) in [
        ("brisc", 0x8960),
        ("ncrisc", 0x9960),
        ("trisc0", 0xA960),
        ("trisc1", 0xB160),
        ("trisc2", 0xB960),
    ] {
        load(host, tile, &folder.join(name).join(format!("{name}.elf")), private);
    }
    host.write_tile(tile, 0x4A0, &0x4000_0000u32.to_le_bytes());
    host.write_tile(tile, 0, &jal(0, 0x3A20).to_le_bytes());
    host.set_register(tile, 0xFFB1_21B0, 0x47000);
}

/// Returns the visible state of two booting tiles after `total` cycles, passed in pieces.
fn booting(folder: &std::path::Path, sleep: bool, total: u64, piece: u64) -> Vec<u8> {
    let mut chip = ChipConfig::wormhole(true);
    chip.translation = true;
    let mut host = Host::new(MeshConfig { chips: vec![chip], sleep, ..MeshConfig::default() });
    for tile in [(1, 1), (2, 1)] {
        start_tensix(&mut host, folder, tile);
    }
    let mut done = 0;
    while done < total {
        let n = (done * 13 % piece + 1).min(total - done);
        host.mesh.clock(n);
        done += n;
    }
    let mut seen = Vec::new();
    for tile in [(1, 1), (2, 1)] {
        seen.extend(host.read_tile(tile, 0, 0x1_0000));
        for signal in [10, 24, 12, 14, 16] {
            host.set_register(tile, 0xFFB1_2054, 0x2007_0000 | signal);
            seen.extend(host.register(tile, 0xFFB1_205C).to_le_bytes());
        }
    }
    seen
}

#[test]
fn booting_is_the_same_however_time_is_cut() {
    let Some(folder) = folder() else { return };
    for total in [500, 1500, 2345, 4000, 6001] {
        let expected = booting(&folder, false, total, total);
        for (sleep, piece) in [(true, total), (true, 40), (false, 7)] {
            assert!(booting(&folder, sleep, total, piece) == expected, "{total} {sleep} {piece}");
        }
    }
}

#[test]
fn tensix() {
    let Some(folder) = folder() else { return };
    let mut host = chip();
    let tile = (1, 1);
    start_tensix(&mut host, &folder, tile);
    host.mesh.clock(20_000);
    assert_eq!(words(&mut host, tile, 0x4A0), 0);
    assert_eq!(host.register(tile, 0xFFB1_21B0), 0);
    // A kernel of three stores by BRISC.
    let mut kernel = li(T0, 0x1_F000).to_vec();
    kernel.extend(li(T1, 0xBEEF));
    kernel.extend([sw(T1, T0, 0), 0x0000_8067]);
    host.write_tile(tile, 0x1_0400, &program(&kernel));
    host.write_tile(tile, 0x20, &0x1_0000u32.to_le_bytes());
    host.write_tile(tile, 0x20 + 48, &1u16.to_le_bytes());
    host.write_tile(tile, 0x20 + 52, &0x400u32.to_le_bytes());
    host.write_tile(tile, 0x20 + 112, &1u32.to_le_bytes());
    host.write_tile(tile, 0x4A0, &0x8000_0000u32.to_le_bytes());
    host.mesh.clock(5000);
    assert_eq!(words(&mut host, tile, 0x1_F000), 0xBEEF, "{:?}", host.mesh.conditions());
    assert_eq!(words(&mut host, tile, 0x4A0), 0);
    assert!(host.mesh.conditions().is_empty(), "{:?}", host.mesh.conditions());
}

#[test]
fn idle_erisc() {
    let Some(folder) = folder() else { return };
    let mut host = chip();
    let tile = (9, 6);
    host.set_register(tile, 0xFFB1_21B0, 0x800);
    load(&mut host, tile, &folder.join("idle_erisc/idle_erisc.elf"), 0x7E70);
    host.write_tile(tile, 0x2490, &0x4000_0000u32.to_le_bytes());
    host.write_tile(tile, 0, &jal(0, 0x33D0).to_le_bytes());
    host.set_register(tile, 0xFFB1_21B0, 0);
    host.mesh.clock(20_000);
    assert_eq!(words(&mut host, tile, 0x2490), 0);
    assert_eq!(words(&mut host, tile, 0x1C) >> 16, 0xAABB);
}

/// The active-Ethernet application under a base firmware of four instructions, which calls 0x9040;
/// the application yields into a `ret`.
#[test]
fn active_erisc() {
    let Some(folder) = folder() else { return };
    let mut host = chip();
    let tile = (9, 6);
    load(&mut host, tile, &folder.join("erisc/erisc.elf"), 0);
    host.write_tile(tile, 0x400, &0x0000_8067u32.to_le_bytes());
    host.write_tile(tile, 0x9020, &0x400u32.to_le_bytes());
    host.write_tile(tile, 0x9004, &1u32.to_le_bytes());
    host.write_tile(tile, 0x3_E1E0, &0x4000_0000u32.to_le_bytes());
    let mut base = li(2, 0xFFB0_1000).to_vec();
    base.extend(li(T0, 0x9040));
    base.push(T0 << 15 | 1 << 7 | 0x67);
    base.extend([common::addi(T0, 0, 0x55), sw(T0, 0, 0x700), jal(0, 0)]);
    host.run(tile, &base);
    host.mesh.clock(20_000);
    assert_eq!(words(&mut host, tile, 0x3_E1E0), 0x4000_0000);
    assert_eq!(host.register(tile, 0xFFB2_010C) >> 16, 0xAABB);
    host.write_tile(tile, 0x3_DC00, &1u32.to_le_bytes());
    host.mesh.clock(5000);
    // A kernel in instruction RAM.
    let mut kernel = li(T0, 0x1_8000).to_vec();
    kernel.extend(li(T1, 0xBEEF));
    kernel.extend([sw(T1, T0, 0), 0x0000_8067]);
    host.write_tile(tile, 0xA840, &program(&kernel));
    host.write_tile(tile, 0x3_DD60 + 112, &1u32.to_le_bytes());
    host.write_tile(tile, 0x3_E1E0, &0x8000_0000u32.to_le_bytes());
    host.mesh.clock(20_000);
    assert_eq!(words(&mut host, tile, 0x1_8000), 0xBEEF, "{:?}", host.mesh.conditions());
    assert_eq!(words(&mut host, tile, 0x3_E1E0), 0);
    host.write_tile(tile, 0x3_DC00, &0u32.to_le_bytes());
    host.mesh.clock(5000);
    assert_eq!(words(&mut host, tile, 0x9004), 0);
    assert_eq!(words(&mut host, tile, 0x700), 0x55);
    assert!(host.mesh.conditions().is_empty(), "{:?}", host.mesh.conditions());
}
