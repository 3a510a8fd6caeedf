//! Requests of the routing queue whose data stand in host memory, and broadcasts.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(unsafe_code, reason = "C functions are called")]

use crate::common::{BAR0, Client};
use std::ffi::c_void;
use std::sync::Mutex;

/// Window 0 on 9-6 (E8), at address 0.
const E8: u64 = 0x0000_2400_0189_0000;
/// Window 0 on 2-2, at address 0.
const TENSIX: u64 = 0x0000_2400_0082_0000;
/// Entries of requests and responses, and the indices, in the window (wormhole.md 6.2).
const REQUESTS: u64 = BAR0 + 0x110C0;
const RESPONSES: u64 = BAR0 + 0x11240;
const REQUEST_WRITE: u64 = BAR0 + 0x110A0;
const REQUEST_READ: u64 = BAR0 + 0x110B0;
const RESPONSE_WRITE: u64 = BAR0 + 0x11220;
const RESPONSE_READ: u64 = BAR0 + 0x11230;
/// Flags of a request.
const WRITE: u32 = 0x1;
const READ: u32 = 0x4;
const DRAM_BLOCK: u32 = 0x50;
const BROADCAST: u32 = 0x80;

static MEMORY: Mutex<[u8; 8192]> = Mutex::new([0; 8192]);

extern "C" fn dma_read(address: u64, bytes: *mut c_void, size: u32) {
    // SAFETY: the library provides room for that many bytes.
    let out = unsafe { std::slice::from_raw_parts_mut(bytes.cast::<u8>(), size as usize) };
    out.copy_from_slice(&MEMORY.lock().unwrap()[address as usize..][..size as usize]);
}

extern "C" fn dma_write(address: u64, bytes: *const c_void, size: u32) {
    // SAFETY: the library provides that many bytes.
    let data = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), size as usize) };
    MEMORY.lock().unwrap()[address as usize..][..size as usize].copy_from_slice(data);
}

/// Carries out a request for a tile of a chip of shelf 0 and returns the flags and the value of its
/// response, if it has one.
fn request(
    client: &Client,
    ([chip, x, y], address): ([u32; 3], u32),
    (flags, bytes, host_address): (u32, u32, u32),
) -> Option<(u32, u32)> {
    client.entry(0, E8);
    let index = client.word(REQUEST_WRITE);
    let high = x << 4 | y << 10 | chip << 16;
    let words = [address, high, bytes, flags, 0, 0, 0, host_address];
    let entry: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    client.write(REQUESTS + 32 * u64::from(index & 3), &entry);
    client.set_word(REQUEST_WRITE, (index + 1) & 7);
    for _ in 0..3_000 {
        client.clock(1_000);
        let (written, read) = (client.word(RESPONSE_WRITE), client.word(RESPONSE_READ));
        let response = RESPONSES + 32 * u64::from(read & 3);
        let answer = client.word(response + 12);
        if flags & READ != 0 && written != read && answer != 0 {
            client.set_word(RESPONSE_READ, (read + 1) & 7);
            return Some((answer, client.word(response + 8)));
        }
        if flags & READ == 0 && client.word(REQUEST_READ) == (index + 1) & 7 {
            return None;
        }
    }
    panic!("the request is not carried out");
}

#[test]
fn blocks_in_host_memory_are_written_and_read() {
    let client = Client::on("n300");
    client.clock(100_000);
    client.host_memory(Some(dma_read), Some(dma_write));
    let pattern: Vec<u8> = (0..3_000_u32).map(|n| (n * 7) as u8).collect();
    MEMORY.lock().unwrap()[0x100..][..3_000].copy_from_slice(&pattern);
    for (chip, tile) in [(0, [0, 2, 2]), (1, [1, 2, 2])] {
        let place = (tile, 0x2_0000);
        assert_eq!(request(&client, place, (WRITE | DRAM_BLOCK, 3_000, 0x100)), None);
        MEMORY.lock().unwrap()[0x1000..][..3_000].fill(0);
        let answer = request(&client, place, (READ | DRAM_BLOCK, 3_000, 0x1000)).unwrap();
        assert_eq!(answer.0, 0x58, "chip {chip}");
        assert_eq!(MEMORY.lock().unwrap()[0x1000..][..3_000], pattern, "chip {chip}");
    }
    // Not a multiple of four, and no address of a block.
    for (address, bytes) in [(0x2_0000, 3_001), (0x2_0004, 64), (0x2_0000, 0)] {
        let read = (READ | DRAM_BLOCK, bytes, 0x1000);
        let (flags, _) = request(&client, ([1, 2, 2], address), read).unwrap();
        assert!(flags >> 30 != 0, "{bytes} bytes at {address:#x}: {flags:#x}");
    }
    client.host_memory(None, None);
}

#[test]
fn a_broadcast_reaches_the_tiles_and_chips_that_are_not_excluded() {
    let client = Client::on("n300");
    client.clock(100_000);
    client.host_memory(Some(dma_read), Some(dma_write));
    let broadcast_to = |tiles: u32, chips: u32, value: u32| {
        let header = [!1, !0, !0, !chips, tiles, 0, 0, 0, value, !value, value + 1];
        let bytes: Vec<u8> = header.into_iter().flat_map(u32::to_le_bytes).collect();
        MEMORY.lock().unwrap()[0x100..][..bytes.len()].copy_from_slice(&bytes);
        let words = (WRITE | DRAM_BLOCK | BROADCAST, bytes.len() as u32, 0x100);
        assert_eq!(request(&client, ([0, 0, 0], 0x2_0010), words), None);
    };
    // Rows 10 and 11, in which all tiles that were not fused off are counted, are excluded.
    let tiles = 1 << 0 | 1 << 6 | 3 << 10 | 1 << 15 | (1 << 0 | 1 << 5) << 16;
    let broadcast = |chips, value| broadcast_to(tiles, chips, value);
    let word = |tile, address| request(&client, (tile, address), (READ, 4, 0)).unwrap().1;
    let both = |address| [word([0, 2, 2], address), word([1, 2, 2], address)];
    broadcast(1 << 0 | 1 << 8, 0x600D);
    assert_eq!(both(0x2_0010), [0x600D; 2]);
    assert_eq!((both(0x2_0014), both(0x2_0018)), ([!0x600D; 2], [0x600E; 2]));
    assert_eq!((both(0x2_000C), both(0x2_001C)), ([0; 2], [0; 2]), "nothing else");
    assert_eq!(word([1, 9, 6], 0x2_0010), 0, "Ethernet tiles are excluded");
    // Rows 1 and 8 of the first chip and 5 and 11 of the second one are fused off.
    let last = || [word([0, 2, 11], 0x2_0010), word([1, 2, 10], 0x2_0010)];
    assert_eq!(last(), [0x600D; 2], "the last rows that are not fused off");
    broadcast_to(tiles & !(1 << 15), 1 << 0 | 1 << 8, 0xBAD);
    assert_eq!(last(), [0x600D; 2], "rows of NoC 0 are excluded");
    broadcast(1 << 0 | 1 << 8, 0x600D);
    broadcast(1 << 8, 0xFA7);
    assert_eq!(both(0x2_0010), [0x600D, 0xFA7], "the first chip is excluded");
    client.entry(0, TENSIX);
    assert_eq!(client.word(BAR0 + 0x2_0010), 0x600D);
    client.host_memory(None, None);
}
