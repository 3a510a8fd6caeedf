//! A test bench: an emulated n300 with the queue of its chip 0 e8.

use crate::bus::Bus;
use crate::queue::{Command, Deadlines, Far, Gateway, Queue, SLOTS, Stamped, read_all};
use images::ImageMap;
use layouts::{ChipCoord, ChipKind, NocXy};
use machine::bar::{Bar, BarOp};
use machine::snapshot::AccessError;
use machine::window::WindowOrdering;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use transport::emulator_bar::EmulatorBar;
use workloads::scene::Scene;

pub(super) const E8: NocXy = NocXy { x: 9, y: 6 };
pub(super) const E9: NocXy = NocXy { x: 1, y: 6 };
pub(super) const PATIENCE: Deadlines = Deadlines {
    deadline_cycles: 300_000,
    chip_cycles: 300_000_000,
    retry_cycles: 300_000_000,
    watchdog: Duration::from_mins(1),
};

pub(super) fn coord(x: u8) -> ChipCoord {
    ChipCoord { x, y: 0, rack: 0, shelf: 0 }
}

pub(super) fn on_far_chip(offset: u64) -> Far {
    Far { coord: coord(1), tile: NocXy { x: 2, y: 2 }, offset }
}

/// The emulated mesh with a second handle for operations that no bus has.
pub(super) struct Shared(pub(super) Arc<Mutex<EmulatorBar>>);

impl Bar for Shared {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        self.0.lock().unwrap().submit(batch, answer)
    }

    fn chip(&self) -> ChipKind {
        self.0.lock().unwrap().chip()
    }
}

pub(super) struct Bench {
    pub(super) bus: Bus,
    pub(super) routes: Vec<Gateway>,
    machine: Arc<Mutex<EmulatorBar>>,
}

/// Returns an n300 whose links are up.
pub(super) fn emulator() -> (Bus, Arc<Mutex<EmulatorBar>>) {
    let (images, _) = ImageMap::firmware();
    let mesh = Scene::new("n300").power_on(&images).unwrap();
    let machine = Arc::new(Mutex::new(EmulatorBar::new(mesh)));
    let mut bus = Bus::new(Box::new(Shared(Arc::clone(&machine))));
    bus.pass(200_000).unwrap();
    (bus, machine)
}

pub(super) fn gateway(bus: &mut Bus, tile: NocXy) -> Gateway {
    let queue = Queue::find(bus, 0, tile, PATIENCE).unwrap();
    Gateway { queue, direct: true, depth: SLOTS }
}

pub(super) fn bench() -> Bench {
    let (mut bus, machine) = emulator();
    let routes = vec![gateway(&mut bus, E8)];
    Bench { bus, routes, machine }
}

impl Bench {
    pub(super) fn read_all(&mut self, reads: &[Command]) -> Vec<Result<Stamped, AccessError>> {
        read_all(&mut self.bus, PATIENCE, &mut self.routes, reads).reads
    }

    pub(super) fn read(&mut self, far: Far) -> Result<u32, AccessError> {
        let read = self.read_all(&[Command::ReadWord(far)]).remove(0)?;
        Ok(u32::from_le_bytes(read.bytes.try_into().unwrap()))
    }

    pub(super) fn write(&mut self, far: Far, value: u32) -> Result<(), AccessError> {
        let queue = &mut self.routes[0].queue;
        queue.write_all(&mut self.bus, SLOTS, &[(Command::WriteWord(far, value), &[])])?;
        queue.flush(&mut self.bus)
    }

    /// Replaces the queues by those of a new client.
    pub(super) fn another_client(&mut self) {
        for route in &mut self.routes {
            route.queue = Queue::find(&mut self.bus, 0, route.queue.tile(), PATIENCE).unwrap();
        }
    }

    /// Writes a word directly to the gateway's L1 or registers.
    pub(super) fn poke(&mut self, offset: u64, word: u32) {
        let bytes = word.to_le_bytes();
        self.bus.batch().write(0, E8, offset, &bytes, WindowOrdering::Strict).run().end().unwrap();
    }

    pub(super) fn hold_gateway(&mut self, hold: bool) {
        let reset = ChipKind::Wormhole.layout().soft_reset(layouts::TileKind::Eth).unwrap();
        self.poke(reset, u32::from(hold) << ChipKind::Wormhole.layout().eth.values.reset_bit);
    }

    pub(super) fn link(&mut self, link: usize, up: bool) {
        self.machine.lock().unwrap().mesh_mut().set_link(link, up);
    }
}
