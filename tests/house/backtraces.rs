//! Backtraces against the truth: harts execute real firmware from reset on, every call and return is seen, and what call
//! frame information gives is compared with it at each pc under each stack that occurs.

mod metal;
mod rig;
mod tracer;

use decode::images::ImageMap;
use launch::{
    Firmware, Operation, Pattern, RingPing, RingPingSettings, boot_tensix, launch_worker,
    stop_application,
};
use layouts::NocXy;
use machine::place::Place;
use machine::target::Target;
use rig::Handle;
use std::path::Path;
use symbols::{Module, Registers, Symbols};
use tracer::{Kept, Tracer};
use workloads::scene::Scene;

/// A compute tile that is not fused off.
const WORKER: (u8, u8) = (1, 2);

/// An image of ours, where it was linked.
fn ours(name: &str) -> Module {
    Module::new(Symbols::load(firmware::image(name).unwrap().elf, name).unwrap().0)
}

/// The ring of an n300 and two of its compute tiles, from power on into some laps.
#[test]
fn every_frame_of_our_firmware_is_right() {
    let (mut images, _) = ImageMap::firmware();
    let scene = Scene::new("n300");
    let config = scene.config(&images).unwrap();
    let ends = [(0, 8), (0, 9), (1, 0), (1, 1)];
    let mut tracers: Vec<Tracer> = ends
        .map(|(chip, channel)| {
            let modules = ["erisc_base", "erisc_app", "ring_ping"].map(ours).to_vec();
            Tracer::new(chip, config.chips[chip].eth_tile(channel).unwrap(), 0, modules)
        })
        .into();
    for (hart, core) in (0..).zip(["brisc", "ncrisc", "trisc0", "trisc1", "trisc2"]) {
        let modules = vec![ours(&format!("tensix_{core}")), ours("tensix_worker")];
        tracers.push(Tracer::new(0, WORKER, hart, modules));
    }
    let handle = Handle::new(config, tracers);
    let mut target = handle.target();
    let place = Place { chip: layouts::ChipId(0), tile: NocXy { x: WORKER.0, y: WORKER.1 } };
    boot_tensix(&mut images, Firmware::OURS, place).unwrap().finish(&mut target).unwrap();
    let pattern = Pattern { address: 0x2_0000, words: 16, interval_cycles: 1000 };
    let worker = launch_worker(&mut images, Firmware::OURS, place, pattern, 1).unwrap();
    worker.finish(&mut target).unwrap();
    let ring = RingPing::on(target.mesh()).unwrap();
    ring.prepare(&mut images).unwrap().finish(&mut target).unwrap();
    let settings = RingPingSettings { laps: 20, payload_bytes: 128, ..RingPingSettings::default() };
    ring.launch(&mut images, &settings).unwrap().finish(&mut target).unwrap();
    target.pass(100_000).unwrap();
    // The laps are over: kernels return, and then the application gives the cores back to base firmware.
    ring.tear_down(&images).unwrap().finish(&mut target).unwrap();
    let stop = |place| stop_application(&images, Firmware::OURS, place).unwrap();
    let stops = ring.stops.iter().map(|at| stop(at.place));
    Operation::finish_all(stops.collect::<Vec<_>>(), &mut target).unwrap();
    target.pass(20_000).unwrap();
    assert_eq!(handle.conditions(), Vec::<String>::new());
    for tracer in &handle.0.lock().unwrap().tracers {
        let (tally, name) = (&tracer.tally, tracer.name());
        tally.tell(&name);
        assert_eq!(tally.whole, tally.compared, "{name}");
        assert_eq!(tally.long_returns, 0, "{name}");
        let (pcs, files) = if tracer.modules.len() == 3 { (1500, 3) } else { (25, 1) };
        assert!(tally.pcs.len() > pcs && tally.files.contains_key(&files), "{name}");
    }
    keep(&handle.0.lock().unwrap().tracers[0].tally.kept);
}

/// Compares with the stack that the tests of `symbols` ask gdb about.
fn keep(kept: &Kept) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../symbols/tests/data/stacks");
    let (text, ram) = (folder.join("ring_ping.txt"), folder.join("ring_ping.ram"));
    let value = |n| Some(format!("{}={:#x}\n", Registers::name(n)?, kept.registers.get(n)?));
    let mut registers = format!("pc={:#x}\n", kept.registers.pc.unwrap());
    registers.extend((1..32).filter_map(value));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&text, &registers).unwrap();
        std::fs::write(&ram, &kept.ram).unwrap();
    }
    let same = std::fs::read_to_string(text).unwrap() == registers
        && std::fs::read(ram).unwrap() == kept.ram;
    assert!(
        same,
        "BLESS=1 takes the stack anew; then symbols/tests/data/stacks/ask asks gdb about it"
    );
}
