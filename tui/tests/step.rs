//! Golden transcripts of steps: the handshake of two EDMs and the twelve steps of a termination, on
//! both ends, without times and counters. With `MESHSCOPE_TTSIM_DIR` the vendor's simulator gives the
//! same. `BLESS=1 cargo test -p tui` rewrites the golden files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::stderr;
use crate::pseudo::Terminal;
use portable_pty::CommandBuilder;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const HANDSHAKE: &[&str] =
    &["run", "all-gather", "-b", "16K", "--check", "--pause-at", "handshake"];
const ROUTERS: &[&str] = &[
    "run",
    "all-gather",
    "-b",
    "16K",
    "--transport",
    "fabric",
    "--check",
    "--pause-at",
    "handshake",
];
const TERMINATION: &[&str] = &[
    "run",
    "reduce-scatter",
    "-b",
    "64K",
    "--transport",
    "fabric",
    "--workers",
    "2",
    "--check",
    "--pause-at",
    "teardown",
];

/// Words of kernels that are no counters.
const STATES: [&str; 5] = [
    ".phase",
    "clients[0].stage",
    "router.stage",
    "channels[0].connected",
    "channels[1].connected",
];

/// Runs a collective in a terminal, steps at its pause, and lets it run on. Returns what was printed.
fn printed(target: &str, run: &[&str], steps: &str, last: &str) -> String {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", target]);
    if target.starts_with("ttsim:") {
        command.args(["--allow", "launch,write,reset"]);
    }
    command.args(run);
    command.cwd(std::env::temp_dir());
    command.env("MESHSCOPE_AUDIT_LOG", log());
    let mut terminal = Terminal::start(&command, PathBuf::from("/nonexistent"), 200, 400);
    terminal.shows("Enter lets it run on");
    terminal.press(&format!("{steps}\r"));
    terminal.shows(last);
    terminal.press("\r");
    assert!(terminal.ends().success(), "{}", terminal.text());
    let text = terminal.text();
    assert!(text.contains("Out of bounds values : 0 OK"), "{text}");
    text
}

fn log() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("step-{}.jsonl", std::process::id()))
}

/// The steps without times, counters and source lines.
fn transcript(printed: &str) -> String {
    let lines = printed.lines().skip_while(|line| *line != "step 1");
    let lines = lines.take_while(|line| line.starts_with("step ") || line.starts_with("  "));
    let is_kept = |line: &&str| {
        let label = line.trim_start().split("  ").next().unwrap_or_default();
        let counter = label.contains('.') && STATES.iter().all(|it| !label.ends_with(it));
        !counter && !label.ends_with(" for") && label != "line" && label != "waypoint"
    };
    // The rows of chips that are fused off differ from machine to machine, and tiles with them.
    let mut cores: Vec<String> = Vec::new();
    let mut numbered = |cell: &str| {
        let (Some((chip, rest)), true) = (cell.split_once(':'), cell.ends_with("isc")) else {
            return cell.to_owned();
        };
        if !cores.iter().any(|core| core == cell) {
            cores.push(cell.to_owned());
        }
        let kind = rest.split(':').next_back().unwrap_or_default();
        let alike = cores.iter().filter(|it| it.starts_with(chip) && it.ends_with(kind));
        let number = alike.take_while(|it| *it != cell).count();
        format!("{kind} {number} of chip {chip}")
    };
    // The columns are as wide as what was left out.
    let squeezed = |line: &str| {
        let cells = line.split("  ").filter(|cell| !cell.is_empty());
        let cells: Vec<String> = cells.map(|cell| numbered(cell.trim())).collect();
        let indent = if line.starts_with(' ') { "  " } else { "" };
        format!("{indent}{}\n", cells.join(" | "))
    };
    lines.filter(is_kept).map(squeezed).collect()
}

fn golden(name: &str, transcript: &str) {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/step_{name}.txt"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, transcript).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(transcript == kept, "{} differs; BLESS=1 keeps it:\n{transcript}", path.display());
}

/// The vendor's library of two chips, if it is there.
fn vendor() -> Option<String> {
    let Some(folder) = std::env::var_os("MESHSCOPE_TTSIM_DIR") else {
        println!("skipped: MESHSCOPE_TTSIM_DIR is not set");
        return None;
    };
    Some(format!("ttsim:{}", PathBuf::from(folder).join("libttsim_wh_x2.so").display()))
}

fn handshake(target: &str) -> String {
    transcript(&printed(target, HANDSHAKE, "s --link 0.9 -n 3", "step 3"))
}

fn termination(target: &str) -> String {
    transcript(&printed(target, TERMINATION, "s -n 7", "closed > ended"))
}

fn routers(target: &str) -> String {
    transcript(&printed(target, ROUTERS, "s --link 0.9 -n 4", "step 4"))
}

#[test]
fn routers_meet_on_both_ends() {
    golden("routers", &routers("emulator:n300,run=idle"));
}

#[test]
fn routers_of_the_vendors_simulator_meet_alike() {
    if let Some(target) = vendor() {
        golden("routers", &routers(&target));
    }
}

#[test]
fn the_handshake_on_both_ends() {
    golden("handshake", &handshake("emulator:n300,run=idle"));
}

#[test]
fn the_twelve_steps_of_a_termination() {
    golden("termination", &termination("emulator:n300,run=idle"));
}

#[test]
fn the_vendors_simulator_shakes_hands_alike() {
    if let Some(target) = vendor() {
        golden("handshake", &handshake(&target));
    }
}

#[test]
fn the_vendors_simulator_terminates_alike() {
    if let Some(target) = vendor() {
        golden("termination", &termination(&target));
    }
}

#[test]
fn one_end_is_released_and_the_other_shown() {
    let text =
        printed("emulator:n300,run=idle", HANDSHAKE, "s --link 0.9 --release 0.9 -n 2", "step 2");
    let transcript = transcript(&text);
    // The end that offers begins its second stage, the other one stays as it is.
    assert!(transcript.contains("stage | offer > answer awaited | not begun"), "{transcript}");
}

/// The same steps forward from the first moment and back from the last one.
#[test]
fn a_recording_is_walked_both_ways() {
    let file = std::env::temp_dir().join(format!("meshscope-walk-{}.mcap", std::process::id()));
    let path = file.display().to_string();
    let meshscope = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
        command.env("MESHSCOPE_AUDIT_LOG", log()).args(arguments);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = stderr(&output);
        (output.status.success(), String::from_utf8(output.stdout).unwrap(), said)
    };
    let (recorded, _, said) = meshscope(&["record", &path, "--moments", "20", "--every", "2ms"]);
    assert!(recorded, "{said}");
    let steps = |at: &str, back: &[&str]| -> Vec<String> {
        let target = format!("{path},at={at}");
        let walk = ["--target", &target, "step", "--link", "0.8", "-n", "100"];
        let (walked, printed, said) = meshscope(&[&walk, back].concat());
        assert!(walked && said.contains("moment shows another stage"), "{said}");
        let pages = printed.split("step ").skip(1);
        pages.map(|page| page.split_once(", at ").unwrap().1.to_owned()).collect()
    };
    let (forward, mut back) = (steps("#0", &[]), steps("-0ms", &["--back"]));
    back.reverse();
    assert!(back.len() > 2 && forward.starts_with(&back), "{forward:#?}\n{back:#?}");
    assert!(back.iter().all(|page| page.contains(" > ")), "{back:#?}");
    let (_, _, said) = meshscope(&["--target", &path, "step"]);
    assert!(said.contains("name cores or a link"), "{said}");
    let (_, _, said) = meshscope(&["--target", "emulator:n300", "step", "--link", "0.8", "--back"]);
    assert!(said.contains("only a recording is stepped back"), "{said}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn what_cannot_step_is_said() {
    let says = |target: &str, arguments: &[&str], words: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
        command.env("MESHSCOPE_AUDIT_LOG", log()).args(["--target", target, "step"]);
        let output = command.args(arguments).stdin(Stdio::null()).output().unwrap();
        let said = stderr(&output);
        assert!(!output.status.success() && said.contains(words), "{arguments:?}: {said}");
    };
    let idle = "emulator:n300,run=idle";
    says(idle, &["--link", "0.3"], "0:e3 is no end of a link of this mesh");
    says(idle, &["--link", "0.8"], "no kernel with stages runs on");
    says(idle, &["--link", "0.8", "--release", "0.9"], "0:e9 is no end of that link");
    says(idle, &[], "no kernel is paused");
    says("emulator:n300", &["0:e8"], "is not paused");
    says("emulator:n300,run=fabric", &["0:e9"], "is not paused");
}
