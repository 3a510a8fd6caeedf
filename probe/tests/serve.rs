//! A mesh on a socket: one client at a time, and it outlives them all.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use layouts::{ChipId, NocAddr, NocXy};
use probe::Patience;
use probe::bar::{Abreast, Bar, BarOp};
use probe::emulator_bar::EmulatorBar;
use probe::fault::{Fault, Station};
use probe::hosts::HostBar;
use probe::machine::BarTarget;
use probe::serve;
use probe::snapshot::{AccessError, Plan, Span};
use probe::socket_bar::SocketBar;
use probe::target::{Abilities, Allow, Target};
use probe::wire::{Client, Welcome};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Serves bare chips without firmware on a socket of its own.
fn start(name: &str) -> PathBuf {
    serve(name, || EmulatorBar::new(emulator::Mesh::new(emulator::MeshConfig::n300()).unwrap()))
}

fn serve(name: &str, machine: impl FnOnce() -> EmulatorBar + Send + 'static) -> PathBuf {
    let path = std::env::temp_dir().join(format!("meshscope-{name}-{}", std::process::id()));
    let listener = serve::bind(&path).unwrap();
    std::thread::spawn(move || {
        let (name, profile) = ("emulator:bare".to_owned(), "emulator".into());
        let welcome = Welcome { machine: name, profile, ..Welcome::default() };
        serve::serve(&mut machine(), listener, &welcome)
    });
    path
}

/// The server notices that a client has left a moment after it has.
fn connect(path: &Path) -> SocketBar {
    for _ in 0..200 {
        match SocketBar::connect(path) {
            Ok(bar) => return bar,
            Err(AccessError::Refused(_)) => std::thread::sleep(Duration::from_millis(5)),
            Err(other) => panic!("{other}"),
        }
    }
    panic!("the machine never came free")
}

fn open(path: &Path) -> BarTarget {
    open_for(path, Allow::ALL)
}

fn open_for(path: &Path, allow: Allow) -> BarTarget {
    let abilities = Abilities { allow, stepped_time: true, ..Abilities::default() };
    BarTarget::open("socket", Box::new(connect(path)), abilities, Patience::default()).unwrap()
}

#[test]
fn what_a_client_breaks_stays_broken_for_the_next() {
    let path = start("breaks");
    let stuck: Fault = "core:0.e8:stuck".parse().unwrap();
    let refused = open_for(&path, Allow::default()).disrupt(&stuck).unwrap_err();
    assert_eq!(refused.to_string(), "refused: core:0.e8:stuck: nobody allowed write");
    let mut first = open(&path);
    assert_eq!(first.disrupt(&stuck), Ok(()));
    let absent: Fault = "link:0.8:down".parse().unwrap();
    let refused = first.disrupt(&absent).unwrap_err();
    assert_eq!(refused.to_string(), "refused: link:0.8:down: no link ends at 0:e8");
    drop(first);
    let second = connect(&path);
    assert_eq!(second.welcome().before.change.as_ref().unwrap().what, "core:0.e8:stuck");
    // Chip 1 has no firmware that tells where it stands, and no PCIe.
    let mut second: Box<dyn Bar> = Box::new(second);
    let refused = second.disrupt(Station::Device(1), &stuck).unwrap_err();
    assert!(refused.to_string().contains("this mesh has no such place"), "{refused}");
    assert_eq!(second.disrupt(Station::Device(0), &absent), Ok(()));
}

#[test]
fn a_mesh_outlives_its_client() {
    let path = start("outlives");
    let here = NocAddr { chip: ChipId(0), tile: NocXy { x: 3, y: 3 }, offset: 0x100 };
    let mut first = open(&path);
    first.write(here, b"left by the first client").unwrap();
    first.pass(1_000_000).unwrap();
    let then = first.now().unwrap();
    drop(first);
    let mut second = open(&path);
    assert!(second.now().unwrap() > then);
    let shot = second.read(&Plan { spans: vec![Span { addr: here, len: 24 }] });
    assert_eq!(shot.bytes(here, 24).unwrap(), b"left by the first client");
    drop(second);
    let before = connect(&path).welcome().before.clone();
    let last = before.client.unwrap();
    assert_eq!((last.client, last.broke_off), (Client::this(), false));
    let change = before.change.unwrap();
    assert_eq!(change.client, Client::this());
    assert_eq!(change.what, "24 bytes at 0:3-3:0x100");
    std::fs::remove_file(path).unwrap();
}

/// Two bare chips, both with PCIe.
fn two_devices() -> EmulatorBar {
    let mut config = emulator::MeshConfig::n300();
    config.chips.iter_mut().for_each(|chip| chip.pcie = true);
    EmulatorBar::new(emulator::Mesh::new(config).unwrap())
}

#[test]
fn several_devices_are_read_side_by_side_over_a_socket_too() {
    let ask = |device, words: u64| {
        let read = |at| BarOp::Read { device, bar: 0, offset: 0x1FE8_0000 + at, len: 4, ones: 0 };
        Abreast::new(device, (0..words).map(|n| read(4 * n)).chain([BarOp::Now]).collect())
    };
    let told = |bar: &mut dyn Bar, mut batches: [Abreast; 2]| {
        bar.submit_abreast(&mut batches);
        batches.map(|Abreast { answer, result, .. }| (answer, result))
    };
    let path = serve("abreast", two_devices);
    let expected = told(&mut two_devices(), [ask(0, 3), ask(1, 5)]);
    assert_eq!(expected.each_ref().map(|(answer, _)| answer.len()), [20, 28]);
    assert_eq!(told(&mut connect(&path), [ask(0, 3), ask(1, 5)]), expected);
    std::fs::remove_file(path).unwrap();

    // A host has one of them.
    let mut host = HostBar::new(Box::new(two_devices()), 1, 1, Vec::new());
    let [(answer, result), (nothing, absent)] = told(&mut host, [ask(0, 5), ask(1, 1)]);
    assert_eq!((answer, result), expected[1]);
    assert!(nothing.is_empty() && absent.is_err(), "{absent:?}");
}

#[test]
fn a_second_client_hears_who_holds_the_mesh() {
    let path = start("second");
    let holder = connect(&path);
    let Err(AccessError::Refused(why)) = SocketBar::connect(&path) else { panic!("let in") };
    assert_eq!(why, format!("{} holds this machine", Client::this()));
    drop(holder);
    connect(&path);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_socket_that_nobody_serves() {
    let path = std::env::temp_dir().join(format!("meshscope-stale-{}", std::process::id()));
    assert!(matches!(SocketBar::connect(&path), Err(AccessError::Unreachable(_))));
    // A file left by a server that died is replaced; one that is served is not.
    drop(serve::bind(&path).unwrap());
    let served = serve::bind(&path).unwrap();
    assert!(serve::bind(&path).is_err());
    drop(served);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_machine_of_others_is_changed_only_as_far_as_a_person_allowed() {
    let path = start("allow");
    let at = |offset| NocAddr { chip: ChipId(0), tile: NocXy { x: 3, y: 3 }, offset };
    let refused =
        |target: &mut BarTarget, offset| target.write(at(offset), &[0; 4]).unwrap_err().to_string();
    let mut looking = open_for(&path, Allow::default());
    let says = "refused: writing l1 there needs --allow write";
    assert_eq!(refused(&mut looking, 0x2_0000), says);
    drop(looking);
    let mut writing = open_for(&path, Allow::parse("write").unwrap());
    writing.write(at(0x2_0000), &[1; 4]).unwrap();
    let says = "refused: writing debug.soft_reset_0 there needs --allow reset";
    assert_eq!(refused(&mut writing, 0xFFB1_21B0), says);
    let says = "refused: writing debug.risc_control_0 there needs --allow halt";
    assert_eq!(refused(&mut writing, 0xFFB1_2080), says);
    let says = "refused: writing l1.mailbox there needs --allow launch";
    assert_eq!(refused(&mut writing, 0x10), says);
    drop(writing);
    let mut resetting = open_for(&path, Allow::parse("reset").unwrap());
    resetting.write(at(0xFFB1_21B0), &0x4_7800_u32.to_le_bytes()).unwrap();
    drop(resetting);
    std::fs::remove_file(path).unwrap();
}
