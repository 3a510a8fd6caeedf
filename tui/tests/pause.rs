//! `pause`, `resume` and `run --pause-at`, as scripts use them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::stderr;
use crate::schemas::conforms;
use serde_json::{Value, json};
use std::process::{Command, Output, Stdio};

fn meshscope(target: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    let log = std::env::temp_dir().join(format!("meshscope-pause-{}.jsonl", std::process::id()));
    command.env("MESHSCOPE_AUDIT_LOG", log);
    command.args(["--target", target]).args(arguments).stdin(Stdio::null());
    command.output().unwrap()
}

fn says(target: &str, arguments: &[&str], code: i32, words: &str) -> Output {
    let output = meshscope(target, arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    assert!(said.contains(words), "{arguments:?}: {said}");
    output
}

#[test]
fn what_runs_is_parked() {
    let output = says("emulator:n300", &["pause", "--json"], 0, "paused: ");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    conforms(&["pause"], &answer);
    let kernels = answer["kernels"].as_array().unwrap();
    let of = |name: &str| kernels.iter().filter(|it| it["kernel"] == name).collect::<Vec<_>>();
    assert_eq!(of("ring_ping").len(), 4, "{answer}");
    assert!(of("tensix_worker").iter().all(|it| it["state"] == "parked"), "{answer}");
    assert_eq!(answer["refused"], json!(null));
}

#[test]
fn what_cannot_be_paused_or_resumed_is_said() {
    says("emulator:n300,run=idle", &["pause"], 2, "no kernel runs that could be paused");
    says("emulator:n300,run=fabric", &["pause"], 2, "routers run on");
    says("emulator:n300", &["resume"], 2, "no kernel is paused");
    let recording = "../recordings/library/n300_ring_ping.mcap";
    for verb in ["pause", "resume"] {
        says(recording, &[verb], 5, "a recording cannot be changed");
    }
    let words = "'hop' is no stage in which kernels work";
    says("emulator:n300,run=idle", &["run", "all-gather", "--pause-at", "hop"], 2, words);
}

#[test]
fn a_run_is_paused_before_its_first_packet_and_its_data_are_right() {
    for transport in ["edm", "fabric"] {
        let run = ["run", "all-gather", "-b", "64K", "--check", "--transport", transport];
        let arguments = [&run[..], &["--pause-at", "transfer"]].concat();
        let output = says("emulator:n300,run=idle", &arguments, 0, "add up, 0 in flight");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("# Out of bounds values : 0 OK"), "{text}");
    }
}
