//! A mesh on a socket: many clients read, one at a time writes, and the mesh outlives all clients.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use access::bar_target::BarTarget;
use launch::sampling::Sampling;
use layouts::{ChipId, CoreId, CoreKind, NocAddr, NocXy};
use machine::bar::{Bar, BarOp, DeviceBatch, Sharing};
use machine::clients::Client;
use machine::fault::{ChipAddress, Fault};
use machine::patience::Deadlines;
use machine::progress::{Listener, Progress};
use machine::samples::SampleOrder;
use machine::snapshot::{AccessError, Plan, Span};
use machine::target::{Abilities, Allow, Target};
use machine::window::WindowOrdering;
use std::io::{BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
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
    assert!(
        refused.to_string().contains("this mesh has no such link, core or stream"),
        "{refused}"
    );
    assert_eq!(second.disrupt(ChipAddress::Device(0), &absent), Ok(()));
    std::fs::remove_file(path).unwrap();
}

/// What a recording of a served mesh keeps is the server's: its run, and the words that open the mesh.
#[test]
fn a_served_mesh_tells_its_run() {
    let path = serve("run", || {
        let mut mesh = emulator::Mesh::new(emulator::MeshConfig::n300()).unwrap();
        mesh.keep_history(Some(emulator::HistoryLimits::default()));
        EmulatorBar::new(mesh)
    });
    let mut target = open(&path);
    let addr = NocAddr { chip: ChipId(0), tile: NocXy { x: 3, y: 3 }, offset: 0x100 };
    target.write(addr, b"what the host did").unwrap();
    let run = target.run().unwrap().recorded().unwrap().unwrap();
    assert_eq!(run.target, "emulator:bare");
    assert!(run.journal.windows(17).any(|bytes| bytes == b"what the host did"));
    std::fs::remove_file(path).unwrap();
    let path = start("no-run");
    assert_eq!(open(&path).run().unwrap().recorded(), None);
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
    let unlocked = "this client does not have the lock of the routing queues";
    let unlocked = Err(AccessError::Refused(unlocked.into()));
    assert_eq!(judge(vec![point(9, 6), write(0x1_10C0, entry(4))]), unlocked);
    assert_eq!(reader.lock_queues(0), Ok(Sharing::Shared));
    let mut judge = |batch: Vec<BarOp>| reader.submit(&batch, &mut Vec::new());
    assert_eq!(judge(vec![point(9, 6), write(0x1_10C0, entry(4))]), Ok(()));
    assert_eq!(judge(vec![write(0x1_10A0, vec![1, 0, 0, 0])]), Ok(()));
    assert_eq!(judge(vec![write(0x1_10C0, entry(1))]), refused());
    assert_eq!(judge(vec![write(0x1_10C0, entry(5))]), refused());
    assert_eq!(judge(vec![write(0x9004, vec![1, 0, 0, 0])]), refused());
    assert_eq!(judge(vec![point(1, 1), write(0x1_10A0, vec![0; 4])]), refused());
    assert_eq!(judge(vec![write(0x1FC0_0000, vec![0; 8])]), refused());
    // Word by word, into the buffer of a block, or by an entry that another client left.
    for (word, bytes) in (0..).zip(entry(1).chunks(4)) {
        assert_eq!(judge(vec![point(9, 6), write(0x1_10C0 + 4 * word, bytes.to_vec())]), refused());
    }
    assert_eq!(judge(vec![write(0x1_2000, vec![0; 1024])]), refused());
    let left = [point(9, 6), write(0x1_10E0, entry(1)), write(0x1_1100, entry(4))];
    connect(&path).submit(&left, &mut Vec::new()).unwrap();
    for index in [2, 3, 0] {
        let doorbell = || write(0x1_10A0, vec![index, 0, 0, 0]);
        assert_eq!(judge(vec![doorbell()]), refused(), "{index}");
        assert_eq!(judge(vec![write(0x1_1120, entry(4)), doorbell()]), refused(), "{index}");
    }
    let whole = vec![write(0x1_10E0, entry(4)), write(0x1_10A0, vec![2, 0, 0, 0])];
    assert_eq!(judge(whole), Ok(()));
    assert_eq!(judge(vec![write(0x1_1230, vec![8, 0, 0, 0])]), refused());
    // A block that is too long, to memory of the host, and from no tile.
    let mut long = entry(0x44);
    long[9] = 5;
    let mut host = entry(4);
    host[28] = 1;
    assert_eq!(judge(vec![write(0x1_10C0, long)]), refused());
    assert_eq!(judge(vec![write(0x1_10C0, host)]), refused());
    let mut nowhere = entry(4);
    nowhere[5] = 0xFF;
    let outside = AccessError::Refused("48-63 is outside the grid".into());
    assert_eq!(judge(vec![write(0x1_10C0, nowhere)]), Err(outside));
    // The debug bus of a tile, also of a chip without PCIe, and nothing beside it.
    let debug = |x, y| BarOp::Point {
        device: 0,
        window: 0,
        x,
        y,
        page: 0xFFB0_0000,
        order: WindowOrdering::Strict,
    };
    assert_eq!(judge(vec![debug(1, 1), write(0x1_2054, vec![0; 4])]), Ok(()));
    assert_eq!(judge(vec![write(0x1_2054, vec![0; 8])]), refused());
    assert_eq!(judge(vec![write(0x1_2080, vec![0; 4])]), refused());
    assert_eq!(judge(vec![debug(0, 0), write(0x1_2054, vec![0; 4])]), refused());
    let far = |at: u32, flags| {
        let mut entry = entry(flags);
        // Tile 1-1, in bits 36 and 42 of the address.
        entry[..8].copy_from_slice(&(1 << 42 | 1 << 36 | u64::from(at)).to_le_bytes());
        vec![point(9, 6), write(0x1_10C0, entry)]
    };
    assert_eq!(judge(far(0xFFB1_2054, 1)), Ok(()));
    assert_eq!(judge(far(0xFFB1_2054, 0x41)), refused());
    assert_eq!(judge(far(0xFFB1_2080, 1)), refused());
    let stuck: Fault = "core:0.e8:stuck".parse().unwrap();
    assert_eq!(reader.disrupt(ChipAddress::Device(0), &stuck), refused());
    reader.announce("a change");
    assert_eq!(reader.submit(&[BarOp::Now], &mut Vec::new()), Ok(()));
    drop(reader);
    let change = connect(&path).welcome().before.change.clone();
    assert_eq!(change, None, "the test's own writer announced nothing");
    std::fs::remove_file(path).unwrap();
}

/// A client that speaks the protocol itself.
struct Raw(BufReader<UnixStream>);

impl Raw {
    fn connect(path: &Path, writes: bool) -> Self {
        let mut raw = Self(BufReader::new(UnixStream::connect(path).unwrap()));
        let hello = WireRequest::Hello { version: VERSION, client: Client::this(), writes };
        assert!(matches!(raw.ask(&hello), Some(WireReply::Welcome(..))));
        raw
    }

    /// Returns the reply; none if a batch succeeded.
    fn ask(&mut self, request: &WireRequest<'_>) -> Option<WireReply> {
        Outbox::default().send(self.0.get_mut(), request).unwrap();
        match receive(&mut self.0, &mut Vec::new()).unwrap() {
            Received::Message(reply) => Some(reply),
            Received::Plain => None,
            Received::End => panic!("the server closed the connection"),
        }
    }

    /// Expects that a batch is refused, in these words.
    fn refuses(&mut self, ops: Vec<BarOp>, words: &str) {
        let reply = self.ask(&WireRequest::Batch { ops: ops.into(), change: None });
        assert_eq!(reply, Some(WireReply::Failed(AccessError::Refused(words.into()))));
    }
}

#[test]
fn no_request_takes_the_machine_from_the_others() {
    let path = start("harm");
    let point = |x, page| BarOp::Point {
        device: 0,
        window: 0,
        x,
        y: x,
        page,
        order: WindowOrdering::Strict,
    };
    let read = |bar, offset, len| BarOp::Read { device: 0, bar, offset, len, ones: 0 };
    for writes in [false, true] {
        let mut raw = Raw::connect(&path, writes);
        let pass = |cycles| BarOp::Pass { cycles };
        let most = "a request has at most 1000000 cycles to pass, this one";
        raw.refuses(vec![pass(u64::MAX)], &format!("{most} {}", u64::MAX));
        raw.refuses(vec![pass(600_000), pass(600_000)], &format!("{most} 1200000"));
        let most = "a request has at most 2097152 bytes to read, this one";
        raw.refuses(vec![point(1, 0), read(0, 0, u32::MAX)], &format!("{most} 4294967295"));
        raw.refuses(vec![read(0, 0, 1 << 20); 3], &format!("{most} 3145728"));
        let most = "a request has at most 16384 operations, this one 20000";
        raw.refuses(vec![BarOp::Now; 20_000], most);
        raw.refuses(vec![point(255, 0)], "255-255 is outside the grid");
        raw.refuses(vec![point(1, 4)], "0x4 is no page of window 0");
        let kernels = BarOp::Point {
            device: 0,
            window: 185,
            x: 1,
            y: 1,
            page: 0,
            order: WindowOrdering::Memory,
        };
        raw.refuses(vec![kernels], "window 185 cannot be pointed");
        raw.refuses(
            vec![read(0, 0x20_0000, 4)],
            "0x200000 of BAR 0 is in no window of this client",
        );
        raw.refuses(vec![read(4, 0, 4)], "0x0 of BAR 4 is in no window of this client");
        let beyond = BarOp::ConfigRead { device: 32, offset: 0 };
        raw.refuses(vec![beyond], "there is no device 32");
        let absent = BarOp::Read { device: 1, bar: 0, offset: 0x1FE8_0000, len: 4, ones: 0 };
        raw.refuses(vec![absent], "there is no device 1");
        let class = BarOp::ConfigRead { device: 0, offset: 8 };
        raw.refuses(vec![class], "only the ids of config space can be read");
        // L1 ends, registers of a TDMA block the NoC, and so does an empty place between ranges.
        for (page, offset, len) in [(0x10_0000, 0x6_E000, 4), (0xFFB0_0000, 0x1_1000, 4)] {
            let ops = vec![point(1, page), read(0, offset, len)];
            let reply = raw.ask(&WireRequest::Batch { ops: ops.into(), change: None });
            assert!(matches!(reply, Some(WireReply::Failed(AccessError::Refused(_)))), "{reply:?}");
        }
        let twice = WireRequest::Parallel(vec![(0, vec![BarOp::Now].into()); 2]);
        let Some(WireReply::Parallel(results)) = raw.ask(&twice) else { panic!() };
        assert_eq!(
            results.iter().map(|(_, result)| result.is_ok()).collect::<Vec<_>>(),
            [true, false]
        );
    }
    // A message that is too long is not read; its sender gets a sentence.
    let mut raw = Raw::connect(&path, false);
    raw.0.get_mut().write_all(&[0, 0, 0, 1, 0, 0, 0, 0]).unwrap();
    let reply = receive::<WireReply>(&mut raw.0, &mut Vec::new()).unwrap();
    let why = "a message has at most 2097152 bytes, this one 16777216";
    assert_eq!(reply, Received::Message(WireReply::Failed(AccessError::Refused(why.into()))));
    // The machine has lost nothing, and no time to speak of.
    let mut next = open(&path);
    assert!(next.now().unwrap() < 1_000_000);
    let addr = NocAddr { chip: ChipId(0), tile: NocXy { x: 3, y: 3 }, offset: 0x100 };
    next.write(addr, &[7; 4]).unwrap();
    assert_eq!(
        next.read(&Plan { spans: vec![Span { addr, len: 4 }] }).bytes(addr, 4).unwrap(),
        [7; 4]
    );
    std::fs::remove_file(path).unwrap();
}

#[test]
fn greetings_that_do_not_end_take_no_place() {
    let path = start("greetings");
    let mut slow: Vec<_> = (0..300)
        .map(|_| {
            let mut stream = UnixStream::connect(&path).unwrap();
            // It may have been closed for the others.
            stream.write_all(&[40]).ok();
            stream
        })
        .collect();
    assert!(SocketBar::connect(&path, false).is_ok());
    // Neither does one that says a byte now and then.
    let mut last = slow.pop().unwrap();
    let start = Instant::now();
    while last.write_all(&[0]).is_ok() {
        std::thread::sleep(Duration::from_millis(200));
        assert!(start.elapsed() < Duration::from_mins(1));
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_client_that_stops_with_the_lock_of_the_queues_is_overtaken_and_goes_on() {
    let path = start("stopped");
    let id = BarOp::ConfigRead { device: 0, offset: 0 };
    let ask = |bar: &mut SocketBar| bar.submit(std::slice::from_ref(&id), &mut Vec::new());
    let mut first = SocketBar::connect(&path, false).unwrap();
    first.lock_queues(0).unwrap();
    // It is silent from here on.
    let mut second = SocketBar::connect(&path, false).unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    second.tell(&Listener::new(move |progress| hears.lock().unwrap().push(progress)));
    let start = Instant::now();
    assert_eq!(second.lock_queues(0), Ok(Sharing::Shared));
    assert!(start.elapsed() < Duration::from_secs(10));
    let uses = |used_by| Progress::Queues { used_by };
    let holder = uses(Some(std::process::id()));
    let heard = heard.lock().unwrap().clone();
    assert_eq!((heard.first(), heard.last()), (Some(&holder), Some(&uses(None))));
    // What the first one posted or reads now would be another's.
    let client = Client::this();
    let why = format!(
        "unreachable: {client} has taken over the routing queues: this client was silent for too long"
    );
    assert_eq!(ask(&mut first).unwrap_err().to_string(), why);
    assert_eq!(ask(&mut second), Ok(()));
    first.unlock_queues(0).unwrap();
    assert_eq!(ask(&mut first), Ok(()));
    second.unlock_queues(0).unwrap();
    assert_eq!(first.lock_queues(0), Ok(Sharing::Shared));
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
