//! meshscope's own `ttsim:` target opens the library, and reads the same state as from the
//! in-process emulator.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use crate::common;

use access::bar_target::BarTarget;
use common::{library, whole_n300};
use images::ImageMap;
use layouts::{ChipId, NocAddr, NocXy};
use machine::bar::Bar;
use machine::patience::Deadlines;
use machine::snapshot::{Plan, Span};
use machine::target::{Abilities, Allow, Chip, Target};
use meshscope_ttsim::BOOT_CYCLES;
use probe::session::Session;
use transport::emulator_bar::EmulatorBar;
use transport::ttsim::{self, HOST_ARGUMENT, HostCommand};
use workloads::scene::Scene;

/// Helper for the other tests, which start this binary again as the library's host, with the
/// library's path after `--skip`, an option that libtest accepts.
#[test]
fn host_helper() {
    let Some(library) = std::env::args_os().skip_while(|a| a != "--skip").nth(1) else { return };
    let arguments = ["".into(), HOST_ARGUMENT.into(), library];
    assert!(ttsim::run_host_if_requested(arguments.into_iter()).is_some());
}

/// Returns the command of the host, with the mesh in its environment.
fn host(mesh: &str) -> HostCommand {
    let this = std::env::current_exe().unwrap().into_os_string();
    let variable = format!("MESHSCOPE_MESH={mesh}").into();
    let rest = ["--exact", "target::host_helper", "--nocapture", "--skip"].map(Into::into);
    let arguments = [variable, this].into_iter().chain(rest).collect();
    HostCommand { program: Some("/usr/bin/env".into()), arguments, ..HostCommand::default() }
}

fn over(bar: impl Bar + 'static) -> BarTarget {
    let abilities = Abilities { allow: Allow::ALL, stepped_time: true, ..Abilities::default() };
    BarTarget::open("same", Box::new(bar), abilities, Deadlines::default()).unwrap()
}

fn in_the_library(mesh: &str) -> BarTarget {
    over(ttsim::open(&library(), &host(mesh)).unwrap())
}

fn in_this_process(mesh: &str) -> BarTarget {
    let (images, problems) = ImageMap::firmware();
    assert_eq!(problems, Vec::<String>::new());
    let mut mesh = Scene::new(mesh).power_on(&images).unwrap();
    mesh.clock(BOOT_CYCLES);
    over(EmulatorBar::new(mesh))
}

/// Returns a compute tile that is not harvested.
fn worker(chip: &Chip) -> NocXy {
    let row = (1..6).find(|y| chip.is_fused_off(*y) == Some(false)).unwrap();
    NocXy { x: 2, y: row }
}

/// Returns a plan of words that change with time, blocks and registers, on near and far chips.
fn mixed_plan(target: &BarTarget) -> Plan {
    let mut spans = Vec::new();
    for chip in &target.mesh().chips {
        let NocXy { x: column, y: row } = worker(chip);
        for (x, y, offset, len) in [
            // Up to the packet counters, which depend on the cycles of the reads
            // themselves.
            (9, 0, 0, 0x1E00),
            (9, 6, 0x1_1000, 0x400),
            (4, 6, 0x1C, 4),
            (column, row, 0x2_0000, 5000),
            (column, row, 0xFFB1_21B0, 4),
            (0, 11, 0x100, 64),
            (0, 10, 0x8_8003_0060, 4),
        ] {
            let addr = NocAddr { chip: chip.id, tile: NocXy { x, y }, offset };
            spans.push(Span { addr, len });
        }
    }
    Plan { spans }
}

#[test]
fn the_error_of_the_library_is_the_reason() {
    let words = format!("ttsim:{}", library().display());
    let opened = Session::open(&words, &host("n3000"), Allow::default()).map(drop);
    let error = opened.unwrap_err().to_string();
    assert!(error.contains("no mesh is called n3000"), "{error}");
}

#[test]
fn the_same_mesh_and_the_same_bytes() {
    for (mesh, chips) in [("n300", 2), (&whole_n300(), 2), ("t3000", 8)] {
        let mut targets = [in_the_library(mesh), in_this_process(mesh)];
        let [theirs, ours] = targets.each_mut().map(|target| {
            for chip in [0, chips - 1] {
                let tile = worker(&target.mesh().chips[chip]);
                let addr = NocAddr { chip: ChipId(chip as u16), tile, offset: 0x2_0001 };
                let bytes: Vec<u8> = (0..=250).cycle().take(4999).collect();
                target.write(addr, &bytes).unwrap();
            }
            let plan = mixed_plan(target);
            let snapshot = target.read(&plan);
            assert_eq!(snapshot.gaps, []);
            let bytes = |span: &Span| snapshot.bytes(span.addr, span.len).unwrap().to_vec();
            plan.spans.iter().map(bytes).collect::<Vec<_>>()
        });
        assert_eq!(targets[0].mesh(), targets[1].mesh(), "{mesh}");
        assert_eq!(targets[0].mesh().chips.len(), chips);
        for (span, (theirs, ours)) in
            mixed_plan(&targets[0]).spans.iter().zip(theirs.iter().zip(&ours))
        {
            assert!(beatless(theirs) == beatless(ours), "{mesh}: {span:?}");
        }
    }
}

/// Returns the words with the heartbeat counts masked: the library's host first queries the BARs,
/// which takes time.
fn beatless(bytes: &[u8]) -> Vec<u32> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    let words = bytes.chunks(4).map(word);
    words.map(|word| if word >> 16 == 0xABCD { 0xABCD_0000 } else { word }).collect()
}
