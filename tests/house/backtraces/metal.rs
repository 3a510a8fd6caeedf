//! Backtraces of tt-metal's released firmware (ttnn 0.81.1), which link-time optimisation has
//! merged into one function, and of built-in kernels under it. The kernels run where that firmware
//! loads them, which for an Ethernet core is not their link address.

use super::rig::Handle;
use super::tracer::{IRAM, IRAM_SOURCE, Tally, Tracer};
use super::{WORKER, built_in};
use access::bar_target::BarTarget;
use images::{Image, ImageMap, ImageRole};
use launch::{Firmware, Operation, RingPing, RingPingSettings, stop_application};
use layouts::{ChipId, CoreKind, NocXy};
use machine::place::Place;
use machine::target::Target;
use std::path::PathBuf;
use symbols::{Module, Symbols};
use workloads::scene::Scene;

/// The cores of a compute tile, and the addresses from which BRISC initialises their private RAM
/// (tt-metal.md 7.1).
const TENSIX: [(&str, u64); 5] = [
    ("brisc", 0x8960),
    ("ncrisc", 0x9960),
    ("trisc0", 0xA960),
    ("trisc1", 0xB160),
    ("trisc2", 0xB960),
];

/// Functions whose assembler code moves the stack pointer without call frame information: the entry
/// of the Ethernet firmware makes room for registers, and its exit removes it.
const WRONG_CALL_FRAMES: [&str; 2] = ["_start", "do_erisc_exit"];

fn folder() -> Option<PathBuf> {
    let root = std::env::var_os("MESHSCOPE_TT_METAL_ELFS").map(PathBuf::from);
    if root.is_none() {
        println!("skipped: MESHSCOPE_TT_METAL_ELFS is not set");
    }
    root.map(|root| root.join("ttnn/tt_metal/pre-compiled/1003041148146844629"))
}

fn metal_module(name: &str) -> Option<Module> {
    let path = folder()?.join(name).join(format!("{name}.elf"));
    Some(Module::new(Symbols::open(path).unwrap().0))
}

/// Writes an image to the addresses where firmware or the core expects it.
fn load(target: &mut BarTarget, place: Place, module: &Module, private: u64) {
    for segment in module.symbols.segments().iter().filter(|segment| !segment.bytes.is_empty()) {
        let inside = segment.address.checked_sub(0xFFB0_0000);
        let at = inside.map_or(segment.address, |inside| private + inside);
        target.write(place.at(at), segment.bytes).unwrap();
    }
}

fn word(target: &mut BarTarget, place: Place, at: u64, value: u32) {
    target.write(place.at(at), &value.to_le_bytes()).unwrap();
}

/// Checks that all backtraces are right, possibly short, except in functions with wrong call frame
/// information.
fn assert_right(name: &str, tally: &Tally, least: u64) {
    tally.print(name);
    let short: u64 = tally.short.values().sum();
    let wrong: u64 = tally.wrong_in.values().sum();
    assert!(tally.whole + short >= least, "{name}");
    assert_eq!(tally.whole + short + wrong, tally.compared, "{name}");
    assert!(
        tally.wrong_in.keys().all(|function| WRONG_CALL_FRAMES.contains(&&**function)),
        "{name}"
    );
}

#[test]
fn every_frame_of_metals_ethernet_firmware_is_right() {
    let Some(application) = metal_module("erisc") else { return };
    let (mut images, _) = ImageMap::firmware();
    let config = Scene::new("n300").config(&images).unwrap();
    let symbols = application.symbols.clone();
    images.add(Image::new(
        layouts::ChipKind::Wormhole,
        "erisc",
        ImageRole::Application,
        CoreKind::Erisc,
        symbols,
    ));
    let kernel = built_in("ring_ping");
    let moved = Module { bias: IRAM.wrapping_sub(IRAM_SOURCE), ..kernel.clone() };
    let modules = vec![built_in("erisc_base"), application.clone(), moved, kernel];
    let ends = [(0, 8), (0, 9), (1, 0), (1, 1)];
    let tracers = ends.map(|(chip, channel)| {
        Tracer::new(chip, config.chips[chip].eth_tile(channel).unwrap(), 0, modules.clone())
    });
    let handle = Handle::new(config, tracers.into());
    let mut target = handle.target();
    target.pass(50_000).unwrap();
    let ring = RingPing { firmware: Firmware::METAL, ..RingPing::on(target.mesh()).unwrap() };
    // The application starts, returns, and starts again.
    ring.prepare(&mut images).unwrap().finish(&mut target).unwrap();
    let stop = |place| stop_application(&images, Firmware::METAL, place).unwrap();
    let stops = ring.stops.iter().map(|at| stop(at.place));
    Operation::finish_all(stops.collect::<Vec<_>>(), &mut target).unwrap();
    ring.prepare(&mut images).unwrap().finish(&mut target).unwrap();
    let settings = RingPingSettings { payload_bytes: 128, ..RingPingSettings::default() };
    ring.launch(&mut images, &settings).unwrap().finish(&mut target).unwrap();
    target.pass(100_000).unwrap();
    assert_eq!(handle.conditions(), Vec::<String>::new());
    for tracer in &handle.0.lock().unwrap().tracers {
        assert_right(&tracer.name(), &tracer.tally, 1500);
    }
}

#[test]
fn every_frame_of_metals_compute_firmware_is_right() {
    let Some(brisc) = metal_module("brisc") else { return };
    let (images, _) = ImageMap::firmware();
    let config = Scene::new("n150").config(&images).unwrap();
    let worker = built_in("tensix_worker");
    let tracers = (0..).zip(TENSIX).map(|(hart, (core, _))| {
        Tracer::new(0, WORKER, hart, vec![metal_module(core).unwrap(), built_in("tensix_worker")])
    });
    let handle = Handle::new(config, tracers.collect());
    let mut target = handle.target();
    let place = Place { chip: ChipId(0), tile: NocXy { x: WORKER.0, y: WORKER.1 } };
    word(&mut target, place, 0xFFB1_21B0, 0x47800);
    for (name, private) in TENSIX {
        load(&mut target, place, &metal_module(name).unwrap(), private);
    }
    word(&mut target, place, 0x4A0, 0x4000_0000);
    // jal x0 to BRISC's entry.
    word(&mut target, place, 0, 0x2210_306F);
    word(&mut target, place, 0xFFB1_21B0, 0x47000);
    target.pass(20_000).unwrap();
    load(&mut target, place, &worker, 0);
    let arguments = [0x2_0000u32, 16, 0, 1000, 1, 0];
    let arguments: Vec<u8> = arguments.into_iter().flat_map(u32::to_le_bytes).collect();
    target.write(place.at(0x1_4000), &arguments).unwrap();
    for (member, bytes) in [
        ("kernel_config_base[0]", &0x1_4000u32.to_le_bytes()[..]),
        ("kernel_text_offset[0]", &0x400u32.to_le_bytes()),
        ("remote_cb_offset", &0x200u16.to_le_bytes()),
        ("min_remote_cb_start_index", &[32]),
        ("mode", &[1]),
        ("enables", &1u32.to_le_bytes()),
    ] {
        let path = format!("mailboxes->launch[0].kernel_config.{member}");
        let at = brisc.symbols.locate(&path).unwrap().address();
        target.write(place.at(at), bytes).unwrap();
    }
    word(&mut target, place, 0x4A0, 0x8000_0000);
    target.pass(20_000).unwrap();
    assert_eq!(handle.conditions(), Vec::<String>::new());
    for tracer in &handle.0.lock().unwrap().tracers {
        assert_right(&tracer.name(), &tracer.tally, 50);
    }
}
