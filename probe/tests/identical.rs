//! A collective on a sick mesh gives the same cycles and bytes on one thread and on two, with
//! sleeping cores and without.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use access::bar_target::BarTarget;
use collectives::{Op, Request, Run, RunReport, RunSettings, compile};
use emulator::Mesh;
use images::ImageMap;
use layouts::ChipKind;
use machine::bar::{Bar, BarOp};
use machine::fault::{ChipAddress, Fault};
use machine::patience::Deadlines;
use machine::snapshot::AccessError;
use machine::target::{Abilities, Allow, Target};
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Arc, Mutex};
use transport::emulator_bar::EmulatorBar;
use workloads::scene::Scene;

/// A bus of a mesh that the test also reads directly.
struct Shared(Arc<Mutex<EmulatorBar>>);

impl Bar for Shared {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        self.0.lock().unwrap().submit(batch, answer)
    }

    fn chip(&self) -> ChipKind {
        self.0.lock().unwrap().chip()
    }

    fn disrupt(&mut self, at: ChipAddress, fault: &Fault) -> Result<(), AccessError> {
        self.0.lock().unwrap().disrupt(at, fault)
    }
}

/// Runs an all-gather on an n300. Returns its report, its end, and a hash of the L1 of all Ethernet
/// tiles.
fn gather(faults: &[&str], sleep: bool, threads: usize) -> (RunReport, u64, u64) {
    let (mut images, _) = ImageMap::firmware();
    let mut config = Scene::new("n300").config(&images).unwrap();
    (config.sleep, config.threads) = (sleep, threads);
    let machine = Arc::new(Mutex::new(EmulatorBar::new(Mesh::new(config).unwrap())));
    let bar = Box::new(Shared(Arc::clone(&machine)));
    let abilities =
        Abilities { allow: Allow::ALL, stepped_time: true, emulated: true, ..Abilities::default() };
    let mut target = BarTarget::open("n300", bar, abilities, Deadlines::default()).unwrap();
    let program = compile(target.mesh(), &Request::new(Op::AllGather, 64 << 10)).unwrap();
    let faults = faults.iter().map(|words| words.parse().unwrap()).collect();
    let mut run = Run::new(program, RunSettings { faults, ..RunSettings::default() });
    let report = run.finish(&mut target, &mut images, 2_000).unwrap().unwrap();
    let now = target.now().unwrap();
    let mut machine = machine.lock().unwrap();
    let mut hasher = DefaultHasher::new();
    let chips = machine.mesh().config().chips.clone();
    for (chip, config) in chips.iter().enumerate() {
        for (x, y) in (0..16).filter_map(|channel| config.eth_tile(channel)) {
            hasher.write(machine.mesh_mut().l1(chip, x, y).unwrap().slice(0, 256 << 10).unwrap());
        }
    }
    (report, now, hasher.finish())
}

#[test]
fn neither_threads_nor_sleep_show_in_a_collective_on_a_sick_mesh() {
    let faults = [
        "link:0.8:slow=3x@2us..9us",
        "link:0.9:slow=3x@2us..9us",
        "link:0.8:bit-error=1e-5",
        "link:0.9:bit-error=1e-5",
        "link:1.0:slow-ack=700ns@1us",
        "link:0.9:flap=900ns@3us..8us",
        "core:0.e3:stuck@4us..30us",
    ];
    let sick = gather(&faults, true, 1);
    assert_eq!(sick.0.wrong, Some(0));
    let healthy = gather(&[], true, 1);
    assert!(sick.0.time_cycles > healthy.0.time_cycles, "{sick:?} {healthy:?}");
    assert_eq!(gather(&faults, true, 2), sick, "two threads");
    assert_eq!(gather(&faults, false, 2), sick, "two threads and no sleep");
}
