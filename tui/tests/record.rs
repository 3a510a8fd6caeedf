//! Recordings: written, walked by keys and verbs, compared; and the past of an emulated mesh.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::stderr;
use crate::pseudo::Terminal;
use crate::schemas::conforms;
use portable_pty::CommandBuilder;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A run of the bank of hangs, of 12 moments, with a mark at its last one.
fn worker_stuck() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../recordings/library/worker_stuck.mcap")
}

/// A file of this process, which does not exist.
fn fresh(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("record-{name}.mcap"));
    let _ = std::fs::remove_file(&path);
    path
}

fn run(target: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", target]).args(arguments).output().unwrap()
}

fn printed(target: &str, arguments: &[&str], code: i32) -> String {
    let output = run(target, arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn answer(target: &str, arguments: &[&str]) -> Value {
    let text = printed(target, &[&["--json"], arguments].concat(), 0);
    let answer = serde_json::from_str(&text).unwrap();
    conforms(arguments, &answer);
    answer
}

fn refused(target: &str, arguments: &[&str], says: &str) {
    let output = run(target, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    let text = stderr(&output);
    assert!(text.contains(says) && text.lines().count() == 1, "{arguments:?}: {text}");
}

#[test]
fn a_recording_is_walked_by_keys() {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", worker_stuck().to_str().unwrap()]);
    let mut terminal = Terminal::start(&command, PathBuf::from("/nonexistent"), 120, 30);
    let mut types = |keys: &str, says: &str| {
        terminal.press(keys);
        terminal.shows(says);
    };
    types("", "moment #11 of 12, mark: core 0:1-2:brisc: ");
    types("[", "moment #10 of 12, ");
    types("[[", "moment #8 of 12, ");
    types("", " PAST ");
    types("]", "moment #9 of 12, ");
    types(":goto #0\r", "moment #0 of 12, ");
    types("}", "moment #1 of 12, ");
    types(":goto -20ms\r", "moment #7 of 12, ");
    types(":goto soon\r", "`soon` names no moment: ");
    types(":goto 5s\r", "moment #11 of 12, ");
    types("]", "this is the last moment");
    types(":play 0\r", "0 moments per second is no speed");
    types(":goto #0\r:play 50\r", "moment #11 of 12, ");
    types(":play -1000\r", "moment #0 of 12, ");
    types("m", "the mark is not kept in the file");
    types(":who-wrote 0:e8:0x1c\r", "a recording has moments, not every write");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
}

#[test]
fn the_past_of_an_emulated_mesh_is_visited() {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", "emulator:n300"]);
    let mut terminal = Terminal::start(&command, PathBuf::from("/nonexistent"), 140, 30);
    let mut types = |keys: &str, says: &str| {
        terminal.press(keys);
        terminal.shows(says);
    };
    types("", "links: 2");
    types(":goto 9ms\r", "t 90");
    types("", " PAST ");
    types(":run all-gather\r", "the past is on screen and cannot be changed");
    types(":goto 5s\r", "the past of the mesh is kept from 0 ns to ");
    types(":who-wrote 0:e8:0x1c\r", "0:9-6:0x1c written at ");
    types("}", "searched backwards only");
    types("3:0:e8:0x1c\r{", "heartbeat 0xabcd0");
    types(" ", "this is the present");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
}

#[test]
fn moments_are_recorded_copied_and_named() {
    let (file, copy) = (fresh("moments"), fresh("copy"));
    let (path, to) = (file.to_str().unwrap(), copy.to_str().unwrap());
    let output = run("emulator:n300", &["record", path, "--moments", "3", "--every", "10us"]);
    let says = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{says}");
    assert!(says.contains("3 moments over "), "{says}");
    assert!(says.contains(" instead of 10.00 us: a snapshot takes so long"), "{says}");
    assert!(printed(path, &["record", to], 0).is_empty());
    for moment in ["", ",at=#0", ",at=#1", ",at=-1us"] {
        for verb in [&["links"][..], &["cores", "0:e8", "--words"], &["fabric"]] {
            let of = |file: &str| {
                let text = printed(&format!("{file}{moment}"), &[&["--json"], verb].concat(), 0);
                text.replace(file, "FILE")
            };
            assert_eq!(of(path), of(to), "{moment} {verb:?}");
        }
    }
    refused(&format!("{path},at=#3"), &["links"], "the recording has moments #0 to #2");
    refused(&format!("{path},at=-1s"), &["links"], "the recording has moments #0 to #2");
    refused(&format!("{path},at=now"), &["links"], "`now` names no moment");
    refused(path, &["record", to], "exists already, and is not overwritten");
    refused(path, &["record", "/dev/null/x", "--on", "stall"], "is a recording");
    refused("emulator:n300", &["record", "x.mcap", "--every", "soon"], "--every");
}

#[test]
fn a_full_disk_is_named_as_such() {
    let output = run("emulator:n300", &["record", "/dev/full", "--moments", "1"]);
    let says = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{says}");
    assert!(says.contains("/dev/full: exists already"), "{says}");
}

#[test]
fn changes_and_differences_name_words() {
    let file = worker_stuck();
    let path = file.to_str().unwrap();
    let moves = worker_stuck().with_file_name("all_gather.mcap");
    let changes = answer(moves.to_str().unwrap(), &["changes", "--from", "#0", "0:1-2"]);
    let tile = &changes["tiles"][0];
    assert_eq!((&tile["chip"], &tile["tile"]), (&json!(0), &json!([1, 2])));
    let named = tile["words"].as_array().unwrap().iter().any(|word| word["name"].is_string());
    assert!(named, "{changes}");
    assert_eq!(changes["tiles"].as_array().unwrap().len(), 1);
    let [from, to] = ["from_cycles", "to_cycles"].map(|key| changes[key].as_u64().unwrap());
    assert!(to - from > 40_000_000, "{changes}");
    let page = printed(path, &["changes", "0:e8:0x1c"], 0);
    assert!(page.contains("0:9-6  ") && page.contains("tiles differ"), "{page}");
    let diff = answer("emulator:n300", &["diff", &format!("{path},at=#0"), path]);
    assert_eq!(diff["tiles"], answer(path, &["changes", "--from", "#0"])["tiles"]);
    refused("emulator:n300", &["changes"], "it has no past");
    refused(&format!("{path},at=#0"), &["changes"], "no moment is before its first");
    refused(path, &["changes", "0:1-2:0x10"], "does not change up to this moment");
}

#[test]
fn a_ring_is_written_when_something_is_found() {
    let file = fresh("ring");
    let path = file.to_str().unwrap();
    let mesh =
        "emulator:n300,run=fabric,topology=line,traffic=3000,fault=core:1.e1:stuck@60ms,at=30ms";
    let output = run(mesh, &["record", path, "--ring", "16M", "--on", "finding", "--every", "2ms"]);
    let says = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{says}");
    assert!(says.contains("found: ") && says.contains(" moments over "), "{says}");
    let why = answer_with(path, 1);
    let first = why["findings"][0]["condition"].as_str().unwrap_or_default().to_owned();
    assert!(says.contains(&format!("found: {first}")), "{says}: {why}");
    // It opens at what was found, and so does a copy; further moments follow.
    let copy = fresh("ring-copy");
    printed(path, &["record", copy.to_str().unwrap()], 0);
    let cycles = |target: &str| answer(target, &["fabric"])["cycles"].as_u64().unwrap();
    assert!(cycles(path) < cycles(&format!("{path},at=-0ns")));
    assert_eq!(cycles(path), cycles(copy.to_str().unwrap()));
}

fn answer_with(target: &str, code: i32) -> Value {
    serde_json::from_str(&printed(target, &["--json", "why"], code)).unwrap()
}
