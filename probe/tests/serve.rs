//! A mesh on a socket: many clients read, one at a time writes, and the mesh outlives all clients.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use access::bar_target::BarTarget;
use launch::sampling::Sampling;
use layouts::{ChipId, CoreId, CoreKind, NocAddr, NocXy};
use machine::bar::{Bar, BarOp, DeviceBatch};
use machine::clients::Client;
use machine::fault::{ChipAddress, Fault};
use machine::patience::Deadlines;
use machine::samples::SampleOrder;
use machine::snapshot::{AccessError, Plan, Span};
use machine::target::{Abilities, Allow, Target};
use machine::window::WindowOrdering;
use std::io::{BufReader, ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use transport::emulator_bar::{self, EmulatorBar};
use transport::hosts::HostBar;
use transport::serve::{self, Server};
use transport::socket_bar::SocketBar;
use transport::wire::{Outbox, Received, VERSION, Welcome, WireReply, WireRequest, receive};

/// Serves bare chips without firmware on a socket of its own.
fn start(name: &str) -> PathBuf {
    serve(name, || EmulatorBar::new(emulator::Mesh::new(emulator::MeshConfig::n300()).unwrap()))
}

fn serve(name: &str, machine: impl FnOnce() -> EmulatorBar + Send + 'static) -> PathBuf {
    let path = std::env::temp_dir().join(format!("meshscope-{name}-{}", std::process::id()));
    let listener = serve::bind(&path).unwrap();
    std::thread::spawn(move || {
        let (name, abilities) = ("emulator:bare".to_owned(), emulator_bar::abilities());
        let welcome = Welcome { machine: name, abilities, ..Welcome::default() };
        serve::serve(Box::new(machine()), listener, welcome)
    });
    path
}

/// Connects a client with the right to write. The previous client has left, but the server can take
/// some time to notice.
fn connect(path: &Path) -> SocketBar {
    SocketBar::connect(path, true).unwrap()
}

fn open(path: &Path) -> BarTarget {
    open_for(path, Allow::ALL)
}

fn open_for(path: &Path, allow: Allow) -> BarTarget {
    let abilities = Abilities { allow, stepped_time: true, ..Abilities::default() };
    BarTarget::open("socket", Box::new(connect(path)), abilities, Deadlines::default()).unwrap()
}

#[test]
fn what_a_client_breaks_stays_broken_for_the_next() {
    let path = start("breaks");
    let stuck: Fault = "core:0.e8:stuck".parse().unwrap();
    let refused = open_for(&path, Allow::default()).disrupt(&stuck).unwrap_err();
    assert_eq!(refused.to_string(), "refused: core:0.e8:stuck: write is not allowed");
    let mut first = open(&path);
    assert_eq!(first.disrupt(&stuck), Ok(()));
    let absent: Fault = "link:0.8:down".parse().unwrap();
    let refused = first.disrupt(&absent).unwrap_err();
    assert_eq!(refused.to_string(), "refused: link:0.8:down: no link ends at 0:e8");
    drop(first);
    let second = connect(&path);
    assert_eq!(second.welcome().before.change.as_ref().unwrap().what, "core:0.e8:stuck");
    // Chip 1 has no firmware that publishes its coordinates, and no PCIe.
    let mut second: Box<dyn Bar> = Box::new(second);
    let refused = second.disrupt(ChipAddress::Device(1), &stuck).unwrap_err();
    assert!(refused.to_string().contains("this mesh has no such link or core"), "{refused}");
    assert_eq!(second.disrupt(ChipAddress::Device(0), &absent), Ok(()));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_mesh_outlives_its_client() {
    let path = start("outlives");
    let addr = NocAddr { chip: ChipId(0), tile: NocXy { x: 3, y: 3 }, offset: 0x100 };
    let mut first = open(&path);
    first.write(addr, b"left by the first client").unwrap();
    first.pass(1_000_000).unwrap();
    let then = first.now().unwrap();
    drop(first);
    let mut second = open(&path);
    assert!(second.now().unwrap() > then);
    let snapshot = second.read(&Plan { spans: vec![Span { addr, len: 24 }] });
    assert_eq!(snapshot.bytes(addr, 24).unwrap(), b"left by the first client");
    drop(second);
    let welcome = connect(&path).welcome().clone();
    assert_eq!(
        welcome.abilities,
        emulator_bar::abilities(),
        "received from the server, not looked up by name"
    );
    let before = welcome.before;
    let last = before.client.unwrap();
    assert_eq!((last.client, last.broke_off), (Client::this(), false));
    let change = before.change.unwrap();
    assert_eq!(change.client, Client::this());
    assert_eq!(change.what, "24 bytes at 0:3-3:0x100");
    std::fs::remove_file(path).unwrap();
}

/// Returns two bare chips, both with PCIe.
fn two_devices() -> EmulatorBar {
    let mut config = emulator::MeshConfig::n300();
    config.chips.iter_mut().for_each(|chip| chip.pcie = true);
    EmulatorBar::new(emulator::Mesh::new(config).unwrap())
}

#[test]
fn several_devices_are_read_in_parallel_over_a_socket_too() {
    let ask = |device, words: u64| {
        let read = |at| BarOp::Read { device, bar: 0, offset: 0x1FE8_0000 + at, len: 4, ones: 0 };
        DeviceBatch::new(device, (0..words).map(|n| read(4 * n)).chain([BarOp::Now]).collect())
    };
    let submit = |bar: &mut dyn Bar, mut batches: [DeviceBatch; 2]| {
        bar.submit_parallel(&mut batches);
        batches.map(|DeviceBatch { answer, result, .. }| (answer, result))
    };
    let path = serve("parallel", two_devices);
    let expected = submit(&mut two_devices(), [ask(0, 3), ask(1, 5)]);
    assert_eq!(expected.each_ref().map(|(answer, _)| answer.len()), [20, 28]);
    assert_eq!(submit(&mut connect(&path), [ask(0, 3), ask(1, 5)]), expected);
    std::fs::remove_file(path).unwrap();

    // Each host has one of the devices.
    let mut host = HostBar::new(Box::new(two_devices()), 1, 1, Vec::new());
    let [(answer, result), (nothing, absent)] = submit(&mut host, [ask(0, 5), ask(1, 1)]);
    assert_eq!((answer, result), expected[1]);
    assert!(nothing.is_empty() && absent.is_err(), "{absent:?}");
}

#[test]
fn one_client_writes_and_many_read() {
    let path = start("second");
    let addr = NocAddr { chip: ChipId(0), tile: NocXy { x: 3, y: 3 }, offset: 0x100 };
    let plan = Plan { spans: vec![Span { addr, len: 4 }] };
    let mut writer = open(&path);
    let Err(AccessError::Refused(why)) = SocketBar::connect(&path, true) else { panic!("let in") };
    assert_eq!(why, format!("{} holds this machine", Client::this()));
    let abilities = || Abilities { stepped_time: true, ..Abilities::default() };
    let inspected = || {
        let bar = SocketBar::connect(&path, false).unwrap();
        assert_eq!(bar.welcome().before.writer, Some(Client::this()));
        BarTarget::open("socket", Box::new(bar), abilities(), Deadlines::default()).unwrap()
    };
    let mut readers: Vec<_> = (0..20).map(|_| inspected()).collect();
    for round in 0..3_u32 {
        writer.write(addr, &round.to_le_bytes()).unwrap();
        for reader in &mut readers {
            assert_eq!(reader.read(&plan).bytes(addr, 4).unwrap(), round.to_le_bytes());
        }
    }
    drop(writer);
    let change = connect(&path).welcome().before.change.clone();
    assert_eq!(change.unwrap().what, "4 bytes at 0:3-3:0x100");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn the_server_itself_keeps_a_reading_client_from_writing() {
    let path = start("judged");
    let mut reader = SocketBar::connect(&path, false).unwrap();
    let point =
        |x, y| BarOp::Point { device: 0, window: 0, x, y, page: 0, order: WindowOrdering::Strict };
    let write = |offset, bytes: Vec<u8>| BarOp::Write { device: 0, bar: 0, offset, bytes };
    // The entry of a read request, and of a write request (wormhole.md 6.3).
    let entry = |flags: u8| {
        let mut entry = vec![0; 32];
        entry[12] = flags;
        entry
    };
    let mut judge = |batch: Vec<BarOp>| reader.submit(&batch, &mut Vec::new());
    let refused =
        || Err(AccessError::Refused("this client does not have the right to write".into()));
    // Channel 8 of Ethernet is tile 9-6, and its queues are at 0x11000.
    assert_eq!(judge(vec![point(9, 6), write(0x1_10C0, entry(4))]), Ok(()));
    assert_eq!(judge(vec![write(0x1_10A0, vec![1, 0, 0, 0])]), Ok(()));
    assert_eq!(judge(vec![write(0x1_10C0, entry(1))]), refused());
    assert_eq!(judge(vec![write(0x1_10C0, entry(5))]), refused());
    assert_eq!(judge(vec![write(0x9004, vec![1, 0, 0, 0])]), refused());
    assert_eq!(judge(vec![point(1, 1), write(0x1_10A0, vec![0; 4])]), refused());
    assert_eq!(judge(vec![write(0x1FC0_0000, vec![0; 8])]), refused());
    let stuck: Fault = "core:0.e8:stuck".parse().unwrap();
    assert_eq!(reader.disrupt(ChipAddress::Device(0), &stuck), refused());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn silent_connections_do_not_delay_other_clients() {
    let path = start("idle");
    let mut idle: Vec<_> = (0..20).map(|_| UnixStream::connect(&path).unwrap()).collect();
    connect(&path);
    // The server has not closed any of them yet: it did not wait for them.
    for stream in &mut idle {
        stream.set_nonblocking(true).unwrap();
        let waits = stream.read(&mut [0]).unwrap_err();
        assert_eq!(waits.kind(), ErrorKind::WouldBlock);
    }
    // It closes them after its time-out.
    for stream in &mut idle {
        stream.set_nonblocking(false).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_client_is_notified_that_the_machine_is_not_ready() {
    let path = std::env::temp_dir().join(format!("meshscope-soon-{}", std::process::id()));
    let server = Server::start(serve::bind(&path).unwrap(), "emulator:bare").unwrap();
    let waits = std::thread::spawn({
        let path = path.clone();
        move || SocketBar::connect(&path, true).map(|bar| bar.welcome().machine.clone())
    });
    // The server's second message follows the first after a second. Both arrive before the machine
    // is ready.
    let mut stream = BufReader::new(UnixStream::connect(&path).unwrap());
    let (version, client) = (VERSION, Client::this());
    let hello = WireRequest::Hello { version, client, writes: false };
    Outbox::default().send(stream.get_mut(), &hello).unwrap();
    for _ in 0..2 {
        let Received::Message(WireReply::Wait(why)) =
            receive(&mut stream, &mut Vec::new()).unwrap()
        else {
            panic!("no message")
        };
        assert_eq!(why, "emulator:bare is being brought up");
    }
    let bare = EmulatorBar::new(emulator::Mesh::new(emulator::MeshConfig::n300()).unwrap());
    let welcome = Welcome { machine: "emulator:bare".into(), ..Welcome::default() };
    server.open(Box::new(bare), welcome);
    assert_eq!(waits.join().unwrap(), Ok("emulator:bare".to_owned()));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_server_that_does_not_answer_times_out() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let Err(error) = SocketBar::over(ours, None, Duration::from_millis(100)) else {
        panic!("the server answered")
    };
    assert_eq!(error, AccessError::Unreachable("it did not answer within 100ms".into()));
}

#[test]
fn a_socket_without_a_server() {
    let path = std::env::temp_dir().join(format!("meshscope-stale-{}", std::process::id()));
    let unreachable = |path: &Path| {
        let Err(error) = SocketBar::connect(path, false) else { panic!("a server listens") };
        error.to_string()
    };
    assert_eq!(unreachable(&path), "unreachable: no such file");
    // The socket file of a dead server is replaced; that of a running server is not.
    drop(serve::bind(&path).unwrap());
    assert_eq!(unreachable(&path), "unreachable: no server listens there");
    let served = serve::bind(&path).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let error = serve::bind(&path).unwrap_err().to_string();
    assert!(error.ends_with("a server already listens there"), "{error}");
    drop(served);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn nothing_but_a_dead_socket_is_replaced() {
    let folder = std::env::temp_dir().join(format!("meshscope-taken-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, link) = (folder.join("file"), folder.join("link"));
    std::fs::write(&file, "a recording").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    for (path, what) in [
        (file.as_path(), "a file"),
        (&link, "a symbolic link"),
        (&folder, "a directory"),
        (Path::new("/dev/null"), "a character device"),
    ] {
        let error = serve::bind(path).unwrap_err().to_string();
        let path = path.display();
        let says = format!("{path}: is {what} and is not overwritten");
        assert_eq!(error, says);
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"a recording");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn another_machine_is_changed_only_with_permission() {
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
    let core = CoreId { chip: ChipId(0), tile: NocXy { x: 3, y: 3 }, core: CoreKind::Brisc };
    let order = SampleOrder { count: 2, apart_cycles: 1_000 };
    let sampling = Sampling::new(&mut writing, &[core], order).err().unwrap();
    let says = "socket cannot be changed: sampling program counters needs --allow sample";
    assert_eq!(crate::common::sentence(&sampling), says);
    let says = "refused: writing debug.bus_control there needs --allow sample";
    assert_eq!(refused(&mut writing, 0xFFB1_2054), says);
    let says = "refused: writing debug.risc_control_0 there needs --allow halt";
    assert_eq!(refused(&mut writing, 0xFFB1_2080), says);
    let says = "refused: writing l1.mailbox there needs --allow launch";
    assert_eq!(refused(&mut writing, 0x10), says);
    drop(writing);
    let mut sampler = open_for(&path, Allow::parse("sample").unwrap());
    let mut sampling = Sampling::new(&mut sampler, &[core], order).unwrap();
    while !sampling.poll(&mut sampler).unwrap() {}
    assert_eq!(sampling.end(&mut sampler).cores[0].samples.len(), 2);
    drop(sampler);
    let mut resetting = open_for(&path, Allow::parse("reset").unwrap());
    resetting.write(at(0xFFB1_21B0), &0x4_7800_u32.to_le_bytes()).unwrap();
    drop(resetting);
    std::fs::remove_file(path).unwrap();
}
