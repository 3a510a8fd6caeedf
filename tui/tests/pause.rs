//! `pause`, `resume` and `run --pause-at`, as scripts use them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{logged as meshscope, stderr};
use crate::pseudo::Terminal;
use crate::schemas::conforms;
use portable_pty::CommandBuilder;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Output;

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

/// Its workers are launched to park there: however long it takes until they are seen, they do not
/// come farther. The launch that was paused is not the one whose time is told.
#[test]
fn a_run_is_paused_at_a_share_and_its_time_is_that_of_a_run_without_pause() {
    for transport in ["edm", "fabric"] {
        let time = |pause: &[&str], says_so: &str| {
            let run = ["--json", "run", "all-gather", "-b", "64K", "--check"];
            let arguments = [&run[..], &["--transport", transport], pause].concat();
            let output = says("emulator:n300,run=idle", &arguments, 0, says_so);
            let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(answer["out_of_bounds"], 0, "{answer}");
            answer["rows"][0]["time_us"].as_f64().unwrap()
        };
        let whole = time(&[], "");
        for share in ["1%", "50%", "99%"] {
            let paused = time(&["--pause-at", share], "paused: ");
            assert!(paused < 1.2 * whole, "{share}: {paused} us, {whole} us without a pause");
        }
    }
}

#[test]
fn a_run_of_many_short_launches_is_paused_in_the_live_view() {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", "emulator:n300,run=idle,pace=max"]);
    let mut terminal = Terminal::start(&command, PathBuf::from("/nonexistent"), 120, 40);
    terminal.shows("links: 2");
    terminal.press(":run all-gather -b 4K -n 2000\r");
    terminal.shows("of 2000): ");
    terminal.press("p");
    terminal.shows(" PAUSED ");
    terminal.shows("paused: ");
    terminal.shows("  paused  t ");
    let text = terminal.text();
    assert!(!text.contains("healthy") && text.contains("of 2000): moves data"), "{text}");
    assert!(!text.contains("100%"), "a few of many launches are done:\n{text}");
    terminal.press("p");
    terminal.shows("resumed: ");
    terminal.press("q");
}
