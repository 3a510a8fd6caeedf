//! `debug` and `gdb`, as scripts use them: cores of an emulated mesh, and those that are refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{logged as meshscope, stderr};
use crate::pseudo::Terminal;
use crate::schemas::conforms;
use crate::served::Server;
use portable_pty::CommandBuilder;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const IDLE: &str = "emulator:n300,run=idle";

/// Expects an exit code and words on standard error.
fn refuses(target: &str, arguments: &[&str], code: i32, words: &str) {
    let output = meshscope(target, arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    assert!(said.contains(words), "{arguments:?}: {said}");
}

#[test]
fn a_core_is_paused_at_a_breakpoint_and_runs_on() {
    let commands =
        ["debug", "1:1-2", "stepi", "break", "0x3bb0", "continue", "registers", "--json"];
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

/// Returns what a command wrote, with the exit code that it must have.
fn says(output: &Output, code: i32) -> String {
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(output);
    assert_eq!(output.status.code(), Some(code), "{said}");
    said
}

/// A kernel leaves the address map, and the firmware of another core is overwritten by zeros. Every
/// client is told that the mesh stopped the cores, and so is the reader of a recording.
#[test]
fn a_core_that_the_emulated_mesh_stopped_is_named() {
    let server = Server::of(IDLE, "stopped");
    let file = std::env::temp_dir().join(format!("meshscope-stopped-{}.mcap", std::process::id()));
    let file = file.to_str().unwrap();
    let kernel = ["../firmware/images/tensix_worker.elf", "--args", "0x40000000,8,4,1000,1,0"];
    let launch = ["--allow", "launch,write,reset", "launch", "--on", "1:1-2"];
    says(&server.ask(&[&launch[..], &kernel].concat()), 0);
    // An instruction of `wait_for_go`, which turns there.
    says(&server.ask(&["--allow", "write", "write", "1:1-1:0x3bb0", "0"]), 0);
    says(&server.ask(&["record", file, "--for", "20ms"]), 0);
    for output in [server.ask(&["check"]), meshscope(file, &["check"])] {
        let said = says(&output, 1);
        let found = |words: &[&str]| {
            assert!(said.lines().any(|line| words.iter().all(|it| line.contains(it))), "{said}");
        };
        let stopped = "the emulated mesh stopped it: ";
        found(&["not-modelled ", "core 1:1-2:brisc: ", stopped, "unmapped-address 0x40000000"]);
        found(&["text-overwritten ", "core 1:1-1:brisc: ", stopped, "illegal-instruction 0x0"]);
        assert_eq!(said.matches(stopped).count(), 2, "{said}");
    }
    std::fs::remove_file(file).unwrap();
}

/// A tool halts a core through the registers of its tile and never comes back. Its words do not tell
/// which core it halted, until somebody who may asks for the status.
#[test]
fn a_core_that_another_tool_halted_is_named_where_that_is_known() {
    let server = Server::of("emulator:n300", "halted");
    let why = |arguments: &[&str]| {
        let output = server.ask(&[arguments, &["why", "--for", "20ms"]].concat());
        String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output)
    };
    let writes = |register: &str, word: &str| {
        let output = server.ask(&["--allow", "halt", "write", register, word]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    };
    let healthy = why(&["--allow", "halt"]);
    assert!(!healthy.contains("core-"), "{healthy}");
    writes("1:1-1:0xffb12084", "0x80000001");
    for word in ["0", "0x80010001", "0"] {
        writes("1:1-1:0xffb12080", word);
    }
    let unknown = why(&[]);
    assert!(unknown.contains("1 still") && !unknown.contains("core-halted"), "{unknown}");
    for allow in [&["--allow", "halt"][..], &[]] {
        let known = why(allow);
        let says = "core 1:1-1:brisc: a debugger halted it, and nobody let it go on";
        assert!(known.contains("1. core-halted") && known.contains(says), "{known}");
        assert!(known.contains("1:1-1:brisc debug status"), "{known}");
    }
    let released = server.ask(&["--allow", "halt", "debug", "1:1-1", "continue"]);
    assert_eq!(released.status.code(), Some(0), "{}", stderr(&released));
    let healthy = why(&[]);
    assert!(!healthy.contains("core-"), "{healthy}");
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

#[test]
fn a_port_of_the_system_is_refused() {
    refuses(
        IDLE,
        &["gdb", "0:1-2", "--port", "22"],
        2,
        "port 22: those below 1024 are the system's",
    );
}

/// An IDE attaches, detaches and attaches again; then the verb is ended by a signal in the middle of
/// a session.
#[test]
fn one_client_comes_after_the_other_and_no_signal_leaves_a_core_paused() {
    let server = Server::of("emulator:n300,run=idle", "debugged");
    for signal in ["QUIT", "USR1", "INT"] {
        let socket = server.socket.with_extension("gdb");
        let path = socket.to_str().unwrap();
        let mut verb = server.client(&["--allow", "halt", "gdb", "0:1-2", "--socket", path]);
        let mut verb = verb.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(verb.stderr.take().unwrap()).lines().map(Result::unwrap);
        let waits = format!("waits for a client: gdb-multiarch -ex 'target remote {path}'");
        let mut says = |words: &str| assert!(said.any(|line| line.contains(words)), "{words}");
        let attach = || {
            let mode = std::fs::metadata(&socket).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            let mut client = UnixStream::connect(&socket).unwrap();
            client.write_all(b"$?#3f").unwrap();
            let mut answer = [0; 4];
            client.read_exact(&mut answer).unwrap();
            assert_eq!(&answer[..2], b"+$");
            client
        };
        says(&waits);
        attach().write_all(b"+$D#44").unwrap();
        says("the session has ended");
        says(&waits);
        let _second = attach();
        let id = verb.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        assert_eq!(verb.wait().unwrap().code(), Some(130), "{signal}");
        assert!(!socket.exists());
        let why = server.ask(&["--allow", "halt", "why", "--for", "20ms"]);
        let why = String::from_utf8_lossy(&why.stdout).into_owned();
        assert!(!why.contains("core-halted"), "{signal}: {why}");
    }
}

#[test]
fn a_core_is_shown_with_its_code_and_steps_by_lines() {
    let commands = ["debug", "0:1-2", "break", "wait_for_go", "continue", "step-line", "--json"];
    let output = meshscope(IDLE, &commands);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    conforms(&["debug"], &answer);
    let stops = answer["stops"].as_array().unwrap();
    let place = |stop: &Value| stop["place"].as_str().unwrap().to_owned();
    let last = stops.last().unwrap();
    assert!(place(&stops[1]).contains("wait_for_go"), "{answer}");
    assert_ne!(place(&stops[1]), place(last), "another line");
    assert!(stops[1].get("code").is_none(), "only the last has its code, unless it is asked for");
    let code = last["code"].as_array().unwrap();
    let next = code.iter().find(|instruction| instruction["addr"] == last["pc"]).unwrap();
    assert!(place(last).starts_with(next["source"].as_str().unwrap()), "{answer}");
    refuses(IDLE, &["debug", "0:1-2", "break", "no_such"], 2, "no_such");
}

#[test]
fn the_live_view_halts_steps_and_releases_a_core() {
    let log = std::env::temp_dir().join(format!("meshscope-halt-{}.jsonl", std::process::id()));
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.env("MESHSCOPE_AUDIT_LOG", &log);
    command.args(["--target", IDLE]);
    let mut terminal = Terminal::start(&command, PathBuf::from("/nonexistent"), 100, 30);
    terminal.shows("links: 2");
    terminal.press(":halt\r");
    terminal.shows("no core is on screen");
    terminal.press(":0:1-2\r");
    terminal.press("\r");
    terminal.shows("tensix_brisc");
    terminal.press(":stepi\r");
    terminal.shows("pause it first");
    terminal.press(":halt\r");
    terminal.shows(" HALTED 0:1-2:brisc ");
    terminal.shows(" registers ");
    terminal.shows("wait_for_go");
    terminal.press(":break 0x3bb0\r");
    terminal.shows("0:1-2:brisc halts at 0x3bb0");
    terminal.press(":continue\r");
    terminal.shows("by breakpoint 0x3bb0  pc 0x00003bb0");
    terminal.press(":stepi 2\r");
    terminal.shows("by command  pc 0x00003bb8");
    terminal.press(":delete\r");
    terminal.shows("no breakpoints");
    terminal.press(":continue\r");
    terminal.shows("is no longer controlled");
    terminal.press(":halt\r");
    terminal.shows(" HALTED 0:1-2:brisc ");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
    let logged = std::fs::read_to_string(&log).unwrap();
    assert!(logged.contains("halt of 0:1-2:brisc"), "{logged}");
    std::fs::remove_file(log).unwrap();
}
