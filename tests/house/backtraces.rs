//! Backtraces compared with true stacks: harts execute real firmware from reset, a tracer sees
//! every call and return, and backtraces by call frame information are compared at each pc under
//! each stack that occurs.

mod metal;
mod rig;
mod tracer;

use images::ImageMap;
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
use tracer::{CapturedStack, Tracer};
use workloads::scene::Scene;

/// A compute tile that is not harvested.
const WORKER: (u8, u8) = (1, 2);

/// Returns a built-in image at its link address.
fn built_in(name: &str) -> Module {
    Module::new(Symbols::load(firmware::image(name).unwrap().elf, name).unwrap().0)
}

/// The ring of an n300 and two of its compute tiles, from power-on through several laps.
#[test]
fn every_frame_of_our_firmware_is_right() {
    let (mut images, _) = ImageMap::firmware();
    let scene = Scene::new("n300");
    let config = scene.config(&images).unwrap();
    let ends = [(0, 8), (0, 9), (1, 0), (1, 1)];
    let mut tracers: Vec<Tracer> = ends
        .map(|(chip, channel)| {
            let modules = ["erisc_base", "erisc_app", "ring_ping"].map(built_in).to_vec();
            Tracer::new(chip, config.chips[chip].eth_tile(channel).unwrap(), 0, modules)
        })
        .into();
    for (hart, core) in (0..).zip(["brisc", "ncrisc", "trisc0", "trisc1", "trisc2"]) {
        let modules = vec![built_in(&format!("tensix_{core}")), built_in("tensix_worker")];
        tracers.push(Tracer::new(0, WORKER, hart, modules));
    }
    let handle = Handle::new(config, tracers);
    let mut target = handle.target();
    let place = Place { chip: layouts::ChipId(0), tile: NocXy { x: WORKER.0, y: WORKER.1 } };
    boot_tensix(&mut images, Firmware::BUILT_IN, place).unwrap().finish(&mut target).unwrap();
    let pattern = Pattern { address: 0x2_0000, words: 16, interval_cycles: 1000 };
    let worker = launch_worker(&mut images, Firmware::BUILT_IN, place, pattern, 1).unwrap();
    worker.finish(&mut target).unwrap();
    let ring = RingPing::on(target.mesh()).unwrap();
    ring.prepare(&mut images).unwrap().finish(&mut target).unwrap();
    let settings = RingPingSettings { laps: 20, payload_bytes: 128, ..RingPingSettings::default() };
    ring.launch(&mut images, &settings).unwrap().finish(&mut target).unwrap();
    target.pass(100_000).unwrap();
    // The laps have ended: kernels return, and then the application returns the cores to base
    // firmware.
    ring.tear_down(&images).unwrap().finish(&mut target).unwrap();
    let stop = |place| stop_application(&images, Firmware::BUILT_IN, place).unwrap();
    let stops = ring.stops.iter().map(|at| stop(at.place));
    Operation::finish_all(stops.collect::<Vec<_>>(), &mut target).unwrap();
    target.pass(20_000).unwrap();
    assert_eq!(handle.conditions(), Vec::<String>::new());
    for tracer in &handle.0.lock().unwrap().tracers {
        let (tally, name) = (&tracer.tally, tracer.name());
        tally.print(&name);
        assert_eq!(tally.whole, tally.compared, "{name}");
        assert_eq!(tally.long_returns, 0, "{name}");
        let (pcs, files) = if tracer.modules.len() == 3 { (1500, 3) } else { (25, 1) };
        assert!(tally.pcs.len() > pcs && tally.files.contains_key(&files), "{name}");
    }
    check_captured(&handle.0.lock().unwrap().tracers[0].tally.captured);
}

/// Compares with the stack that the tests of `symbols` give to gdb.
fn check_captured(captured: &CapturedStack) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../symbols/tests/data/stacks");
    let (text, ram) = (folder.join("ring_ping.txt"), folder.join("ring_ping.ram"));
    let value = |n| Some(format!("{}={:#x}\n", Registers::name(n)?, captured.registers.get(n)?));
    let mut registers = format!("pc={:#x}\n", captured.registers.pc.unwrap());
    registers.extend((1..32).filter_map(value));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&text, &registers).unwrap();
        std::fs::write(&ram, &captured.ram).unwrap();
    }
    let same = std::fs::read_to_string(text).unwrap() == registers
        && std::fs::read(ram).unwrap() == captured.ram;
    assert!(
        same,
        "BLESS=1 writes the new stack; then run symbols/tests/data/stacks/ask for gdb's answers"
    );
}
