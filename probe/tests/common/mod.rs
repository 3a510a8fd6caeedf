//! Helpers of the tests.
#![allow(unreachable_pub, reason = "tests")]

use access::bar_target::BarTarget;
use images::ImageMap;
use launch::outcome::RunError;
use layouts::{ChipId, ChipKind, ChipLayout, NocAddr, NocXy};
use machine::patience::Deadlines;
use machine::snapshot::{Plan, Span};
use machine::target::{Abilities, Allow, Target};
use std::path::{Path, PathBuf};
use transport::emulator_bar::EmulatorBar;
use transport::ttsim::{self, HOST_ARGUMENT, HostCommand};
use workloads::scene::{Scene, Workload};

/// Makes the test program the library's host if it is started with a path after `--skip`.
#[test]
fn host_helper() {
    let Some(library) = std::env::args_os().skip_while(|a| a != "--skip").nth(1) else { return };
    if library.to_string_lossy().starts_with('/') {
        let arguments = ["".into(), HOST_ARGUMENT.into(), library];
        assert!(ttsim::run_host_if_requested(arguments.into_iter()).is_some());
    }
}

/// Returns the command of the library's host. libtest accepts any text after `--skip`, which passes
/// the library's path.
pub fn host() -> HostCommand {
    let arguments = ["--exact", "common::host_helper", "--nocapture", "--skip"];
    HostCommand { arguments: arguments.map(Into::into).to_vec(), ..HostCommand::default() }
}

pub fn library(build: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("MESHSCOPE_TTSIM_DIR") else {
        eprintln!("skipped: MESHSCOPE_TTSIM_DIR is not set");
        return None;
    };
    Some(PathBuf::from(folder).join(format!("libttsim_{build}.so")))
}

pub fn open(build: &str) -> Option<BarTarget> {
    Some(open_at(&library(build)?))
}

/// Opens the mesh of a library of the vendor's simulator.
pub fn open_at(library: &Path) -> BarTarget {
    open_with(library, Abilities { allow: Allow::ALL, ..ttsim::abilities().unwrap() })
}

/// Opens it with these abilities.
pub fn open_with(library: &Path, abilities: Abilities) -> BarTarget {
    let bar = ttsim::open(library, &host()).unwrap();
    BarTarget::open("ttsim", Box::new(bar), abilities, Deadlines::default()).unwrap()
}

/// Returns what permits everything.
pub fn permitted() -> Abilities {
    Abilities { allow: Allow::ALL, stepped_time: true, emulated: true, ..Abilities::default() }
}

/// Opens an emulated mesh with only base firmware.
pub fn powered(mesh: &str, abilities: Abilities) -> (BarTarget, ImageMap) {
    let (images, problems) = ImageMap::firmware();
    assert_eq!(problems, Vec::<String>::new());
    let bar = Box::new(EmulatorBar::new(Scene::new(mesh).power_on(&images).unwrap()));
    (BarTarget::open(mesh, bar, abilities, Deadlines::default()).unwrap(), images)
}

/// Builds a scene.
pub fn built(scene: &Scene) -> (BarTarget, ImageMap) {
    let (mut images, problems) = ImageMap::firmware();
    assert_eq!(problems, Vec::<String>::new());
    (scene.build(&mut images).unwrap(), images)
}

/// Returns the scene of a mesh on which only firmware runs.
pub fn idle(mesh: &str) -> Scene {
    Scene { run: Some(Workload::Idle), ..Scene::new(mesh) }
}

/// Returns the layout of the chips of the tests' meshes.
pub fn layout() -> &'static ChipLayout {
    ChipKind::Wormhole.layout()
}

/// Returns the sentence of a failed run.
pub fn sentence(error: &RunError) -> String {
    error.sentence(layout())
}

pub fn addr(chip: u16, x: u8, y: u8, offset: u64) -> NocAddr {
    NocAddr { chip: ChipId(chip), tile: NocXy { x, y }, offset }
}

pub fn read(target: &mut BarTarget, addr: NocAddr, len: u32) -> Vec<u8> {
    let snapshot = target.read(&Plan { spans: vec![Span { addr, len }] });
    snapshot.bytes(addr, len).unwrap().to_vec()
}

pub fn word(target: &mut BarTarget, addr: NocAddr) -> u32 {
    target.read_word(addr).unwrap()
}
