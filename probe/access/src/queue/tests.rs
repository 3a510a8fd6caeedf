//! The queue against base firmware on the emulator, against a model of every convention that
//! firmware may have, and against what users and links do to it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod accidents;
mod bench;
mod conventions;
mod figures;
mod mix;
mod model;

use super::words::COUNTERS;
use super::*;
use bench::{bench, coord, there};
use layouts::ChipKind;

#[test]
fn the_sizes_of_arrays_here_are_the_layouts() {
    let eth = &ChipKind::Wormhole.layout().eth;
    assert_eq!(eth.routing.block_bytes as usize, BLOCK_BYTES);
    assert_eq!(u64::from(eth.routing.block_align), BLOCK_ALIGN);
    assert_eq!(eth.queue.entry.bytes as usize, words::ENTRY_BYTES);
    assert_eq!(eth.queue.errors.end(), 4 * u64::from(COUNTERS));
    assert_eq!((eth.routing.slots as usize, eth.routing.index_modulus), (SLOTS, 8));
}

#[test]
fn the_verified_command_of_the_reference() {
    let far = Far { coord: coord(1), tile: NocXy { x: 9, y: 0 }, offset: 0x210 };
    let entry = Command::ReadWord(far).entry();
    assert_eq!(entry[..8], 0x0001_0090_0000_0210_u64.to_le_bytes());
    assert_eq!(entry[8..16], [4, 0, 0, 0, 4, 0, 0, 0]);
}

#[test]
fn answers_come_in_order_whatever_slots_they_take() {
    let mut bench = bench();
    for round in 0..9 {
        let at = there(0x2_0000 + 4 * u64::from(round));
        bench.write(at, 0xCAFE_0000 + round).unwrap();
        assert_eq!(bench.read(at), Ok(0xCAFE_0000 + round));
    }
    // Each write moved the requests on and the responses not.
    let queue = &bench.routes[0].queue;
    assert_eq!(queue.commands(), 18);
    assert_eq!((queue.request_write, queue.response_read), (18 % 8, 9 % 8));
}

#[test]
fn blocks_share_their_buffers_without_harm() {
    let mut bench = bench();
    let block = |seed: u8| (0..BLOCK_BYTES).map(|i| seed ^ i as u8).collect::<Vec<u8>>();
    let at = |seed: u8| there(0x2_0000 + u64::from(seed) * BLOCK_BYTES as u64);
    let blocks: Vec<Vec<u8>> = (0..6).map(block).collect();
    let writes: Vec<(Command, &[u8])> = (0..6)
        .map(|seed| (Command::WriteBlock(at(seed), 1024), &*blocks[usize::from(seed)]))
        .collect();
    bench.routes[0].queue.write_all(&mut bench.bus, SLOTS, &writes).unwrap();
    bench.routes[0].queue.flush(&mut bench.bus).unwrap();
    let reads: Vec<Command> = (0..6).map(|seed| Command::ReadBlock(at(seed), 1024)).collect();
    for (read, block) in bench.read_all(&reads).into_iter().zip(&blocks) {
        assert_eq!(&read.unwrap().bytes, block);
    }
}

#[test]
fn four_reads_share_a_doorbell_and_one_bad_one_fails_alone() {
    let mut bench = bench();
    for word in 0..8 {
        bench.write(there(0x2_0000 + 4 * word), 0x100 + word as u32).unwrap();
    }
    let before = bench.routes[0].queue.commands();
    let mut reads: Vec<Command> =
        (0..8).map(|word| Command::ReadWord(there(0x2_0000 + 4 * word))).collect();
    reads[5] = Command::ReadWord(Far { coord: coord(7), ..there(0) });
    let results = bench.read_all(&reads);
    for (word, result) in results.into_iter().enumerate() {
        match result {
            Err(AccessError::QueueError { flags }) if word == 5 => {
                assert_ne!(flags & routing().unreachable, 0);
            }
            other => assert_eq!(other.unwrap().bytes, (0x100 + word as u32).to_le_bytes()),
        }
    }
    assert_eq!(bench.routes[0].queue.commands(), before + 8);
}
