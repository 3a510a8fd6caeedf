//! The mesh as the host sees it through the BAR.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use common::Host;
use emulator::{ChipConfig, MeshConfig};

#[test]
fn config_space() {
    let mut host = Host::n150();
    assert_eq!(host.mesh.config_read(0, 0), 0x401E_1E52);
    assert_eq!(host.mesh.config_read(0, 8), 0x1200_0001);
    assert_eq!(host.mesh.config_read(0, 0x10), 4);
    assert_eq!(host.mesh.config_read(0, 0x14), 1);
    assert_eq!(host.mesh.config_read(1, 0), u32::MAX);
    assert_eq!(host.mesh.now(), 5 * 700);
}

/// wormhole.md 10.6.A and wormhole.md 10.6.B.
#[test]
fn windows_reach_tiles() {
    let mut host = Host::n150();
    host.write(0x1FC0_0000, &0x0000_2400_0189_0FFBu64.to_le_bytes());
    assert_eq!(host.read32(0x2_002C), 0x1060_A189);
    assert_eq!(host.read(0x1FC0_0000, 8), 0x0000_2400_0189_0FFBu64.to_le_bytes());
    let bytes: Vec<u8> = (0..64u8).map(|i| i.wrapping_mul(7) + 1).collect();
    for (window, base) in [(0, 0), (156, 0x09C0_0000), (166, 0x0B00_0000), (184, 0x1D00_0000)] {
        host.point(window, (1, 1), 0);
        host.write(base + 0x1_0000 + window * 64, &bytes);
        host.point(0, (18, 18), 0);
        host.point(window, (1, 1), 0);
        assert_eq!(host.read(base + 0x1_0000 + window * 64, 64), bytes);
    }
    host.point(0, (1, 1), 0);
    host.write(0x1_0003, &[0xAA, 0xBB, 0xCC]);
    assert_eq!(host.read(0x1_0002, 5), [bytes[2], 0xAA, 0xBB, 0xCC, bytes[6]]);
    assert!(host.mesh.conditions().is_empty(), "{:?}", host.mesh.conditions());
}

#[test]
fn translated_coordinates_and_both_nocs() {
    let mut chip = ChipConfig::wormhole(true);
    chip.translation = true;
    chip.harvest_row(2);
    let mut host = Host::new(MeshConfig { chips: vec![chip], ..MeshConfig::default() });
    host.write_tile((1, 3), 0x1000, &[1, 2, 3, 4]);
    // Row 2 is harvested, so the second live row is row 3: y 19.
    assert_eq!(host.read_tile((18, 19), 0x1000, 4), [1, 2, 3, 4]);
    host.point_noc1(0, (8, 8), 0);
    assert_eq!(host.read(0x1000, 4), [1, 2, 3, 4]);
    host.point_noc1(0, (18, 19), 0);
    assert_eq!(host.read(0x1000, 4), [1, 2, 3, 4]);
    let logical = host.register((1, 3), 0xFFB2_0138);
    assert_eq!((logical & 63, logical >> 6 & 63), (18, 19));
    assert_eq!(host.register((1, 3), 0xFFB3_002C), 0x0060_A000 | 8 | 8 << 6);
    // The harvested tile's NIU answers, its L1 does not.
    assert_eq!(host.register((1, 2), 0xFFB2_0100) >> 12 & 1, 1);
    // A multicast passes it by.
    host.point_multicast(0, (1, 3), (1, 2), 0);
    host.write(0x1000, &[5; 32]);
    assert_eq!(host.read_tile((1, 3), 0x1000, 32), [5; 32]);
    assert!(host.mesh.conditions().is_empty());
    assert_eq!(host.read_tile((1, 2), 0, 4), [0xFF; 4]);
    assert_eq!(host.mesh.conditions()[0].name, "harvested-tile");
}

/// wormhole.md 1.6: the node id probe confirms the hang.
#[test]
fn a_hang_takes_the_bus() {
    let mut host = Host::n150();
    assert_eq!(host.read32(0x1FF5_002C), 0x1060_A280);
    let before = host.mesh.now();
    assert_eq!(host.register((1, 1), 0xFFB1_1030), u32::MAX);
    assert!(host.mesh.now() - before >= 700_000);
    assert_eq!(host.mesh.conditions()[0].name, "tdma-read-over-noc");
    assert_eq!(host.read32(0x1FF5_002C), u32::MAX);
    assert_eq!(host.read_tile((2, 2), 0, 4), [0xFF; 4]);
    assert_eq!(host.mesh.config_read(0, 0), 0x401E_1E52);
    host.mesh.reset_chip(0);
    assert_eq!(host.read32(0x1FF5_002C), 0x1060_A280);
    assert_eq!(host.read_tile((2, 2), 0, 4), [0; 4]);
}

#[test]
fn dram_is_large_and_shared_by_its_ports() {
    let mut host = Host::n150();
    host.write_tile((0, 0), 0x7FFF_FFF0, &[7; 16]);
    assert_eq!(host.read_tile((0, 11), 0x7FFF_FFF0, 16), [7; 16]);
    assert_eq!(host.read_tile((5, 0), 0x7FFF_FFF0, 16), [0; 16]);
    host.point(0, (0, 0), 0x1_0000_0000);
    assert_eq!(host.read32(0x8_002C), 0x1060_A000);
}

/// wormhole.md 8: message and telemetry, also over the NoC.
#[test]
fn arc_answers() {
    let mut chip = ChipConfig::wormhole(true);
    chip.telemetry = vec![(1, 0x0100_0146), (14, 800)];
    chip.harvest_row(1);
    let mut host = Host::new(MeshConfig { chips: vec![chip], ..MeshConfig::default() });
    assert_eq!(host.arc_message(0x11, 0), (0x11, 0));
    assert_eq!(host.arc_message(0x34, 0), (0x34, 800));
    assert_eq!(host.arc_message(0x57, 0), (0x57, 2));
    assert_eq!(host.arc_message(0xC0, 0).0, u32::MAX);
    let table = host.read32(0x1FF3_01D0) - 0x1000_0000;
    let values = host.read32(0x1FF3_01D4) - 0x1000_0000;
    assert_eq!(host.read32(0x1FE8_0000 + u64::from(table) + 4), 2);
    assert_eq!(host.read32(0x1FE8_0000 + u64::from(table) + 12), 0xE | 1 << 16);
    host.point(0, (0, 10), 0x8_1000_0000);
    assert_eq!(host.read32(u64::from(values) + 4), 800);
    assert_eq!(host.read_bar(4, 0x01F3_0060), 0xC0DE_003F);
}

/// The first reads of tt-umd and luwen from a card's ARC: the legacy table, whose words 4 and 49
/// are the board and the bundle, a heartbeat that advances, and the ARC's NIU among its
/// peripherals, also over the NoC.
#[test]
fn arc_has_the_legacy_table_as_well() {
    let mut chip = ChipConfig::wormhole(true);
    chip.telemetry = vec![(1, 0x0100_0146), (28, 0x1204_0000), (32, 1), (11, 40 << 16)];
    let mut host = Host::new(MeshConfig { chips: vec![chip], ..MeshConfig::default() });
    let (status, table) = host.arc_message(0x2C, 0);
    assert_eq!((status, table >> 28), (0x2C, 1));
    let table = table - 0x1000_0000;
    let mut word = |base: u64, index: u64| {
        host.point(0, (0, 10), base);
        host.read32(u64::from(table) + 4 * index)
    };
    for base in [0x8_1000_0000, 0x8_2000_0000] {
        assert_eq!((word(base, 4), word(base, 49), word(base, 19)), (0x0100_0146, 0x1204_0000, 1));
        // The legacy table has no word for a temperature in these units.
        assert_eq!(word(base, 29), 0);
    }
    host.mesh.clock(250_000_000);
    let values = host.read32(0x1FF3_01D4) - 0x1000_0000;
    assert_eq!(host.read32(0x1FE8_0000 + u64::from(table) + 4 * 19), 3);
    assert_eq!(host.read32(0x1FE8_0000 + u64::from(values) + 4 * 2), 3);
    host.point(0, (0, 10), 0x8_8000_0000);
    assert_eq!(host.read32(0x5_002C), 0x1060_A280);
    assert_eq!(host.read32(0x5_802C), host.read32(0x1FF5_802C));
    assert_eq!(host.mesh.conditions(), []);
}

/// Multicast from a window reaches live Tensix tiles of the rectangle only.
#[test]
fn multicast_windows() {
    let mut host = Host::n150();
    host.point_multicast(0, (4, 7), (7, 5), 0);
    host.write(0x2000, &[9; 32]);
    for (at, expected) in [((4, 5), 9), ((7, 7), 9), ((6, 5), 9), ((8, 5), 0), ((4, 4), 0)] {
        assert_eq!(host.read_tile(at, 0x2000, 32), [expected; 32], "{at:?}");
    }
    // An Ethernet tile and a DRAM port inside the rectangle are unchanged.
    assert_eq!(host.read_tile((4, 6), 0x2000, 1), [0]);
    assert_eq!(host.read_tile((5, 5), 0x2000, 1), [0]);
}

/// wormhole.md 10.6.I.
#[test]
fn streams_count_credits() {
    let mut host = Host::n150();
    let base = 0xFFB4_0000 + 0x1000 * 8;
    host.set_register((1, 1), base + 0x10, 5);
    assert_eq!(host.register((1, 1), base + 0x100), 5);
    for (change, left) in [(3i32, 8), (-2, 6), (2, 8), (-9, 0x1FFFF)] {
        host.set_register((1, 1), base + 0x88, (change << 6) as u32);
        assert_eq!(host.register((1, 1), base + 0x100), left);
    }
}

#[test]
fn odd_accesses_are_refused_and_named() {
    let mut host = Host::n150();
    let check = |host: &mut Host, name: &str| {
        assert_eq!(host.mesh.conditions().last().unwrap().name, name);
        host.mesh.reset_chip(0);
    };
    host.point(0, (1, 1), 0xFFB0_0000);
    host.read(0x2_002C, 8);
    check(&mut host, "register-access-width");
    host.write_tile((1, 1), 0x16_DFFF, &[1, 2]);
    check(&mut host, "unmapped-address");
    host.register((9, 6), 0xFFBA_0000);
    check(&mut host, "mac-pcs-read-over-noc");
    host.read_tile((0, 2), 0, 4);
    check(&mut host, "unmapped-address");
    host.entry(0, 3 << 42);
    host.read(0, 4);
    check(&mut host, "window-ordering");
    host.entry(0, 1 << 44);
    host.read(0, 4);
    check(&mut host, "window-linked");
    host.read(0x1FF7_0000, 4);
    check(&mut host, "arc-peripheral-not-safe");
    host.read(0x1FF3_0328, 4);
    check(&mut host, "arc-reset-unit-hole");
    let mut out = [0; 4];
    host.mesh.bar_read(0, 2, 0, &mut out);
    // The DMA engine's second channel.
    assert_eq!(out, [0xFF; 4]);
    check(&mut host, "register-not-modelled");
    host.mesh.bar_read(7, 0, 0, &mut out);
    check(&mut host, "no-such-device");
    host.mesh.bar_read(0, 0, u64::MAX, &mut out);
    check(&mut host, "outside-the-bar");
    host.mesh.bar_read(0, 0, 0x1FFF_FFFE, &mut out);
    check(&mut host, "outside-the-bar");
    // An access may cross the end of a window into the next one.
    host.point(0, (1, 1), 0);
    host.point(1, (2, 1), 0);
    host.write(0x0F_FFFC, &[1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(host.read_tile((2, 1), 0, 4), [5, 6, 7, 8]);
}
