//! `debug` and `gdb`, as scripts use them: cores of an emulated mesh, and those that are refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::stderr;
use crate::schemas::conforms;
use serde_json::{Value, json};
use std::process::{Command, Output, Stdio};

const IDLE: &str = "emulator:n300,run=idle";

fn meshscope(target: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    let log = std::env::temp_dir().join(format!("meshscope-debug-{}.jsonl", std::process::id()));
    command.env("MESHSCOPE_AUDIT_LOG", log);
    command.args(["--target", target]).args(arguments).stdin(Stdio::null());
    command.output().unwrap()
}

/// Expects an exit code and words on standard error.
fn refuses(target: &str, arguments: &[&str], code: i32, words: &str) {
    let output = meshscope(target, arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    assert!(said.contains(words), "{arguments:?}: {said}");
}

#[test]
fn a_core_is_paused_at_a_breakpoint_and_runs_on() {
    let address = "break=0x3bb0";
    let commands = ["debug", "1:1-2", "step", address, "continue", "registers", "--json"];
    let output = meshscope(IDLE, &commands);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("1:1-2:brisc runs on"), "{}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    conforms(&["debug"], &answer);
    let stops = answer["stops"].as_array().unwrap();
    let why: Vec<_> = stops.iter().map(|stop| stop["why"].as_str().unwrap()).collect();
    assert_eq!(why, ["command", "command", "breakpoint"]);
    assert_eq!((&stops[2]["pc"], &stops[2]["addr"]), (&json!(0x3BB0), &json!(0x3BB0)));
    assert!(stops[2]["place"].as_str().unwrap().contains("wait_for_go < brisc.cpp:"), "{answer}");
    assert_eq!(stops[2]["registers"].as_array().unwrap().len(), 32);
}

#[test]
fn what_cannot_be_debugged_is_refused_with_the_reason() {
    refuses(IDLE, &["debug", "0:e8"], 5, "carries the link 0:e8");
    refuses(IDLE, &["debug", "0:1-2:ncrisc"], 5, "has no debug interface");
    refuses(IDLE, &["gdb", "0:e8", "--stdio"], 5, "until the board is reset");
    refuses(IDLE, &["debug", "0:1-2", "hop"], 2, "'hop' is not a command");
    refuses(IDLE, &["debug", "7:1-2"], 2, "there is no chip 7");
    let twice = ["gdb", "0:1-2,0:1-2:brisc", "--stdio"];
    refuses(IDLE, &twice, 2, "0:1-2:brisc is given twice");
    let recording = "../recordings/library/n300_ring_ping.mcap";
    refuses(recording, &["debug", "0:1-2"], 5, "a recording cannot be changed");
}

#[test]
fn a_client_that_says_nothing_ends_the_session() {
    // Standard input has ended.
    refuses(IDLE, &["gdb", "0:1-2,0:1-2:trisc2", "--stdio"], 0, "the session has ended");
}
