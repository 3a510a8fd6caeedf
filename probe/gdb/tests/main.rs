//! GDB itself debugs cores of an emulated mesh that run our firmware.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use gdb::{Wire, serve};
use images::ImageMap;
use launch::debugging::CoreControl;
use layouts::{ChipId, ChipKind, CoreId, CoreKind};
use machine::target::Target;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use transport::emulator_bar::EmulatorBar;
use workloads::scene::{Scene, Workload};

/// A session that lasts longer has come to a standstill.
const LONGEST: Duration = Duration::from_mins(5);
const GDB: &str = "gdb-multiarch";

fn firmware() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware")
}

/// Returns the line of BRISC's firmware that contains a text.
fn line(text: &str) -> usize {
    let source = std::fs::read_to_string(firmware().join("device/tensix/brisc.cpp")).unwrap();
    source.lines().position(|line| line.contains(text)).unwrap() + 1
}

/// Returns a mesh whose compute tiles wait for kernels, and cores of one tile.
fn waiting(kinds: &[CoreKind]) -> (Box<dyn Target>, Vec<CoreId>) {
    let (mut images, _) = ImageMap::firmware();
    let scene = Scene { run: Some(Workload::Idle), ..Scene::new("n300") };
    let bar = EmulatorBar::new(scene.power_on(&images).unwrap());
    let target = scene.start(Box::new(bar), &mut images).unwrap();
    let place = target.mesh().compute_tiles(ChipId(0)).next().unwrap();
    let core = |core: &CoreKind| CoreId { chip: place.chip, tile: place.tile, core: *core };
    let cores = kinds.iter().map(core).collect();
    (Box::new(target), cores)
}

/// Lets GDB carry out commands on these cores; returns what it printed, and what it was not told.
fn debug(target: &mut dyn Target, cores: &[CoreId], commands: &[&str]) -> (String, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let remote = format!("target remote {}", listener.local_addr().unwrap());
    let image = firmware().join("images/tensix_brisc.elf");
    let mut command = Command::new(GDB);
    command.args(["-nx", "-batch", "-ex", "set pagination off", "-ex", "set width 0"]);
    command.arg("-ex").arg(format!("file {}", image.display())).args(["-ex", &remote]);
    command.args(commands.iter().flat_map(|command| ["-ex", command]));
    // The paths of sources are relative to the workspace.
    command.current_dir(firmware().join(".."));
    let client = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let client = client.spawn().unwrap();
    let (stream, _) = listener.accept().unwrap();
    let wire = Wire::of_tcp(stream).unwrap();
    let layout = ChipKind::Wormhole.layout();
    let mut told = Vec::new();
    let start = Instant::now();
    let mut wanted = || start.elapsed() < LONGEST;
    let served = serve(target, cores, wire, &mut wanted, &mut |error| {
        told.push(error.sentence(layout));
    });
    served.unwrap();
    let output = client.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (text + &String::from_utf8(output.stderr).unwrap(), told)
}

fn has_gdb() -> bool {
    let found = Command::new(GDB).arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: {GDB} is not installed");
    }
    found
}

fn expect(text: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(text.contains(wanted), "no {wanted:?} in\n{text}");
    }
}

#[test]
fn gdb_hits_a_breakpoint_prints_a_structure_and_a_backtrace_and_steps_over_a_line() {
    if !has_gdb() {
        return;
    }
    let (mut target, cores) = waiting(&[CoreKind::Brisc, CoreKind::Trisc0]);
    let wait = line("switch (go().signal)");
    let at = format!("break brisc.cpp:{wait}");
    let (text, told) = debug(
        target.as_mut(),
        &cores,
        &[
            "info threads",
            &at,
            "continue",
            "backtrace",
            "print/x mailboxes->go_messages[0]",
            "print sizeof(*mailboxes)",
            "x/2xw $sp",
            "delete",
            "next",
            "step",
            "stepi",
            "thread 2",
            "backtrace 1",
            "info registers pc sp",
            "detach",
        ],
    );
    let name = |core: &CoreId| core.to_string();
    expect(&text, &[&name(&cores[0]), &name(&cores[1])]);
    expect(&text, &["Thread 1 hit Breakpoint 1, ", " in firmware_start () at "]);
    expect(&text, &["#1  (anonymous namespace)::wait_for_go ()", "#2  firmware_main ()"]);
    expect(
        &text,
        &["signal = 0x0}", "0xffb00fe0:", "(Thread 1.2)", "[Inferior 1 (process 1) detached]"],
    );
    // `next` ends at the caller's line, `step` inside again.
    let caller = format!("\n{}\t        wait_for_go();", line("    wait_for_go();"));
    expect(&text, &[&caller, &format!("{wait}\t        switch (go().signal) {{")]);
    assert!(!text.contains("Cannot access memory"), "{text}");
    assert_eq!(told, Vec::<String>::new(), "{text}");
    // The cores go on, and nothing of the debugger is left.
    for core in cores {
        CoreControl::attach(target.as_mut(), core).unwrap();
    }
}

#[test]
fn gdb_watches_memory_interrupts_and_writes() {
    if !has_gdb() {
        return;
    }
    let (mut target, cores) = waiting(&[CoreKind::Brisc]);
    let (text, _) = debug(
        target.as_mut(),
        &cores,
        &[
            "rwatch mailboxes->go_messages[0].signal",
            "continue",
            "delete",
            "set var $t6 = 0x1234",
            "print/x $t6",
            "set {int}0xffb00f00 = 0x55aa",
            "print/x {int}0xffb00f00",
            "print {int}0xffc00000",
            "detach",
        ],
    );
    expect(&text, &["Hardware read watchpoint 1", "Value = ", "$1 = 0x1234", "$2 = 0x55aa"]);
    expect(&text, &["Cannot access memory at address 0xffc00000"]);
}

#[test]
fn a_client_that_disappears_leaves_no_core_paused() {
    let (mut target, cores) = waiting(&[CoreKind::Brisc]);
    let wire = Wire::new(std::io::empty(), std::io::sink());
    serve(target.as_mut(), &cores, wire, &mut || true, &mut |_| ()).unwrap();
    CoreControl::attach(target.as_mut(), cores[0]).unwrap();
}

/// Returns a packet of GDB's remote protocol.
fn packet(text: &str) -> Vec<u8> {
    let sum = text.bytes().fold(0_u8, u8::wrapping_add);
    format!("${text}#{sum:02x}").into_bytes()
}

/// Lets a client of the test's own speak to two cores; returns what it heard.
fn speaks<T: Send>(act: impl FnOnce(&mut UnixStream) -> T + Send) -> T {
    let (mut target, cores) = waiting(&[CoreKind::Brisc, CoreKind::Trisc0]);
    let (mut client, served) = UnixStream::pair().unwrap();
    let wire = Wire::of_unix(served).unwrap();
    let done = std::thread::scope(|scope| {
        let acts = scope.spawn(move || act(&mut client));
        let start = Instant::now();
        let mut wanted = || start.elapsed() < LONGEST;
        serve(target.as_mut(), &cores, wire, &mut wanted, &mut |_| ()).unwrap();
        assert!(start.elapsed() < LONGEST, "the session did not end");
        acts.join().unwrap()
    });
    // The cores go on, and nothing of the debugger is left.
    for core in cores {
        CoreControl::attach(target.as_mut(), core).unwrap();
    }
    done
}

/// Sends a packet; returns the next one.
fn answer(client: &mut UnixStream, text: &str) -> String {
    client.write_all(&packet(text)).unwrap();
    receive(client)
}

/// Returns the next packet.
fn receive(client: &mut UnixStream) -> String {
    let (mut byte, mut packet) = ([0], String::new());
    while byte != [b'#'] {
        client.read_exact(&mut byte).unwrap();
        packet.push(byte[0].into());
    }
    client.read_exact(&mut [0; 2]).unwrap();
    // The server may have ended the session with this answer.
    client.write_all(b"+").ok();
    packet.trim_start_matches(['+', '$']).trim_end_matches('#').to_owned()
}

#[test]
fn a_stop_by_an_interrupt_names_a_thread_and_a_detached_client_leaves() {
    let act = |client: &mut UnixStream| {
        let supported = answer(client, "qSupported:multiprocess+;swbreak+");
        assert!(supported.contains("PacketSize"), "{supported}");
        client.write_all(&packet("vCont;c")).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        client.write_all(&[3]).unwrap();
        let stop = receive(client);
        (stop, answer(client, "D;1"))
    };
    let (stop, detached) = speaks(act);
    assert!(stop.starts_with("T02") && stop.contains("thread:p01.01;"), "{stop}");
    assert_eq!(detached, "OK");
}

#[test]
fn a_range_of_more_words_than_watchpoints_is_refused_at_once() {
    let act = |client: &mut UnixStream| {
        let start = Instant::now();
        let refused = [answer(client, "Z2,0,ffffffff"), answer(client, "z2,0,ffffffff")];
        let set = [answer(client, "Z2,1000,20"), answer(client, "z2,1000,20")];
        (refused, set, start.elapsed())
    };
    let (refused, set, took) = speaks(act);
    assert!(refused.iter().all(|answer| answer.starts_with('E')), "{refused:?}");
    assert_eq!(set, ["OK", "OK"]);
    assert!(took < Duration::from_secs(30), "{took:?}");
}

#[test]
fn a_client_that_asks_and_takes_no_answer_ends_the_session() {
    let act = |client: &mut UnixStream| {
        client.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        let question = packet("qXfer:features:read:target.xml:0,fff");
        // Until the server closes the connection.
        while client.write_all(&question).and_then(|()| client.write_all(b"+")).is_ok() {}
    };
    speaks(act);
}
