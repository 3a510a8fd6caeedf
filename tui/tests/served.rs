//! A served mesh and its clients: many read in parallel, one is killed during a read of a remote
//! chip, and the next finds everything unchanged.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::stderr;
use crate::schemas::conforms;
use machine::bar::{Bar, BarOp};
use machine::progress::{Listener, Progress};
use machine::snapshot::AccessError;
use machine::window::WindowOrdering;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use transport::socket_bar::SocketBar;

/// A time limit above that of any step here, on any machine.
const PATIENCE: Duration = Duration::from_mins(5);

/// The server, ended with the test.
pub(crate) struct Server {
    process: Child,
    pub(crate) socket: PathBuf,
}

impl Server {
    fn start(name: &str) -> Self {
        Self::of("emulator:n300", name)
    }

    pub(crate) fn of(mesh: &str, name: &str) -> Self {
        let id = std::process::id();
        let socket = std::env::temp_dir().join(format!("meshscope-served-{name}-{id}"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
        command.args(["serve", mesh, "--socket"]).arg(&socket);
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(process.stderr.take().unwrap()).lines();
        assert!(stderr.any(|line| line.unwrap().contains("is served")));
        Self { process, socket }
    }

    pub(crate) fn client(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
        command.arg("--target").arg(format!("socket:{}", self.socket.display())).args(arguments);
        command.env("MESHSCOPE_AUDIT_LOG", Path::new("/dev/null"));
        command
    }

    pub(crate) fn ask(&self, arguments: &[&str]) -> Output {
        self.client(arguments).output().unwrap()
    }

    pub(crate) fn answer(&self, arguments: &[&str]) -> Value {
        let output = self.ask(arguments);
        let stderr = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
        let answer = serde_json::from_slice(&output.stdout).unwrap();
        conforms(arguments, &answer);
        answer
    }

    /// A client that has the right to write, as reported to another client.
    pub(crate) fn writer(&self, arguments: &[&str]) -> Child {
        let mut client = self.client(arguments);
        let mut client = client.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        let writer = || SocketBar::connect(&self.socket, false).unwrap().welcome().before.clone();
        while writer().writer.is_none_or(|writer| writer.pid != client.id()) {
            assert!(start.elapsed() < PATIENCE && client.try_wait().unwrap().is_none());
        }
        client
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

    // A megabyte of a remote chip is read in a thousand blocks, so the client dies with a request
    // in flight.
    let mut reader = server.writer(&["--allow", "write", "read", "1:3-3:0x0", "0x100000"]);
    let second = server.ask(&["--allow", "write", "mesh"]);
    let refusal = stderr(&second);
    let holds = format!("(process {}) holds this machine", reader.id());
    assert!(refusal.contains(&holds), "{refusal}");
    assert_eq!(second.status.code(), Some(5), "refused is refused");
    reader.kill().unwrap();
    reader.wait().unwrap();

    // A client that requests the right to write waits until the server has noticed.
    let mesh = server.answer(&["--allow", "write", "--json", "mesh"]);
    let (last, change) = (&mesh["last_client"], &mesh["last_writer"]);
    assert_eq!(last["pid"], reader.id(), "{last}");
    assert_eq!((&last["name"], &last["connection_lost"]), (&"meshscope".into(), &true.into()));
    assert_eq!(change["pid"], writer_pid, "a client that only reads writes nothing: {change}");
    assert_eq!(change["what"], format!("8 bytes at {place}"));
    assert!(
        change["at_cycles"].as_u64() > Some(0)
            && change["at_cycles"].as_u64() < mesh["cycles"].as_u64()
    );
    assert_eq!(mesh["problems"], Value::Array(vec![]));

    let read = server.answer(&["--json", "read", place, "8"]);
    assert_eq!(read["bytes"], "feca0d6078563412");
    let again = server.ask(&["mesh"]);
    let stderr = stderr(&again);
    assert!(stderr.contains("left"), "the last client left by itself: {stderr}");
    assert!(
        stderr.contains(&format!("(process {writer_pid}) wrote last: 8 bytes at {place}")),
        "{stderr}"
    );
}

/// A client is stopped in the middle of a far read, as by Ctrl-Z: it has the lock of the routing
/// queues, and a request in flight.
#[test]
fn a_stopped_client_keeps_the_far_chips_from_nobody() {
    let server = Server::start("stopped");
    let write = ["--allow", "write", "write", "1:3-3:0xf0000", "0x12345678", "0x600dcafe"];
    assert_eq!(server.ask(&write).status.code(), Some(0));
    let mut reader = server.client(&["read", "1:3-3:0x0", "0x100000", "--json"]);
    let reader = reader.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let signal = |name: &str| {
        let id = reader.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    };
    let holder = Arc::new(AtomicU32::new(0));
    let told = Arc::clone(&holder);
    let mut other = SocketBar::connect(&server.socket, false).unwrap();
    other.tell(&Listener::new(move |progress| {
        if let Progress::Queues { used_by: Some(pid) } = progress {
            told.store(pid, Ordering::SeqCst);
        }
    }));
    let start = Instant::now();
    loop {
        assert!(start.elapsed() < PATIENCE, "the reader was never stopped with the lock");
        std::thread::sleep(Duration::from_millis(20));
        signal("-STOP");
        other.lock_queues(0).unwrap();
        other.unlock_queues(0).unwrap();
        if holder.load(Ordering::SeqCst) == reader.id() {
            break;
        }
        signal("-CONT");
    }
    let mesh = server.answer(&["mesh", "--json"]);
    assert_eq!(mesh["chips"].as_array().unwrap().len(), 2, "{mesh}");
    assert_eq!(mesh["problems"], Value::Array(vec![]));
    // What was in flight is read again.
    signal("-CONT");
    let read = reader.wait_with_output().unwrap();
    assert_eq!(read.status.code(), Some(0), "{}", stderr(&read));
    let read: Value = serde_json::from_slice(&read.stdout).unwrap();
    let again = server.answer(&["read", "1:3-3:0x0", "0x100000", "--json"]);
    // Firmware and a kernel work below.
    let unused = |read: &Value| read["bytes"].as_str().unwrap().split_at(2 * 0x3_0000).1.to_owned();
    assert!(unused(&read) == unused(&again));
    assert!(unused(&read).split_at(2 * 0xC_0000).1.starts_with("78563412feca0d60"));
}

/// Clients that read take turns in using the windows and the routing queues of the mesh.
/// Both links of the n300 go down before anybody attaches: the chip behind them is still there.
#[test]
fn a_chip_lost_before_the_attach_is_a_finding_and_no_idle_mesh() {
    let down = "emulator:n300,fault=link:0.8:down,fault=link:0.9:down";
    let server = Server::of(down, "lost-before");
    let json = |arguments: &[&str], code| -> Value {
        let output = server.ask(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        let answer = serde_json::from_slice(&output.stdout).unwrap();
        conforms(arguments, &answer);
        answer
    };
    let mesh = json(&["--json", "mesh"], 1);
    let count = |what: &str| mesh[what].as_array().unwrap().len();
    assert_eq!((count("chips"), count("links")), (2, 2), "{mesh}");
    let check = json(&["--json", "check"], 1);
    let conditions = check["conditions"].as_array().unwrap().iter();
    let conditions: Vec<_> = conditions.map(|it| it["condition"].as_str().unwrap()).collect();
    assert_eq!(conditions, ["chip-gone", "link-down", "link-down"]);
    let why = server.ask(&["why"]);
    assert_eq!(why.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&why.stdout).starts_with("it stands still"));
    let clean = server.ask(&["clean", "--escalate", "--allow", "write,reset,launch"]);
    let said = String::from_utf8_lossy(&clean.stdout);
    assert_eq!(clean.status.code(), Some(1), "{said}");
    assert!(said.contains("chip 1 does not answer") && !said.contains("idle"), "{said}");
}

#[test]
fn several_clients_read_a_far_chip_at_the_same_time() {
    let server = Server::start("readers");
    let place = "1:2-2:0x30000";
    let words: Vec<String> = (0..32_u32).map(|n| format!("{:#x}", n * 0x0101_0101)).collect();
    let write = ["--allow", "write", "write", place].into_iter();
    let write: Vec<&str> = write.chain(words.iter().map(String::as_str)).collect();
    assert_eq!(server.ask(&write).status.code(), Some(0));
    // An emulated mesh may be sampled by all, also a far chip, and by one that may write.
    for sampling in
        [&["cores", "0:e8"][..], &["cores", "1:2-2"], &["--allow", "sample", "cores", "0:e8"]]
    {
        let sampling = server.ask(&[sampling, &["--sample", "2"]].concat());
        assert_eq!(sampling.status.code(), Some(0), "{}", stderr(&sampling));
        assert!(String::from_utf8_lossy(&sampling.stdout).contains("2 samples in"));
    }
    let readers: Vec<Child> = (0..3)
        .map(|_| {
            let mut reader = server.client(&["--json", "read", place, "0x8000"]);
            reader.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let answers: Vec<Value> = readers
        .into_iter()
        .map(|reader| {
            let output = reader.wait_with_output().unwrap();
            let stderr = stderr(&output);
            assert_eq!(output.status.code(), Some(0), "{stderr}");
            serde_json::from_slice(&output.stdout).unwrap()
        })
        .collect();
    assert!(answers[0]["bytes"].as_str().unwrap().starts_with("000000000101010102020202"));
    assert_eq!((&answers[1], &answers[2]), (&answers[0], &answers[0]));
}

/// The umask of the server's user does not open its socket to others.
#[test]
fn a_socket_is_its_owners_alone() {
    let socket = std::env::temp_dir().join(format!("meshscope-umask-{}", std::process::id()));
    let program = env!("CARGO_BIN_EXE_meshscope");
    let script =
        format!("umask 0; exec {program} serve emulator:n150 --socket {}", socket.display());
    let mut server = Command::new("sh");
    let mut server = server.args(["-c", &script]).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(server.stderr.take().unwrap()).lines();
    assert!(stderr.any(|line| line.unwrap().contains("is served")));
    let mode = std::fs::metadata(&socket).unwrap().permissions().mode();
    // Another file at the socket's path is not the server's to remove.
    std::fs::remove_file(&socket).unwrap();
    std::fs::write(&socket, "a recording").unwrap();
    assert!(Command::new("kill").arg(server.id().to_string()).status().unwrap().success());
    server.wait().unwrap();
    assert_eq!((mode & 0o777, std::fs::read(&socket).unwrap()), (0o600, b"a recording".to_vec()));
    std::fs::remove_file(socket).unwrap();
}

#[test]
fn the_vendors_simulator_is_served_like_an_emulated_mesh() {
    let Some(folder) = std::env::var_os("MESHSCOPE_TTSIM_DIR") else {
        println!("skipped: MESHSCOPE_TTSIM_DIR is not set");
        return;
    };
    let mesh = format!("ttsim:{}", Path::new(&folder).join("libttsim_wh_x2.so").display());
    let server = Server::of(&mesh, "vendor");
    let served = server.answer(&["mesh", "--json"]);
    assert_eq!(served["chips"].as_array().unwrap().len(), 2, "{served}");
    let mut direct = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    let direct = direct.args(["--target", &mesh, "mesh", "--json"]).output().unwrap();
    let direct: Value = serde_json::from_slice(&direct.stdout).unwrap();
    assert_eq!(served["chips"], direct["chips"]);
    let abilities = SocketBar::connect(&server.socket, false).unwrap().welcome().abilities.clone();
    assert_eq!(abilities, transport::ttsim::abilities().unwrap());
    // What one client writes the next one reads.
    let write = ["--allow", "write", "write", "1:1-2:0x20000", "0x1234"];
    assert!(server.ask(&write).status.success());
    let read = server.answer(&["read", "1:1-2:0x20000", "4", "--json"]);
    assert_eq!(read["bytes"], "34120000");
    // A read that would end the library's process is refused.
    let mut bar = SocketBar::connect(&server.socket, false).unwrap();
    let read = |device, bar, offset| BarOp::Read { device, bar, offset, len: 4, ones: 0 };
    for op in [
        read(0, 0, 0x1FC0_0000),
        read(0, 0, 0x1FF7_0000),
        read(0, 0, 0x1E00_0000),
        read(0, 2, 0),
        read(7, 0, 0x1FE8_0000),
        BarOp::ConfigRead { device: 40, offset: 0 },
        BarOp::ConfigRead { device: 0, offset: 0x3C },
        BarOp::Point {
            device: 0,
            window: 0,
            x: 255,
            y: 255,
            page: 0,
            order: WindowOrdering::Strict,
        },
    ] {
        let refused = bar.submit(std::slice::from_ref(&op), &mut Vec::new());
        assert!(matches!(refused, Err(AccessError::Refused(_))), "{op:?}: {refused:?}");
    }
    server.answer(&["mesh", "--json"]);
}
