//! A mesh that is served as tt-umd's simulation server, and the target that reads such servers.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common::stderr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A server, and the folder of temporary files in which it is found.
struct Served {
    process: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStderr>>,
}

impl Served {
    fn start(temporary: &Path, target: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
        command.env("TMPDIR", temporary).args(["serve", target, "--umd"]);
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("--target umd-sim:")));
        Self { process, lines }
    }

    fn end(mut self) {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args(["-s", "INT", &pid]).status().unwrap().success());
        self.lines.by_ref().for_each(drop);
        self.process.wait().unwrap();
    }
}

fn ask(temporary: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.env("TMPDIR", temporary).args(["--target", "umd-sim"]).args(arguments);
    command.output().unwrap()
}

fn folders(temporary: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(temporary).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_simulation_server_is_found_and_only_read() {
    let temporary = std::env::temp_dir().join(format!("meshscope-umd-{}", std::process::id()));
    std::fs::create_dir_all(&temporary).unwrap();
    let none = ask(&temporary, &["mesh"]);
    assert_eq!(none.status.code(), Some(3), "{}", stderr(&none));
    assert!(stderr(&none).contains("no simulation server of tt-umd runs in "), "{}", stderr(&none));
    let server = Served::start(&temporary, "emulator:n300");
    // A server that was killed leaves its folder behind.
    std::fs::create_dir(temporary.join("tt-umd-sim-server-7")).unwrap();
    let links = ask(&temporary, &["links"]);
    assert_eq!(links.status.code(), Some(0), "{}", stderr(&links));
    let links = String::from_utf8(links.stdout).unwrap();
    assert!(links.contains("0:e8") && links.contains("1:e1"), "{links}");
    let cores = String::from_utf8(ask(&temporary, &["cores", "1:e0"]).stdout).unwrap();
    assert!(cores.contains("ring_ping"), "{cores}");
    let write = ask(&temporary, &["--allow", "write", "write", "1:1-2:0x20000", "1"]);
    assert_eq!(write.status.code(), Some(5), "{}", stderr(&write));
    assert!(stderr(&write).contains("is only read"), "{}", stderr(&write));
    let stuck = "emulator:n300,fault=core:0.e8:stuck@12ms,at=14ms";
    let other = Served::start(&temporary, stuck);
    let two = stderr(&ask(&temporary, &["mesh"]));
    assert!(two.contains("several run; name one: umd-sim:"), "{two}");
    server.end();
    // Where program counters cannot be sampled, that is no next step.
    let why = String::from_utf8(ask(&temporary, &["why"]).stdout).unwrap();
    let next = "next: look at its words: `meshscope cores 0:9-6:erisc --words`";
    assert!(why.contains("1. core-stuck") && why.contains(next), "{why}");
    other.end();
    assert_eq!(folders(&temporary), [temporary.join("tt-umd-sim-server-7")]);
    std::fs::remove_dir_all(temporary).unwrap();
}
