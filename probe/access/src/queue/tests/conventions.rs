//! One convention or accident at a time, on firmware that has just this one.

use super::bench::{E8, E9, PATIENCE, gateway, there};
use super::model::{Conventions, Handle, Model};
use crate::bus::Bus;
use crate::eth_firmware::routing;
use crate::queue::{Command, Far, Gateway, SLOTS, read_all};
use machine::bar::Sharing;
use machine::snapshot::AccessError;
use std::sync::{Arc, Mutex, MutexGuard};

const PLAIN: Conventions = Conventions {
    answers_writes: false,
    two_stage: true,
    takes_early: true,
    at_once: 1,
    echoes: true,
    counts_reads: true,
    waits_for_room: true,
    delay: 300..301,
    unavailable_in: u32::MAX,
};

struct Bench {
    bus: Bus,
    routes: Vec<Gateway>,
    handle: Handle,
}

fn bench(conventions: Conventions) -> Bench {
    let handle = Handle(Arc::new(Mutex::new(Model::new(conventions, 1, &[E8, E9]))));
    let mut bus = Bus::new(Box::new(handle.clone()));
    let routes = vec![gateway(&mut bus, E8)];
    let mut bench = Bench { bus, routes, handle };
    for word in 0..64 {
        bench.model().memory.insert(there(4 * word).address(), 0x5000 + word as u32);
    }
    bench
}

impl Bench {
    fn model(&mut self) -> MutexGuard<'_, Model> {
        self.handle.0.lock().unwrap()
    }

    fn read_words(&mut self, words: std::ops::Range<u64>) -> Vec<Result<u32, AccessError>> {
        let reads: Vec<Command> = words.map(|word| Command::ReadWord(there(4 * word))).collect();
        let results = read_all(&mut self.bus, PATIENCE, &mut self.routes, &reads).reads.into_iter();
        results
            .map(|read| read.map(|read| u32::from_le_bytes(read.bytes.try_into().unwrap())))
            .collect()
    }

    fn write(&mut self, word: u64, value: u32) -> Result<(), AccessError> {
        let write = (Command::WriteWord(there(4 * word), value), [].as_slice());
        self.routes[0].queue.write_all(&mut self.bus, SLOTS, &[write; 9])?;
        self.routes[0].queue.flush(&mut self.bus)
    }
}

fn right(words: std::ops::Range<u32>) -> Vec<Result<u32, AccessError>> {
    words.map(|word| Ok(0x5000 + word)).collect()
}

#[test]
fn two_stage_completion() {
    // The index moves long before data and flags are there, and the slots hold older answers.
    let mut bench = bench(Conventions { delay: 5000..5001, ..PLAIN });
    assert_eq!(bench.read_words(0..20), right(0..20));
    bench.model().conventions.delay = 1..2;
    assert_eq!(bench.read_words(20..40), right(20..40));
    bench.model().conventions.delay = 5000..5001;
    assert_eq!(bench.read_words(40..64), right(40..64));
}

#[test]
fn an_unanswered_write() {
    let mut bench = bench(PLAIN);
    bench.write(3, 7).unwrap();
    assert_eq!(bench.model().carried_out, 9);
    assert_eq!(bench.read_words(2..5), [Ok(0x5002), Ok(7), Ok(0x5004)]);
}

#[test]
fn an_answered_write() {
    let mut bench = bench(Conventions { answers_writes: true, ..PLAIN });
    for value in 0..5 {
        bench.write(3, value).unwrap();
        assert_eq!(bench.read_words(2..5), [Ok(0x5002), Ok(value), Ok(0x5004)]);
    }
    assert_eq!(bench.model().carried_out, 5 * 9);
}

#[test]
fn a_shifted_response_slot() {
    let mut bench = bench(PLAIN);
    // Nine writes and no answer: the answer to request slot 1 comes in slot 0, and so on.
    bench.write(60, 1).unwrap();
    assert_eq!(bench.read_words(0..7), right(0..7));
    bench.write(60, 1).unwrap();
    let queue = &bench.routes[0].queue;
    assert_ne!(queue.request_write & 3, queue.response_read & 3);
    assert_eq!(bench.read_words(7..20), right(7..20));
}

#[test]
fn a_late_answer_is_not_taken_for_the_next() {
    for echoes in [true, false] {
        let mut bench = bench(Conventions { echoes, ..PLAIN });
        assert_eq!(bench.read_words(0..1), right(0..1));
        // The next takes three deadlines; the one after it is quick.
        bench.model().conventions.delay = 900_000..900_001;
        let timeout = AccessError::TimedOut { deadline_cycles: PATIENCE.deadline_cycles };
        assert_eq!(bench.read_words(1..2), [Err(timeout)]);
        bench.model().conventions.delay = 300..301;
        bench.bus.pass(400_000).unwrap();
        assert_eq!(bench.read_words(2..9), right(2..9), "echoes: {echoes}");
    }
}

#[test]
fn an_answer_later_than_all_patience_is_known_by_its_address() {
    let mut bench = bench(Conventions { at_once: 4, ..PLAIN });
    assert_eq!(bench.read_words(0..1), right(0..1));
    bench.model().conventions.delay = 650_000..650_001;
    assert!(bench.read_words(1..2)[0].is_err());
    // A whole deadline of silence more, then the queue is used again; the old answer comes between.
    bench.model().conventions.delay = 300..301;
    for _ in 0..40 {
        let again = bench.read_words(2..9);
        assert!(again == right(2..9) || again.iter().all(Result::is_err), "{again:?}");
    }
    assert_eq!(bench.read_words(2..9), right(2..9));
}

#[test]
fn a_command_that_is_never_answered_fails_within_the_deadline_of_the_chip() {
    let mut bench = bench(PLAIN);
    bench.model().swallow_all();
    let before = bench.bus.now().unwrap();
    assert!(bench.read_words(0..40).iter().all(Result::is_err));
    let waited = bench.bus.now().unwrap() - before;
    assert!(waited <= PATIENCE.deadline_cycles * 11 / 10, "{waited}");
    bench.model().gateways.values_mut().for_each(|firmware| firmware.swallow = 0);
    assert_eq!(bench.read_words(0..40), right(0..40));
}

#[test]
fn blocks_without_a_buffer_are_asked_for_again_and_destinations_are_not() {
    let mut bench = bench(Conventions { unavailable_in: 2, ..PLAIN });
    let reads = [Command::ReadBlock(there(0), 256); 30];
    let results = read_all(&mut bench.bus, PATIENCE, &mut bench.routes, &reads).reads;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert!(bench.routes[0].queue.commands() > 30);
    let before = bench.routes[0].queue.commands();
    let absent = [Command::ReadBlock(Far { coord: super::coord(5), ..there(0) }, 256)];
    let result = read_all(&mut bench.bus, PATIENCE, &mut bench.routes, &absent).reads.remove(0);
    let flags = routing().unreachable | routing().read_data | routing().block;
    assert_eq!(result, Err(AccessError::QueueError { flags }));
    assert_eq!(bench.routes[0].queue.commands(), before + 1);
}

#[test]
fn a_batch_carries_several_commands() {
    let mut bench = bench(Conventions { waits_for_room: false, ..PLAIN });
    assert_eq!(bench.read_words(0..8), right(0..8));
    let (batches, start) = bench.model().spent();
    assert_eq!(bench.read_words(0..64), right(0..64));
    let (more, end) = bench.model().spent();
    let (batches, cycles) = (more - batches, end - start);
    assert!(batches <= 48, "{batches} batches for 64 words");
    // The firmware is busy nearly all the time: 300 cycles of its own for each.
    assert!(cycles < 64 * 360, "{cycles} cycles for 64 words");
}

#[test]
fn the_lock_is_taken_once_for_each_group_and_always_given_back() {
    let mut model = Model::new(PLAIN, 1, &[E8, E9]);
    model.sharing = Sharing::Shared;
    let handle = Handle(Arc::new(Mutex::new(model)));
    let bus = Bus::new(Box::new(handle.clone()));
    let mut access = crate::access::Access::new(bus, PATIENCE);
    let tiles = vec![E8, E9];
    let route = crate::access::Route::Queue { device: 0, tiles, direct: 2, coord: super::coord(1) };
    let tile = there(0).tile;
    access.write(&route, tile, 0x103, &[1, 2, 3]).unwrap();
    assert_eq!(handle.0.lock().unwrap().locks, 1);
    assert_eq!(access.read(&route, tile, 0x102, 5).unwrap().bytes, [0, 1, 2, 3, 0]);
    assert_eq!(handle.0.lock().unwrap().locks, 2);
    handle.0.lock().unwrap().gateways.values_mut().for_each(|firmware| firmware.stopped = true);
    assert!(access.read(&route, tile, 0x100, 4).is_err());
    assert!(access.write(&route, tile, 0x100, &[1]).is_err());
    let model = handle.0.lock().unwrap();
    assert!(!model.held && model.locks == 4);
}
