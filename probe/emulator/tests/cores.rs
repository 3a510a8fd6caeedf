//! Harts with the blocks of their tile: reset, clocks, registers, links.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use common::{Host, T0, T1, T2, addi, bne, jal, li, lw, store, sw};
use emulator::MeshConfig;

/// wormhole.md 10.6.H: a loop of four instructions, 250 times in 1000 cycles; reset stops it.
#[test]
fn brisc_counts() {
    let mut host = Host::n150();
    let program = [addi(T0, T0, 1), addi(0, 0, 0), sw(T0, 0, 0x100), jal(0, -12)];
    host.run((1, 1), &program);
    let count =
        |host: &mut Host| u32::from_le_bytes(host.read_tile((1, 1), 0x100, 4).try_into().unwrap());
    let (before, since) = (count(&mut host), host.mesh.now());
    host.mesh.clock(1000);
    let (after, now) = (count(&mut host), host.mesh.now());
    let turns = after - before;
    assert!(turns.abs_diff(((now - since) / 4) as u32) <= 1, "{turns} turns in {}", now - since);
    assert_eq!(host.register((1, 1), 0xFFB1_21B0), 0x47000);
    host.set_register((1, 1), 0xFFB1_21B0, 0x47800);
    // A reset takes effect at the next boundary of 32 cycles.
    host.mesh.clock(32);
    let stopped = count(&mut host);
    host.mesh.clock(1000);
    assert_eq!(count(&mut host), stopped);
    assert_eq!(host.register((1, 1), 0xFFB1_21B0), 0x47800);
}

/// The debug bus returns the pc of a hart without disturbing it.
#[test]
fn debug_bus_samples_pcs() {
    let mut host = Host::n150();
    host.run((9, 6), &[addi(0, 0, 0), addi(0, 0, 0), jal(0, -4)]);
    host.set_register((9, 6), 0xFFB1_2054, 1 << 29 | 7 << 16 | 0x12);
    let pc = host.register((9, 6), 0xFFB1_205C);
    assert!(pc == 0x8000_0004 || pc == 0x8000_0008, "{pc:#x}");
    host.set_register((9, 6), 0xFFB1_2054, 1 << 29 | 7 << 16 | 0xFF);
    assert_eq!(host.register((9, 6), 0xFFB1_205C), 0xA5A5_A5A5);
}

/// Wall clocks advance by one per cycle, with an offset that depends on chip and seed.
#[test]
fn wall_clocks_have_seeded_offsets() {
    let clock = |seed| {
        let mut host = Host::new(MeshConfig { seed, ..MeshConfig::n300() });
        let low = host.register((1, 1), 0xFFB1_21F0);
        let high = host.register((1, 1), 0xFFB1_21F8);
        let (first, at) = (u64::from(high) << 32 | u64::from(low), host.mesh.now());
        host.mesh.clock(12345);
        let again = host.register((9, 6), 0xFFB1_21F0);
        // The first read was at cycle 10, after the window was pointed; the last one 700 cycles
        // ago.
        assert_eq!(again.wrapping_sub(low), (host.mesh.now() - 700 - 10) as u32);
        assert_eq!(host.mesh.now() - at, 12345 + 710);
        first
    };
    assert_ne!(clock(1), clock(2));
    assert_eq!(clock(1), clock(1));
}

/// wormhole.md 10.6.J: a register write over the link, after an L1 write by a hart that must arrive
/// before it.
#[test]
fn packets_cross_the_link_in_order() {
    let mut host = Host::n300();
    // The host cannot reach the peer, (9,0) of chip 1: its hart sends back the data it received.
    let txq = 0xFFB9_0000u32;
    let mut send = store(0x5000, 0x1234_5678);
    for (offset, value) in [(0x14, 0x5000), (0x18, 16), (0x1C, 0x6000), (0x04, 2)] {
        send.extend(store(txq + offset, value));
    }
    // Wait until CMD reads 0, then a register write that the peer waits for.
    let wait = |program: &mut Vec<u32>| {
        program.extend(li(T0, txq));
        program.extend([lw(T1, T0, 4), bne(T1, 0, -4)]);
    };
    wait(&mut send);
    for (offset, value) in [(0x1C, 0xFFB4_2088), (0x44, 3 << 6), (0x04, 4)] {
        send.extend(store(txq + offset, value));
    }
    wait(&mut send);
    send.push(jal(0, 0));
    let mut answer = Vec::new();
    answer.extend(li(T0, 0xFFB4_2100));
    answer.extend([lw(T1, T0, 0), addi(T2, 0, 3), bne(T1, T2, -8)]);
    for (offset, value) in [(0x14, 0x6000), (0x18, 16), (0x1C, 0x7000), (0x04, 2)] {
        answer.extend(store(txq + offset, value));
    }
    answer.push(jal(0, 0));
    let mut config = MeshConfig::n300();
    let bytes = |program: &[u32]| program.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    for (chip, tile, program) in [(0, (9, 6), &send), (1, (9, 0), &answer)] {
        config.chips[chip].power_on.push(emulator::PowerOn {
            x: tile.0,
            y: tile.1,
            image: emulator::LoadImage::Load { addr: 0, bytes: bytes(program) },
            start: true,
        });
    }
    let mut host2 = Host::new(config);
    let start = host2.mesh.now();
    while host2.read_tile((9, 6), 0x7000, 4) != [0x78, 0x56, 0x34, 0x12] {
        host2.mesh.clock(20);
        assert!(host2.mesh.now() < 100_000, "{:?}", host2.mesh.conditions());
    }
    // Two traversals of 530-620 ns each, plus the programs and the host's polling.
    let took = host2.mesh.now() - start;
    assert!((1100..3000).contains(&took), "{took}");
    assert_eq!(host2.register((9, 6), txq + 0x30), 2);
    assert_eq!(host2.register((9, 6), 0xFFB9_2028), 1);
    assert!(host2.mesh.conditions().is_empty(), "{:?}", host2.mesh.conditions());
    // The first mesh has no programs. A send by the host over a link that is down stays in the
    // queue.
    host.mesh.set_link(0, false);
    host.write_tile((9, 6), 0x5000, &[9; 64]);
    for (offset, value) in [(0x14, 0x5000), (0x18, 64), (0x1C, 0x6000), (0x04, 2)] {
        host.set_register((9, 6), txq + offset, value);
    }
    host.mesh.clock(10_000);
    assert_eq!(host.register((9, 6), txq + 4), 0);
    assert_eq!((host.register((9, 6), txq + 0x30), host.register((9, 6), txq + 0x34)), (1, 0));
    host.mesh.set_link(0, true);
    host.mesh.clock(100);
    assert_eq!((host.register((9, 6), txq + 0x34), host.register((9, 6), txq + 0x40)), (1, 4));
}

/// The published 530-620 ns in one direction for a small packet (wormhole.md 5.2), to the cycle:
/// latch 8, fetch 20, 66 bytes on the wire 6, latency 500. Then two kilobytes in two packets, at
/// 12.5 bytes per cycle.
#[test]
fn links_take_their_time() {
    let arrives = |len: u32, after: u64| {
        let mut config = MeshConfig::n300();
        config.links.push(emulator::LinkConfig::new((0, 0), (0, 1)));
        let mut host = Host::new(config);
        host.write_tile((9, 0), 0x5000, &vec![7; len as usize]);
        for (offset, value) in [(0x14, 0x5000), (0x18, len), (0x1C, 0x6000), (0x04, 2)] {
            host.set_register((9, 0), 0xFFB9_0000 + offset, value);
        }
        // The command was stored 10 cycles ago, and pointing the window takes 10 more.
        host.mesh.clock(after - 20);
        host.read_tile((1, 0), 0x6000 + u64::from(len) - 1, 1) == [7]
    };
    assert!(!arrives(16, 534) && arrives(16, 535));
    let wire = (1488u64 + 50) * 2;
    let both = wire.div_ceil(25) + ((2000 - 1488 + 50) * 2u64).div_ceil(25);
    assert!(!arrives(2000, 528 + both) && arrives(2000, 529 + both));
}

/// A NoC write of 64 bytes to the next column: issue 5, three flits, 5 + 9 + 5 in transit.
#[test]
fn the_noc_takes_its_time() {
    let arrives = |after: u64| {
        let mut host = Host::n150();
        host.write_tile((1, 1), 0x5000, &[7; 64]);
        let (own, next) = (1 << 4 | 1 << 10, 2 << 4 | 1 << 10);
        for (offset, value) in
            [(0, 0x5000), (4, own), (0xC, 0x6000), (0x10, next), (0x1C, 2), (0x20, 64), (0x28, 1)]
        {
            host.set_register((1, 1), 0xFFB2_0000 + offset, value);
        }
        host.mesh.clock(after - 20);
        host.read_tile((2, 1), 0x6000, 64) == [7; 64]
    };
    assert!(!arrives(27) && arrives(28));
}

/// If software reuses the source before its packet is fetched, the packet carries the new bytes.
#[test]
fn the_source_must_stay_intact() {
    let mut config = MeshConfig::n300();
    config.links.push(emulator::LinkConfig::new((0, 0), (0, 1)));
    let mut host = Host::new(config);
    host.write_tile((9, 0), 0x5000, &[1; 16]);
    for (offset, value) in [(0x14, 0x5000), (0x18, 16), (0x1C, 0x6000), (0x04, 2)] {
        host.set_register((9, 0), 0xFFB9_0000 + offset, value);
    }
    // Two host writes, the second 20 cycles after the command: latched after 8, fetched after 28.
    host.write_tile((9, 0), 0x5000, &[2; 16]);
    host.mesh.clock(2000);
    assert_eq!(host.read_tile((1, 0), 0x6000, 16), [2; 16]);
    assert_eq!(host.register((1, 0), 0xFFB9_2014), 1);
}

/// An access that is not modelled stops the hart and is named; everything else continues.
#[test]
fn refusals_stop_the_hart_only() {
    let mut host = Host::n150();
    let mut program = Vec::new();
    program.extend(li(T0, 0xFFB1_2080));
    program.extend([lw(T1, T0, 0), jal(0, 0)]);
    host.run((1, 1), &program);
    host.mesh.clock(100);
    let condition = &host.mesh.conditions()[0];
    let name = condition.name;
    assert_eq!(name, "risc-debug-interface-from-core-not-modelled");
    assert_eq!((condition.tile, condition.addr), (Some((1, 1)), 0xFFB1_2080));
    assert_eq!(format!("{}", condition.actor), "brisc");
    assert_eq!(host.read_tile((2, 2), 0, 4), [0; 4]);
    assert_eq!(host.mesh.conditions().len(), 1);
    let stopped = host.mesh.stopped_harts();
    let [(0, (1, 1), stop)] = stopped[..] else { panic!("{stopped:?}") };
    assert_eq!((stop.hart, stop.cause.name(), stop.address), (0, name, 0xFFB1_2080));
    // It is not stopped any more once it is in reset.
    host.set_register((1, 1), 0xFFB1_21B0, 0x4_7800);
    assert_eq!(host.mesh.stopped_harts(), []);
}

/// Instruction RAM of an ERISC: load with the MAC stopped, run from 0xFFC00000.
#[test]
fn erisc_loads_its_iram() {
    let mut host = Host::n150();
    let mut iram = store(0x200, 77);
    iram.push(jal(0, 0));
    let bytes: Vec<u8> = iram.iter().flat_map(|w| w.to_le_bytes()).collect();
    host.write_tile((9, 6), 0xA840, &bytes);
    let mut program = Vec::new();
    program.extend(store(0xFFBA_0000, 0x3000_0000));
    program.extend(store(0xFFBA_0004, 6));
    program.extend(store(0xFFB9_4098, 0xA840 >> 4));
    program.extend(li(T0, 0xFFB9_4000));
    program.extend([lw(T1, T0, 0x98), 0x0013_7313, bne(T1, 0, -8)]);
    program.extend(store(0xFFBA_0000, 0x3000_0001));
    program.extend(store(0xFFBA_0004, 7));
    program.extend(li(T0, 0xFFC0_0000));
    program.push(T0 << 15 | 0x67);
    host.run((9, 6), &program);
    host.mesh.clock(5000);
    assert_eq!(host.read_tile((9, 6), 0x200, 4), [77, 0, 0, 0], "{:?}", host.mesh.conditions());
}
