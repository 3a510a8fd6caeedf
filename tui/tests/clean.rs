//! `clean` and `:clean` on a served mesh whose owner was killed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::stderr;
use crate::pseudo::Terminal;
use crate::schemas::conforms;
use crate::served::Server;
use portable_pty::CommandBuilder;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

const ALLOW: [&str; 2] = ["--allow", "launch,write,reset"];

/// A run that is killed while its data moves.
pub(crate) fn kill_a_run(server: &Server) {
    let run = ["run", "all-gather", "-b", "64K", "--delay", "100ms"];
    let mut client = server.client(&[&ALLOW[..], &run[..]].concat());
    let mut client = client.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(client.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("moves data")));
    client.kill().unwrap();
    client.wait().unwrap();
}

#[test]
fn what_a_killed_run_leaves_is_torn_down() {
    let server = Server::of("emulator:n300,run=idle", "clean");
    kill_a_run(&server);
    let run = [&ALLOW[..], &["run", "all-gather", "-b", "16K", "--check"]].concat();
    let refused = server.ask(&run);
    let why = stderr(&refused);
    assert_eq!(refused.status.code(), Some(5), "{why}");
    assert!(why.contains(" runs there; `clean` tears down what nobody owns"), "{why}");
    let refused = server.ask(&["clean"]);
    assert_eq!(refused.status.code(), Some(5), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("a teardown needs --allow write,launch"));
    let preview = server.ask(&[&ALLOW[..], &["clean", "--dry-run"]].concat());
    assert_eq!(preview.status.code(), Some(0), "{}", stderr(&preview));
    assert!(stderr(&preview).contains(": edm"), "{}", stderr(&preview));

    let arguments = [&ALLOW[..], &["clean", "--json"]].concat();
    let output = server.ask(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    conforms(&["clean"], &answer);
    assert_eq!(answer["clean"], true, "{answer}");
    let tiles = answer["tiles"].as_array().unwrap();
    let edms = tiles.iter().filter(|tile| tile["kernels"] == serde_json::json!(["edm"]));
    assert_eq!(edms.count(), 2, "{answer}");
    let again = server.ask(&run);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));

    kill_a_run(&server);
    let folder = std::env::temp_dir().join(format!("meshscope-clean-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(["--target", &format!("socket:{}", server.socket.display())]);
    command.args(ALLOW);
    command.env("MESHSCOPE_AUDIT_LOG", folder.join("audit.jsonl"));
    let mut terminal = Terminal::start(&command, folder, 160, 30);
    terminal.shows("links: 2");
    terminal.press(":run all-gather --check\r");
    terminal.shows("`clean` tears down");
    terminal.press(":stop\r");
    terminal.shows("nothing runs here that :stop could end; :clean ends whatever runs");
    terminal.press(":clean\r");
    terminal.shows("clean: the mesh is idle: ");
    terminal.press(":run all-gather --check\r");
    terminal.shows("done: data is correct");
    terminal.press("q");
    assert_eq!(terminal.ends().exit_code(), 0);
}
