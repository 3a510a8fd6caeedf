//! A served mesh and its clients: one is killed in the middle of a far read, the next finds everything as it was.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// More than any step here takes, on any machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// The server, ended with the test.
struct Server {
    process: Child,
    socket: PathBuf,
}

impl Server {
    fn start(name: &str) -> Self {
        let id = std::process::id();
        let socket = std::env::temp_dir().join(format!("meshscope-served-{name}-{id}"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
        command.args(["serve", "emulator:n300", "--socket"]).arg(&socket);
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(process.stderr.take().unwrap()).lines();
        assert!(said.any(|line| line.unwrap().contains("is served")));
        Self { process, socket }
    }

    fn client(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
        command.arg("--target").arg(format!("socket:{}", self.socket.display())).args(arguments);
        command.env("MESHSCOPE_AUDIT_LOG", Path::new("/dev/null"));
        command
    }

    /// Asks again while the mesh is still held by the client before.
    fn ask(&self, arguments: &[&str]) -> Output {
        let start = Instant::now();
        loop {
            let output = self.client(arguments).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            if !said.contains("holds this machine") {
                return output;
            }
            assert!(start.elapsed() < PATIENCE, "{said}");
        }
    }

    fn answer(&self, arguments: &[&str]) -> Value {
        let output = self.ask(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// A client that holds the mesh: it is started again if somebody else came first, and somebody
    /// else was told that it holds it.
    fn holder(&self, arguments: &[&str]) -> Child {
        let start = Instant::now();
        let mut client = self.start_client(arguments);
        while !self.is_held_by(client.id()) {
            assert!(start.elapsed() < PATIENCE);
            if client.try_wait().unwrap().is_some() {
                client = self.start_client(arguments);
            }
        }
        client
    }

    fn start_client(&self, arguments: &[&str]) -> Child {
        let mut client = self.client(arguments);
        client.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn is_held_by(&self, pid: u32) -> bool {
        let output = self.client(&["mesh"]).output().unwrap();
        let held = format!("(process {pid}) holds this machine");
        let told = String::from_utf8_lossy(&output.stderr).contains(&held);
        assert!(!told || output.status.code() == Some(5), "refused is refused");
        told
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_file(&self.socket);
    }
}

#[test]
fn a_client_killed_in_a_far_read_leaves_the_mesh_to_the_next() {
    let server = Server::start("killed");
    let place = "1:2-2:0x30000";
    let mut writer =
        server.client(&["--allow", "write", "write", place, "0x600dcafe", "0x12345678"]);
    let writer = writer.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let writer_pid = writer.id();
    assert_eq!(writer.wait_with_output().unwrap().status.code(), Some(0));

    // A megabyte of a far chip comes in a thousand blocks, so the client dies with a request posted.
    let mut reader = server.holder(&["read", "1:3-3:0x0", "0x100000"]);
    reader.kill().unwrap();
    reader.wait().unwrap();

    let mesh = server.answer(&["--json", "mesh"]);
    let (last, change) = (&mesh["last_client"], &mesh["last_writer"]);
    assert_eq!(last["pid"], reader.id(), "{last}");
    assert_eq!((&last["name"], &last["broke_off"]), (&"meshscope".into(), &true.into()));
    assert_eq!(change["pid"], writer_pid, "who only looks writes nothing: {change}");
    assert_eq!(change["what"], format!("8 bytes at {place}"));
    assert!(
        change["at_cycles"].as_u64() > Some(0)
            && change["at_cycles"].as_u64() < mesh["cycles"].as_u64()
    );
    assert_eq!(mesh["problems"], Value::Array(vec![]));

    let read = server.answer(&["--json", "read", place, "8"]);
    assert_eq!(read["bytes"], "feca0d6078563412");
    let again = server.ask(&["mesh"]);
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(said.contains("left"), "the last client left by itself: {said}");
    assert!(
        said.contains(&format!("(process {writer_pid}) wrote last: 8 bytes at {place}")),
        "{said}"
    );
}
