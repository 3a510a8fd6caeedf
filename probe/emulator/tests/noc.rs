//! The NIUs: what command buffers send, and the values of their counters.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use common::Host;

const NIU: u32 = 0xFFB2_0000;

/// Fills command buffer 0 of a tile and starts it: TARG lo/mid, RET lo/mid, tag, ctrl, length,
/// data.
fn command(host: &mut Host, tile: (u8, u8), base: u32, words: [u32; 8]) {
    for (offset, word) in [0x00, 0x04, 0x0C, 0x10, 0x18, 0x1C, 0x20, 0x24].into_iter().zip(words) {
        host.set_register(tile, base + offset, word);
    }
    host.set_register(tile, base + 0x28, 1);
    host.mesh.clock(1000);
    assert_eq!(host.register(tile, base + 0x28), 0);
}

fn mid((x, y): (u32, u32)) -> u32 {
    x << 4 | y << 10
}

fn counter(host: &mut Host, tile: (u8, u8), index: u32) -> u32 {
    host.register(tile, NIU + 0x200 + 4 * index)
}

fn word(host: &mut Host, tile: (u8, u8), addr: u64) -> u32 {
    u32::from_le_bytes(host.read_tile(tile, addr, 4).try_into().unwrap())
}

/// wormhole.md 10.6.I, with the counters that the vendor's simulator lacks.
#[test]
fn read_write_and_their_counters() {
    let mut host = Host::n150();
    let bytes: Vec<u8> = (0..200u8).collect();
    host.write_tile((2, 2), 0x3_0000, &bytes);
    let own = mid((1, 1));
    command(
        &mut host,
        (1, 1),
        NIU + 0x400,
        [0x3_0000, mid((2, 2)), 0x1000, own, 0, 0x2090, 100, 0],
    );
    assert_eq!(host.read_tile((1, 1), 0x1000, 101)[..100], bytes[..100]);
    for (index, expected) in [(2, 1), (3, 4), (4, 1), (5, 1), (0xE, 1), (0x10, 0)] {
        assert_eq!(counter(&mut host, (1, 1), index), expected, "counter {index:#x}");
    }
    for (index, expected) in [(0x32, 1), (0x33, 4), (0x34, 1), (0x35, 1)] {
        assert_eq!(counter(&mut host, (2, 2), index), expected, "counter {index:#x}");
    }
    // A write with acknowledgement, a posted one, and an inline one.
    command(&mut host, (1, 1), NIU, [0x1000, own, 0x4_0000, mid((3, 3)), 3 << 10, 0x12, 64, 0]);
    command(&mut host, (1, 1), NIU, [0x1000, own, 0x4_0040, mid((3, 3)), 0, 0x02, 64, 0]);
    command(&mut host, (1, 1), NIU + 0x800, [0x4_0090, mid((3, 3)), 0, 0, 0, 0x1A, 0xF, 0xCAFE]);
    assert_eq!(host.read_tile((3, 3), 0x4_0000, 64), bytes[..64]);
    assert_eq!(host.read_tile((3, 3), 0x4_0040, 64), bytes[..64]);
    assert_eq!(word(&mut host, (3, 3), 0x4_0090), 0xCAFE);
    for (index, expected) in
        [(1, 2), (8, 2), (9, 2), (0xA, 2), (0xB, 1), (0xC, 2), (0xD, 1), (0x13, 0), (0x20, 0)]
    {
        assert_eq!(counter(&mut host, (1, 1), index), expected, "counter {index:#x}");
    }
    for (index, expected) in [(0x31, 2), (0x38, 3), (0x39, 2), (0x3A, 2), (0x3B, 1)] {
        assert_eq!(counter(&mut host, (3, 3), index), expected, "counter {index:#x}");
    }
    assert!(host.mesh.conditions().is_empty(), "{:?}", host.mesh.conditions());
}

/// wormhole.md 10.6.I: +7 on 100; the request, not the address, selects the word.
#[test]
fn atomics() {
    let mut host = Host::n150();
    host.write_tile((2, 2), 0x3_0000, &100u32.to_le_bytes());
    let own = mid((1, 1));
    command(&mut host, (1, 1), NIU + 0xC00, [0x3_0000, mid((2, 2)), 4, own, 0, 0x11, 0x107C, 7]);
    assert_eq!(word(&mut host, (2, 2), 0x3_0000), 107);
    assert_eq!(word(&mut host, (1, 1), 4), 100);
    assert_eq!((counter(&mut host, (1, 1), 0), counter(&mut host, (1, 1), 6)), (1, 1));
    command(
        &mut host,
        (1, 1),
        NIU + 0xC00,
        [0x3_0000, mid((2, 2)), 4, own, 0, 0x01, 0x107C, u32::MAX],
    );
    assert_eq!(word(&mut host, (2, 2), 0x3_0000), 106);
    assert_eq!((counter(&mut host, (1, 1), 0), counter(&mut host, (1, 1), 7)), (1, 1));
}

/// wormhole.md 10.6.I: (1,1) to (4,3) from (1,1), 11 acknowledgements, the id's count left at 246.
#[test]
fn multicast_underflows_the_outstanding_count() {
    let mut host = Host::n150();
    host.write_tile((1, 1), 0x5000, &[0x5A; 16]);
    let own = mid((1, 1));
    let rectangle = mid((4, 3)) | 1 << 16 | 1 << 22;
    command(&mut host, (1, 1), NIU, [0x5000, own, 0x6000, rectangle, 0, 0x132, 16, 0]);
    assert_eq!(counter(&mut host, (1, 1), 1), 11);
    assert_eq!(counter(&mut host, (1, 1), 0xA), 1);
    assert_eq!(counter(&mut host, (1, 1), 0x10), 246);
    assert_eq!(host.read_tile((4, 3), 0x6000, 16), [0x5A; 16]);
    assert_eq!(host.read_tile((1, 1), 0x6000, 16), [0; 16]);
    host.set_register((1, 1), NIU + 0x50, 1);
    assert_eq!(counter(&mut host, (1, 1), 0x10), 0);
    // Wrapping round the torus, with the sender inside and included: 8 of 9 and 1 of 8 columns, 2
    // rows.
    let wrapping = mid((1, 2)) | 9 << 16 | 1 << 22;
    command(&mut host, (1, 1), NIU, [0x5000, own, 0x7000, wrapping, 0, 0x132 | 1 << 17, 16, 0]);
    assert_eq!(counter(&mut host, (1, 1), 1), 11 + 4);
    assert_eq!(host.read_tile((9, 2), 0x7000, 16), [0x5A; 16]);
    assert_eq!(host.read_tile((1, 1), 0x7000, 16), [0x5A; 16]);
    assert_eq!(host.read_tile((2, 1), 0x7000, 16), [0; 16]);
}

/// Requests longer than a packet: hardware splits them and counts each part.
#[test]
fn long_requests_are_split() {
    let mut host = Host::n150();
    let bytes: Vec<u8> = (0..20_000u32).map(|i| (i % 251) as u8).collect();
    host.write_tile((1, 1), 0x1_0000, &bytes);
    let own = mid((1, 1));
    command(&mut host, (1, 1), NIU, [0x1_0000, own, 0x2_0000, mid((9, 11)), 0, 0x12, 20_000, 0]);
    assert_eq!(host.read_tile((9, 11), 0x2_0000, 20_000), bytes);
    assert_eq!((counter(&mut host, (1, 1), 0xA), counter(&mut host, (1, 1), 1)), (3, 3));
    command(&mut host, (1, 1), NIU, [0x2_0000, mid((9, 11)), 0x4_0000, own, 0, 0x2090, 20_000, 0]);
    assert_eq!(host.read_tile((1, 1), 0x4_0000, 20_000), bytes);
    assert_eq!((counter(&mut host, (1, 1), 2), counter(&mut host, (1, 1), 0x10)), (3, 0));
}

/// NOC 1 numbers tiles from the opposite corner. With translation both NoCs agree, and the fields
/// hold physical coordinates.
#[test]
fn noc_1_and_translation() {
    let mut config = emulator::MeshConfig::n300();
    config.chips[0].translation = true;
    let mut host = Host::new(config);
    host.write_tile((1, 1), 0x1000, &[1, 2, 3, 4]);
    let niu1 = NIU + 0x1_0000;
    command(&mut host, (1, 1), niu1, [0x1000, mid((8, 10)), 0x2000, mid((0, 0)), 0, 0x12, 4, 0]);
    assert_eq!(host.read_tile((9, 11), 0x2000, 4), [1, 2, 3, 4]);
    command(&mut host, (1, 1), niu1, [0x1000, mid((18, 18)), 0x3000, mid((25, 27)), 0, 0x12, 4, 0]);
    assert_eq!(host.read_tile((9, 11), 0x3000, 4), [1, 2, 3, 4]);
    assert_eq!(host.register((1, 1), niu1 + 0x10), mid((0, 0)));
    assert_eq!(host.register((1, 1), niu1 + 0x204), 2);
}

/// Addresses must agree modulo 16: silicon would deliver wrong bytes, so the requesting core stops.
#[test]
fn misaligned_requests_are_refused() {
    let mut host = Host::n150();
    let own = mid((1, 1));
    let start = |host: &mut Host, words: [u32; 8]| {
        for (offset, word) in
            [0x00, 0x04, 0x0C, 0x10, 0x18, 0x1C, 0x20, 0x24].into_iter().zip(words)
        {
            host.set_register((1, 1), NIU + offset, word);
        }
        host.set_register((1, 1), NIU + 0x28, 1);
        host.mesh.clock(1000);
        host.mesh.conditions().last().map(|condition| condition.name)
    };
    let bad = start(&mut host, [0x1000, own, 0x2004, mid((2, 2)), 0, 0x12, 16, 0]);
    assert_eq!(bad, Some("noc-alignment"));
    let bad = start(&mut host, [0x1010, mid((0, 0)), 0x2000, own, 0, 0x2090, 16, 0]);
    assert_eq!(bad, Some("dram-read-alignment"));
    let good = start(&mut host, [0xFFB2_002C, mid((2, 2)), 0x2000, own, 0, 0x2090, 4, 0]);
    assert_eq!(good, bad);
    assert_eq!(word(&mut host, (1, 1), 0x2000), 0x1060_A082);
}

/// DRAM answers through either port. A request to a tile that does not exist is never answered and
/// remains in the counters.
#[test]
fn dram_and_nowhere() {
    let mut host = Host::n150();
    let own = mid((9, 6));
    host.write_tile((5, 3), 0x1000, &[7; 64]);
    command(&mut host, (9, 6), NIU, [0x1000, mid((5, 8)), 0x2000, own, 0, 0x2090, 64, 0]);
    assert_eq!(host.read_tile((9, 6), 0x2000, 64), [7; 64]);
    command(&mut host, (9, 6), NIU, [0x1000, mid((12, 3)), 0x2000, own, 0, 0x2090, 64, 0]);
    assert_eq!((counter(&mut host, (9, 6), 5), counter(&mut host, (9, 6), 2)), (2, 1));
    assert_eq!(counter(&mut host, (9, 6), 0x10), 1);
    assert_eq!(host.mesh.conditions()[0].name, "no-such-tile");
    command(&mut host, (9, 6), NIU, [0x1000, mid((0, 2)), 0x2000, own, 0, 0x2090, 64, 0]);
    assert_eq!(host.mesh.conditions()[1].name, "unmapped-address");
    assert_eq!(host.mesh.conditions()[1].tile, Some((0, 2)));
}
