//! The sequences verified on the vendor's simulator (wormhole.md 10.6), through the C functions.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(unsafe_code, reason = "C functions are called")]

use crate::common;

use common::{BAR0, Client, ENTRIES, whole_n300};

/// Window 0 on tile (9,6), which is E8, at address 0: strict, static VC.
const E8: u64 = 0x0000_2400_0189_0000;
/// The same window on tile (1,1).
const TENSIX: u64 = 0x0000_2400_0041_0000;

fn client() -> Client {
    Client::on(&whole_n300())
}

#[test]
fn a_an_erisc_word() {
    let client = client();
    client.entry(0, E8);
    assert_eq!(client.word(BAR0 + 0x210), 0x0006_E000);
    client.entry(0, 0x0000_2400_0189_0FFB);
    assert_eq!(client.word(BAR0 + 0x2_002C), 0x1060_A189);
}

#[test]
fn b_a_tensix_round_trip_through_each_kind_of_window() {
    let client = client();
    let windows = [(0u64, 20u32), (156, 21), (166, 24), (184, 24), (185, 24)];
    for (round, (index, shift)) in windows.into_iter().enumerate() {
        // The coordinates are above as many bits as the page number has.
        client.entry(index, (1 | 1 << 6 | 1 << 26 | 1 << 29) << (36 - shift));
        let base = BAR0
            + match shift {
                20 => index << 20,
                21 => 0x09C0_0000 + ((index - 156) << 21),
                _ => 0x0B00_0000 + ((index - 166) << 24),
            };
        let bytes: Vec<u8> = (0..64).map(|byte| byte ^ round as u8).collect();
        client.write(base + 0x1_0000, &bytes);
        assert_eq!(client.read(base + 0x1_0000, 64), bytes, "window {index}");
        client.write(base + 0x1_0003, &[0xAA; 3]);
        let around = [&bytes[..3], &[0xAA; 3], &bytes[6..]].concat();
        assert_eq!(client.read(base + 0x1_0000, 64), around, "window {index}");
    }
    // Two 32-bit writes make an entry as well; (18,18) is the same tile, translated.
    let translated = (0x12_u64 | 0x12 << 6 | 1 << 26 | 1 << 29) << 16;
    client.set_word(ENTRIES, translated as u32);
    client.set_word(ENTRIES + 4, (translated >> 32) as u32);
    assert_eq!(client.read(BAR0 + 0x1_0003, 3), [0xAA; 3]);
}

/// Posts a request in the slot and waits until it is taken and the response index is `answered`.
/// The flags of a response are written after its index (wormhole.md 6.4).
fn request(client: &Client, slot: u64, address: u64, data: u32, flags: u32, answered: u32) {
    let mut entry = [0; 32];
    entry[..8].copy_from_slice(&address.to_le_bytes());
    entry[8..12].copy_from_slice(&data.to_le_bytes());
    entry[12..16].copy_from_slice(&flags.to_le_bytes());
    client.write(BAR0 + 0x110C0 + 32 * slot, &entry);
    let write_index = client.word(BAR0 + 0x110A0);
    client.set_word(BAR0 + 0x110A0, (write_index + 1) % 8);
    for _ in 0..10_000 {
        let taken = client.word(BAR0 + 0x110B0) == (write_index + 1) % 8;
        let newest = BAR0 + 0x11240 + 32 * u64::from(answered - 1);
        if taken && client.word(BAR0 + 0x11220) == answered && client.word(newest + 12) != 0 {
            return;
        }
        client.clock(10);
    }
    panic!("request {slot} was not served");
}

#[test]
fn c_and_d_words_of_the_remote_chip() {
    let client = client();
    client.entry(0, E8);
    for index in [0x110A0, 0x110B0, 0x11220, 0x11230] {
        assert_eq!(client.word(BAR0 + index), 0, "{index:#x}");
    }
    // Tile (9,0) of the chip at (1,0).
    request(&client, 0, 0x0001_0090_0000_0210, 4, 4, 1);
    assert_eq!(client.word(BAR0 + 0x11240 + 8), 0x0006_E000);
    assert_eq!(client.word(BAR0 + 0x11240 + 12), 8);
    client.set_word(BAR0 + 0x11230, 1);
    request(&client, 1, 0x0001_0410_FFB2_002C, 4, 4, 2);
    assert_eq!(client.word(BAR0 + 0x11260 + 8), 0x1060_A041);
    client.set_word(BAR0 + 0x11230, 2);
    // A write has no response, so the next response is in another slot than its request.
    request(&client, 2, 0x0001_0410_0002_0000, 0xCAFE_F00D, 1, 2);
    for _ in 0..10_000 {
        if client.word(BAR0 + 0x11080) == client.word(BAR0 + 0x11084) {
            break;
        }
        client.clock(10);
    }
    assert_eq!((client.word(BAR0 + 0x11080), client.word(BAR0 + 0x11084)), (1, 1));
    request(&client, 3, 0x0001_0410_0002_0000, 4, 4, 3);
    assert_eq!(client.word(BAR0 + 0x11288), 0xCAFE_F00D);
    assert_eq!(client.word(BAR0 + 0x1128C), 8);
}

#[test]
fn g_an_ethernet_tile_in_reset_stops_its_queue_and_continues_later() {
    let client = client();
    client.entry(1, E8 | 0xFFB);
    client.entry(0, E8);
    let reset = BAR0 + 0x10_0000 + 0x1_21B0;
    client.set_word(reset, 0x800);
    let heartbeat = client.word(BAR0 + 0x1C);
    client.clock(100_000);
    assert_eq!(client.word(BAR0 + 0x1C), heartbeat);
    client.set_word(reset, 0);
    client.clock(400_000);
    assert_ne!(client.word(BAR0 + 0x1C), heartbeat);
}

/// Four instructions in a loop: `addi t0, t0, 1`, `sw t0, 0x100(zero)`, `nop`, `jal` back.
#[test]
fn h_brisc_runs_what_it_finds_at_0() {
    let client = client();
    client.entry(0, TENSIX);
    client.entry(1, TENSIX | 0xFFB);
    let program = [0x0012_8293_u32, 0x1050_2023, 0x0000_0013, 0xFF5F_F06F];
    client.write(BAR0, &program.map(u32::to_le_bytes).concat());
    let reset = BAR0 + 0x10_0000 + 0x1_21B0;
    assert_eq!(client.word(reset), 0x4_7800);
    client.set_word(reset, 0x4_7000);
    client.clock(10_000);
    let rounds = client.word(BAR0 + 0x100);
    assert!(rounds > 500, "{rounds}");
    client.set_word(reset, 0x4_7800);
    // The core's last store is still in flight.
    client.clock(100);
    let stopped = client.word(BAR0 + 0x100);
    client.clock(10_000);
    assert_eq!(client.word(BAR0 + 0x100), stopped);
}
