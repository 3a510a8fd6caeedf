//! The queue against base firmware on the emulator, and against what users and links do to it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::words::INDICES_WORDS;
use super::*;
use crate::bar::{Bar, BarOp};
use crate::emulator_bar::EmulatorBar;
use crate::images::ImageMap;
use crate::scene::Scene;
use layouts::ChipCoord;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn the_sizes_of_arrays_here_are_the_layouts() {
    let eth = &wormhole().eth;
    assert_eq!(eth.routing.block_bytes as usize, BLOCK_BYTES);
    assert_eq!(u64::from(eth.routing.block_align), BLOCK_ALIGN);
    assert_eq!(eth.queue.entry.bytes as usize, ENTRY_BYTES);
    assert_eq!(eth.queue.read_index.end() as usize, 4 * INDICES_WORDS);
    assert_eq!((eth.routing.slots, eth.routing.index_modulus), (4, 8));
}

#[test]
fn the_verified_command_of_the_reference() {
    let far = Far { coord: coord(1), tile: NocXy { x: 9, y: 0 }, offset: 0x210 };
    let entry = far.entry(4, routing().read_request);
    assert_eq!(entry[..8], 0x0001_0090_0000_0210_u64.to_le_bytes());
    assert_eq!(entry[8..16], [4, 0, 0, 0, 4, 0, 0, 0]);
}

const E8: NocXy = NocXy { x: 9, y: 6 };
const PATIENCE: Patience = Patience {
    deadline_cycles: 300_000,
    chip_cycles: 300_000_000,
    watchdog: Duration::from_mins(1),
};

fn coord(x: u8) -> ChipCoord {
    ChipCoord { x, y: 0, rack: 0, shelf: 0 }
}

fn there(offset: u64) -> Far {
    Far { coord: coord(1), tile: NocXy { x: 2, y: 2 }, offset }
}

/// The emulated mesh with a second handle for what no bus does.
struct Shared(Arc<Mutex<EmulatorBar>>);

impl Bar for Shared {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        self.0.lock().unwrap().submit(batch, answer)
    }
}

struct Bench {
    bus: Bus,
    queue: Queue,
    machine: Arc<Mutex<EmulatorBar>>,
}

/// An n300 whose links are up, and the queue of chip 0 e8.
fn bench() -> Bench {
    let (images, _) = ImageMap::firmware();
    let mesh = Scene::new("n300").power_on(&images).unwrap();
    let machine = Arc::new(Mutex::new(EmulatorBar::new(mesh)));
    let mut bus = Bus::new(Box::new(Shared(Arc::clone(&machine))));
    bus.pass(200_000).unwrap();
    let queue = Queue::find(&mut bus, 0, E8, PATIENCE).unwrap();
    Bench { bus, queue, machine }
}

impl Bench {
    fn read(&mut self, far: Far) -> Result<u32, AccessError> {
        let read = self.queue.read_word(&mut self.bus, far)?;
        Ok(u32::from_le_bytes(read.bytes.try_into().unwrap()))
    }

    fn write(&mut self, far: Far, value: u32) -> Result<(), AccessError> {
        self.queue.write_word(&mut self.bus, far, value)?;
        self.queue.flush(&mut self.bus)
    }

    /// Puts a word into the gateway's L1 or registers directly.
    fn poke(&mut self, offset: u64, word: u32) {
        let bytes = word.to_le_bytes();
        self.bus.batch().write(0, E8, offset, &bytes, Order::Strict).run().end().unwrap();
    }

    fn links(&mut self, up: bool) {
        let mut machine = self.machine.lock().unwrap();
        machine.mesh_mut().set_link(0, up);
        machine.mesh_mut().set_link(1, up);
    }
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
    assert_eq!(bench.queue.commands(), 18);
    assert_eq!((bench.queue.request_write, bench.queue.response_read), (18 % 8, 9 % 8));
}

#[test]
fn blocks_share_their_buffers_without_harm() {
    let mut bench = bench();
    let block = |seed: u8| (0..BLOCK_BYTES).map(|i| seed ^ i as u8).collect::<Vec<u8>>();
    let at = |seed: u8| there(0x2_0000 + u64::from(seed) * BLOCK_BYTES as u64);
    for seed in 0..6 {
        bench.queue.write_block(&mut bench.bus, at(seed), &block(seed)).unwrap();
    }
    for seed in 0..6 {
        let len = BLOCK_BYTES as u32;
        let read = bench.queue.read_block(&mut bench.bus, at(seed), len).unwrap();
        assert_eq!(read.bytes, block(seed));
    }
}

#[test]
fn an_absent_chip_is_an_error_and_the_queue_stays_in_step() {
    let mut bench = bench();
    let nowhere = Far { coord: coord(7), ..there(0) };
    let Err(AccessError::QueueError { flags }) = bench.read(nowhere) else { panic!() };
    assert_ne!(flags & routing().unreachable, 0);
    assert!(matches!(bench.write(nowhere, 1), Err(AccessError::Unreachable(_))));
    bench.write(there(0x2_0000), 5).unwrap();
    assert_eq!(bench.read(there(0x2_0000)), Ok(5));
}

#[test]
fn a_strangers_answer_is_drained() {
    let mut bench = bench();
    bench.write(there(0x2_0000), 11).unwrap();
    bench.write(there(0x2_0004), 22).unwrap();
    // A client posts a read and dies; another comes.
    bench.queue.ready(&mut bench.bus).unwrap();
    let entry = there(0x2_0000).entry(4, routing().read_request);
    bench.queue.post(&mut bench.bus, &entry, &[]).unwrap();
    bench.bus.pass(20_000).unwrap();
    bench.queue = Queue::find(&mut bench.bus, 0, E8, PATIENCE).unwrap();
    for _ in 0..5 {
        assert_eq!(bench.read(there(0x2_0004)), Ok(22));
    }
}

#[test]
fn an_answered_write_is_no_answer_to_a_read() {
    let mut bench = bench();
    bench.write(there(0x2_0000), 33).unwrap();
    assert_eq!(bench.read(there(0x2_0000)), Ok(33));
    bench.queue.settle(&mut bench.bus).unwrap();
    // Firmware that answers writes too: an entry with the acknowledge, then the index.
    let slot = bench.queue.response_read;
    let entry = bench.queue.response(Field::Entry(slot & 3));
    let index = bench.queue.response(Field::WriteIndex);
    bench.poke(entry + 12, routing().write_ack);
    bench.poke(index, (slot + 1) & 7);
    for _ in 0..5 {
        assert_eq!(bench.read(there(0x2_0000)), Ok(33));
    }
}

#[test]
fn a_gateway_in_reset_times_out_and_its_late_answer_is_not_taken() {
    let mut bench = bench();
    bench.write(there(0x2_0000), 1).unwrap();
    bench.write(there(0x2_0004), 2).unwrap();
    let reset = crate::wormhole::eth_register("debug", wormhole().debug.soft_reset_0.at);
    bench.poke(reset, 1 << wormhole().eth.values.reset_bit);
    let timeout = AccessError::TimedOut { deadline_cycles: PATIENCE.deadline_cycles };
    assert_eq!(bench.read(there(0x2_0000)), Err(timeout));
    bench.poke(reset, 0);
    for _ in 0..5 {
        assert_eq!(bench.read(there(0x2_0004)), Ok(2));
    }
}

#[test]
fn a_link_that_dies_is_told_in_time_and_comes_back() {
    let mut bench = bench();
    bench.write(there(0x2_0000), 44).unwrap();
    bench.links(false);
    let before = bench.bus.now().unwrap();
    let failed = bench.queue.read_block(&mut bench.bus, there(0x2_0000), 1024);
    assert!(failed.is_err());
    let waited = bench.bus.now().unwrap() - before;
    assert!(waited < 10 * PATIENCE.deadline_cycles, "{waited}");
    bench.links(true);
    bench.bus.pass(2_000_000).unwrap();
    assert_eq!(bench.read(there(0x2_0000)), Ok(44));
}
