//! The binary on the emulated n300 with its ring ping: screens and verbs show bytes that were read
//! over the bus.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::stderr;
use crate::pseudo;

use crate::schemas::conforms;
use portable_pty::CommandBuilder;
use pseudo::Terminal;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Not the default target: a test names its mesh.
const MESH: &str = "emulator:n300";

fn answer(target: &str, arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    let output = command.args(["--json", "--target", target]).args(arguments).output().unwrap();
    let stderr = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    assert!(
        stderr.contains("of its own time"),
        "one-shot verbs report the time of the snapshot: {stderr}"
    );
    let answer = serde_json::from_slice(&output.stdout).unwrap();
    conforms(arguments, &answer);
    answer
}

#[test]
fn the_mesh_is_found_and_its_picture_is_reproducible() {
    let mesh = answer(MESH, &["mesh"]);
    assert_eq!(mesh, answer(MESH, &["mesh"]), "the same mesh at the same time");
    let chips = mesh["chips"].as_array().unwrap();
    assert_eq!(chips.len(), 2);
    assert_eq!((&chips[0]["pcie"], &chips[1]["pcie"]), (&json!(true), &json!(false)));
    assert_eq!(chips[1]["coord"], json!([1, 0, 0, 0]));
    let ends =
        |l: &Value| (l["a"]["channel"].clone(), l["b"]["channel"].clone(), l["state"].clone());
    let links: Vec<_> = mesh["links"].as_array().unwrap().iter().map(ends).collect();
    let up = json!("up");
    assert_eq!(links, [(json!(8), json!(0), up.clone()), (json!(9), json!(1), up)]);
    assert_eq!(mesh["gaps"], json!([]));
}

#[test]
fn a_link_with_wrong_bits_counts_them_where_it_is_looked_at() {
    let links = answer("emulator:n300,fault=link:0.9:bit-error=1e-4", &["links"]);
    let counts = |link: usize| {
        let end = |n: usize| links["links"][link]["ends"][n]["crc_errors"].as_u64().unwrap();
        [end(0), end(1)]
    };
    assert_eq!(links["links"][1]["a"], json!({"chip": 0, "channel": 9}));
    assert!(counts(1).iter().all(|&count| count > 0), "{links}");
    assert_eq!(counts(0), [0, 0], "the other link is well");
}

#[test]
fn the_cores_of_the_ring_name_their_waypoints_and_sources() {
    for place in ["0:e8", "0:e9", "1:e0", "1:e1"] {
        let cores = answer(MESH, &["cores", place]);
        let core = &cores["cores"][0];
        assert_eq!(core["activity"], "launched", "{core}");
        assert_eq!(core["waypoint"].as_str().unwrap().len(), 4, "{core}");
        let file = core["location"][0]["file"].as_str().unwrap();
        assert!(file.starts_with("firmware/device/"), "{core}");
        let frames = core["location"].as_array().unwrap();
        assert!(frames.iter().all(|f| f["function"].is_string()), "{core}");
        assert!(core["location"][0]["line"].is_u64(), "{core}");
        assert_eq!(core["channels"].as_array().unwrap().len(), 8, "{core}");
        let images = core["images"].as_array().unwrap();
        assert!(
            images.len() == 3 && images.iter().all(|i| i["provenance"] == "verified"),
            "{core}"
        );
        // The comparison is reported: of each image its build id.
        for image in images {
            assert_eq!(
                (&image["check"], &image["compared_bytes"]),
                (&"build-id".into(), &16.into())
            );
            assert!(image["text_bytes"].as_u64() > Some(16), "{image}");
        }
    }
}

#[test]
fn far_memory_is_read_through_the_queues() {
    // The worker of that tile writes word i as seed + lap + i * 0x01000193
    // (firmware/device/LAUNCH.txt).
    let read = answer(MESH, &["read", "1:1-1:0x20000", "64"]);
    let hex = read["bytes"].as_str().unwrap();
    let word = |i: usize| u32::from_str_radix(&hex[i * 8..i * 8 + 8], 16).unwrap().swap_bytes();
    assert_eq!(hex.len(), 128);
    let steps: Vec<u32> = (1..16).map(|i| word(i).wrapping_sub(word(i - 1))).collect();
    // At most once the reader overtakes the writer: later words are still of the previous lap.
    let torn = steps.iter().filter(|s| **s == 0x0100_0192).count();
    let whole = steps.iter().filter(|s| **s == 0x0100_0193).count();
    assert!(torn <= 1 && whole + torn == steps.len(), "{steps:x?} {hex}");
}

#[test]
fn what_is_unknown_is_usage_and_what_is_unsafe_is_refused() {
    for (place, code, word) in [
        ("0:1-2:0x16e000", 2, "nothing is known at 0x16e000 in a tensix tile"),
        ("0:1-2:0xffb12000", 2, "nothing is known at 0xffb12000 in a tensix tile"),
        ("0:9-6:0xf0000", 2, "in an eth tile"),
        ("0:1-2:0xffb20002", 2, "aligned 4-byte words"),
        ("0:1-2:0xffb11000", 5, "refused: tdma"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
        let output = command.args(["--target", MESH, "read", place]).output().unwrap();
        let stderr = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{place}: {stderr}");
        assert!(stderr.contains(word) && stderr.lines().count() == 1, "{place}: {stderr}");
    }
}

#[test]
fn the_ring_ping_moves_on_the_screen() {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    // A pace at which a hop takes long enough also where tests run slowly.
    command.args(["--target", "emulator:n300,pace=20M"]);
    let mut terminal = Terminal::start(&command, PathBuf::from("/nonexistent"), 80, 24);
    terminal.shows("links: 2");
    // The payload is in flight on one link and then on the other.
    for link in ["0:e8", "0:e9", "0:e8"] {
        let start = Instant::now();
        let row = |line: &str| line.contains("U up") && line.contains(&format!(" {link} "));
        let carries = |text: &str| text.lines().any(|l| row(l) && l.contains(" 1K "));
        while !carries(&terminal.text()) {
            assert!(start.elapsed() < Duration::from_mins(5), "{link}:\n{}", terminal.text());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    terminal.press("\r");
    terminal.shows("chip 0 tile");
    terminal.press("\r");
    terminal.shows("ring_ping");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
    terminal.is_given_back();
}

/// A mesh that takes far longer to open than the test.
const SLOW: &str = "emulator:n300,at=100s";

/// Starts the binary and waits until it listens to signals.
fn started(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let path = format!("/proc/{}/status", child.id());
    let start = Instant::now();
    // SIGINT and SIGTERM, the last, in the mask of caught signals.
    let listens = || {
        let status = std::fs::read_to_string(&path).unwrap();
        let mask = status.lines().find_map(|l| l.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(mask.trim(), 16).unwrap() & 0x4002 == 0x4002
    };
    while !listens() {
        assert!(start.elapsed() < Duration::from_mins(5), "{arguments:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

/// Signals the process and returns its messages from then on.
fn interrupt(mut child: Child, signal: &str) -> String {
    let start = Instant::now();
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
    let output = child.wait().unwrap();
    assert!(start.elapsed() < Duration::from_mins(5), "{signal}: {:?}", start.elapsed());
    assert_eq!(output.code(), Some(130), "{signal}");
    std::io::read_to_string(child.stderr.take().unwrap()).unwrap()
}

#[test]
fn a_signal_ends_a_verb_at_once_with_one_line() {
    // Under `nohup` the child inherits that SIGHUP is ignored.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|l| l.strip_prefix("SigIgn:")).unwrap();
    let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 != 0;
    let hangup = if ignored { "TERM" } else { "HUP" };
    for (verb, signal) in [("mesh", "INT"), ("cores", "TERM"), ("links", hangup)] {
        let child = started(&["--target", SLOW, verb]);
        assert_eq!(interrupt(child, signal), "meshscope: interrupted\n", "{verb}");
    }
    let child = started(&["--target", SLOW, "read", "0:9-6:0"]);
    assert_eq!(interrupt(child, "INT"), "meshscope: interrupted\n");
}

#[test]
fn an_interrupted_recording_can_be_opened_or_is_gone() {
    let folder = std::env::temp_dir().join(format!("meshscope-cut-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("cut.mcap");
    let name = file.to_str().unwrap();
    let child = started(&["--target", SLOW, "record", name]);
    assert_eq!(interrupt(child, "TERM"), "meshscope: interrupted\n");
    assert!(!file.exists(), "a file without a moment is in the way of the next");

    let mut child = started(&["--target", MESH, "record", name, "--every", "10_000_000_000"]);
    // This message comes when the first snapshot is in the file; on a slow machine, others come
    // before it.
    let (mut line, mut byte) = (String::new(), [0; 1]);
    while !line.contains("bus transactions") {
        child.stderr.as_mut().unwrap().read_exact(&mut byte).unwrap();
        line.push(char::from(byte[0]));
    }
    let rest = interrupt(child, "INT");
    assert!(
        [
            // In order, or, on a slow machine, at once.
            format!("meshscope: {name}: 1 moment; open it with --target {name}\nmeshscope: interrupted\n"),
            format!("meshscope: interrupted: {name}: 1 moment; open it with --target {name}\n"),
        ]
        .iter()
        .any(|end| rest.ends_with(end)),
        "{rest}"
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    let output = command.args(["--target", name, "links"]).output().unwrap();
    let stderr = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_slow_verb_reports_what_it_waits_for_on_one_line() {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", SLOW, "--json", "mesh"]);
    let mut terminal = Terminal::start(&command, PathBuf::from("/nonexistent"), 80, 24);
    terminal.shows("meshscope: boot: ");
    terminal.shows(" ms of 100.000 s of its own time, after ");
    terminal.press("\x03");
    assert_eq!(terminal.ends().exit_code(), 130);
    terminal.shows("meshscope: interrupted");
    let text = terminal.text();
    assert!(!text.contains("boot"), "the line is gone:\n{text}");
}

#[test]
fn the_view_answers_while_its_target_boots() {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", SLOW]);
    for (key, code) in [("q", 0), ("\x03", 130)] {
        let mut terminal = Terminal::start(&command, PathBuf::from("/nonexistent"), 80, 24);
        terminal.shows("2 of 2 chips found, 2 ends of links read");
        terminal.shows(" ms of 100.000 s of its own time");
        terminal.press("?");
        terminal.shows("help: j k scroll");
        terminal.press("\x1b");
        terminal.shows("boot");
        terminal.press(key);
        assert_eq!(terminal.ends().exit_code(), code);
        terminal.is_given_back();
    }
}

#[test]
fn a_served_mesh_outlives_its_clients() {
    let socket = std::env::temp_dir().join(format!("meshscope-live-{}.sock", std::process::id()));
    let target = format!("socket:{}", socket.display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["serve", MESH, "--socket", socket.to_str().unwrap()]).stderr(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let mut served = BufReader::new(server.stderr.take().unwrap()).lines();
    assert!(served.next().unwrap().unwrap().contains(&target));
    let times: Vec<u64> =
        (0..2).map(|_| answer(&target, &["mesh"])["cycles"].as_u64().unwrap()).collect();
    assert!(times[0] < times[1], "the mesh went on: {times:?}");
    let id = server.id().to_string();
    assert!(Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
    assert_eq!(server.wait().unwrap().code(), Some(130));
    assert!(!socket.exists(), "it leaves nothing behind");
}

#[test]
fn the_view_outlives_its_target_and_says_so() {
    let socket = std::env::temp_dir().join(format!("meshscope-gone-{}.sock", std::process::id()));
    let mut serve = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    serve.args(["serve", MESH, "--socket", socket.to_str().unwrap()]).stderr(Stdio::piped());
    let mut server = serve.spawn().unwrap();
    let mut stderr = BufReader::new(server.stderr.take().unwrap()).lines();
    stderr.next().unwrap().unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", &format!("socket:{}", socket.display())]);
    let mut terminal = Terminal::start(&command, PathBuf::from("/nonexistent"), 80, 24);
    terminal.shows("links: 2");
    server.kill().unwrap();
    server.wait().unwrap();
    terminal.shows("the target is gone: device gone");
    terminal.shows("LOST");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 3);
    terminal.is_given_back();
    let _ = std::fs::remove_file(socket);
}
