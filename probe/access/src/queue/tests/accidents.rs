//! What users, links and other clients do to the queue of an emulated n300.

use super::bench::{Bench, E9, PATIENCE, bench, coord, gateway, there};
use crate::eth_firmware::routing;
use crate::queue::{BLOCK_BYTES, Command, Far};
use layouts::NocXy;
use machine::snapshot::AccessError;

const TIMEOUT: AccessError = AccessError::TimedOut { deadline_cycles: PATIENCE.deadline_cycles };

#[test]
fn an_absent_chip_is_an_error_and_the_queue_stays_in_step() {
    let mut bench = bench();
    let nowhere = Far { coord: coord(7), ..there(0) };
    let Err(AccessError::QueueError { flags }) = bench.read(nowhere) else { panic!() };
    assert_eq!(flags, routing().unreachable | routing().read_data);
    let written = bench.write(nowhere, 1);
    assert!(matches!(written, Err(AccessError::Unreachable(_))), "{written:?}");
    bench.write(there(0x2_0000), 5).unwrap();
    assert_eq!(bench.read(there(0x2_0000)), Ok(5));
}

#[test]
fn an_absent_chip_is_given_up_after_three_tiles() {
    let mut bench = bench();
    let reads: Vec<Command> = (1..=9)
        .flat_map(|x| (0..9).map(move |word| (x, 4 * word)))
        .map(|(x, offset)| {
            Command::ReadWord(Far { coord: coord(7), tile: NocXy { x, y: 2 }, offset })
        })
        .collect();
    let before = bench.routes[0].queue.commands();
    for result in bench.read_all(&reads) {
        assert!(matches!(result, Err(AccessError::QueueError { .. })), "{result:?}");
    }
    // Two tiles of nine words each, the first of the third, and what was under way with it.
    assert!(bench.routes[0].queue.commands() - before <= 2 * 9 + 1 + 4);
    bench.write(there(0x2_0000), 6).unwrap();
    assert_eq!(bench.read(there(0x2_0000)), Ok(6));
}

/// A client posts requests and dies at once or some time later.
fn a_client_dies(bench: &mut Bench, reads: &[Command], later: u64) {
    let queue = &mut bench.routes[0].queue;
    queue.ready(&mut bench.bus).unwrap();
    let batch = bench.bus.batch();
    let posted = queue.post(batch, reads.iter().map(|read| (read, [].as_slice())));
    posted.run().end().unwrap();
    bench.bus.pass(later).unwrap();
    bench.another_client();
}

#[test]
fn a_queue_left_dirty_by_a_killed_client_is_cleaned() {
    let mut bench = bench();
    bench.write(there(0x2_0000), 11).unwrap();
    bench.write(there(0x2_0004), 22).unwrap();
    let reads = [Command::ReadWord(there(0x2_0000)), Command::ReadBlock(there(0x2_0000), 1024)];
    let reads = [reads[0], reads[1], reads[0], reads[1]];
    for later in [1, 300, 1500, 3000, 20_000] {
        for count in 1..=reads.len() {
            a_client_dies(&mut bench, &reads[..count], later);
            for _ in 0..5 {
                assert_eq!(bench.read(there(0x2_0004)), Ok(22), "{count} reads, {later} cycles");
            }
        }
    }
}

#[test]
fn an_entry_without_its_doorbell_is_never_carried_out() {
    let mut bench = bench();
    bench.write(there(0x2_0000), 1).unwrap();
    // Killed between the entry and the doorbell: entries everywhere, indices as they were.
    let entry = Command::WriteWord(there(0x2_0000), 0xBAD).entry();
    for slot in 0..4 {
        for (word, bytes) in (0..).zip(entry.chunks_exact(4)) {
            let value = u32::from_le_bytes(bytes.try_into().unwrap());
            bench.poke(0x110C0 + 32 * slot + 4 * word, value);
        }
    }
    bench.another_client();
    for _ in 0..5 {
        assert_eq!(bench.read(there(0x2_0000)), Ok(1));
    }
}

#[test]
fn a_gateway_in_reset_times_out_and_its_late_answer_is_not_taken() {
    let mut bench = bench();
    bench.write(there(0x2_0000), 1).unwrap();
    bench.write(there(0x2_0004), 2).unwrap();
    bench.hold_gateway(true);
    assert_eq!(bench.read(there(0x2_0000)), Err(TIMEOUT));
    // Again: what was asked first may still be answered.
    assert_eq!(bench.read(there(0x2_0004)), Err(TIMEOUT));
    bench.hold_gateway(false);
    for _ in 0..5 {
        assert_eq!(bench.read(there(0x2_0004)), Ok(2));
    }
}

#[test]
fn reads_that_a_reset_cut_off_are_forgotten_in_time() {
    let mut bench = bench();
    bench.write(there(0x2_0000), 1).unwrap();
    let reads = [Command::ReadBlock(there(0x2_0000), 1024); 4];
    for later in [0, 200, 700, 1500] {
        a_client_dies(&mut bench, &reads, later);
        bench.hold_gateway(true);
        bench.bus.pass(10_000).unwrap();
        bench.hold_gateway(false);
        // The room that the lost answers take is freed one deadline later.
        let first = bench.read(there(0x2_0000));
        assert!(first == Ok(1) || first == Err(TIMEOUT), "{first:?} after {later} cycles");
        for _ in 0..5 {
            assert_eq!(bench.read(there(0x2_0000)), Ok(1), "after {later} cycles");
        }
    }
}

#[test]
fn a_gateway_that_hangs_hands_its_reads_to_the_next() {
    let mut bench = bench();
    let second = gateway(&mut bench.bus, E9);
    bench.routes.push(second);
    for word in 0..40 {
        bench.write(there(0x2_0000 + 4 * word), word as u32).unwrap();
    }
    bench.hold_gateway(true);
    let reads: Vec<Command> =
        (0..40).map(|word| Command::ReadWord(there(0x2_0000 + 4 * word))).collect();
    let before = bench.bus.now().unwrap();
    for (word, read) in (0..).zip(bench.read_all(&reads)) {
        assert_eq!(read.unwrap().bytes, u32::to_le_bytes(word));
    }
    let waited = bench.bus.now().unwrap() - before;
    assert!(waited < 2 * PATIENCE.deadline_cycles, "{waited}");
    // The next look goes through the other at once.
    let before = bench.bus.now().unwrap();
    assert!(bench.read_all(&reads).iter().all(Result::is_ok));
    let waited = bench.bus.now().unwrap() - before;
    assert!(waited < PATIENCE.deadline_cycles, "{waited}");
}

fn sixteen_blocks() -> Vec<Command> {
    (0..16).map(|at| Command::ReadBlock(there(0x2_0000 + at * 1024), 1024)).collect()
}

#[test]
fn a_link_that_dies_during_a_block_read_is_told_in_time() {
    for later in [0, 500, 1000, 2000, 4000] {
        let mut bench = bench();
        // Four blocks are under way when both links go.
        a_client_dies(&mut bench, &sixteen_blocks()[..4], later);
        bench.link(0, false);
        bench.link(1, false);
        let before = bench.bus.now().unwrap();
        let results = bench.read_all(&sixteen_blocks());
        assert!(results.iter().all(Result::is_err), "{results:?}");
        let waited = bench.bus.now().unwrap() - before;
        assert!(waited < 4 * PATIENCE.deadline_cycles, "{waited} after {later} cycles");
    }
}

#[test]
fn the_other_link_brings_what_a_dying_one_does_not() {
    for later in [0, 500, 1000, 2000, 4000] {
        let mut bench = bench();
        let second = gateway(&mut bench.bus, E9);
        bench.routes.push(second);
        for at in 0..16 {
            bench.write(there(0x2_0000 + at * 1024), 44 + at as u32).unwrap();
        }
        a_client_dies(&mut bench, &sixteen_blocks()[..4], later);
        bench.link(0, false);
        // Blocks that the dead link was to bring are said to be unreachable, and come the next time.
        let first = bench.read_all(&sixteen_blocks());
        assert!(first.iter().filter(|read| read.is_ok()).count() >= 8, "{first:?}");
        bench.routes.remove(0);
        for (at, block) in (44..).zip(bench.read_all(&sixteen_blocks())) {
            let block = block.unwrap();
            assert_eq!((block.bytes.len(), block.bytes[0]), (BLOCK_BYTES, at));
        }
    }
}

#[test]
fn a_tile_without_firmware_is_said_at_once() {
    let mut bench = bench();
    // All ones are what a dead tile answers.
    bench.hold_gateway(true);
    bench.poke(0x110A0, u32::MAX);
    let before = bench.bus.now().unwrap();
    let Err(AccessError::Unreachable(words)) = bench.read(there(0)) else { panic!() };
    assert_eq!(words, "0xffffffff at tile 9-6 is no queue index");
    assert!(bench.bus.now().unwrap() - before < PATIENCE.deadline_cycles);
}
