//! The child process of the vendor's simulator: it ends with its parent, and a stuck child is
//! killed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use machine::bar::{Bar, BarOp};
use machine::snapshot::AccessError;
use machine::target::Target;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use transport::ttsim::{self, HostCommand};

/// Longer than any of these processes takes to end.
const PATIENCE: Duration = Duration::from_mins(5);

/// Not a test: the test program starts itself with a library's path, opens the library and clocks
/// it without end.
#[test]
fn parent_helper() {
    let Some(library) = std::env::var_os("MESHSCOPE_TEST_PARENT_OF") else { return };
    let mut bar = ttsim::open(Path::new(&library), &common::host()).unwrap();
    println!("opened");
    while bar.submit(&[BarOp::Pass { cycles: 1_000_000 }], &mut Vec::new()).is_ok() {}
}

/// Returns the processes whose parent is `pid`.
fn children(pid: u32) -> Vec<u32> {
    let parent_of = |entry: &std::fs::DirEntry| {
        let child: u32 = entry.file_name().to_str()?.parse().ok()?;
        let status = std::fs::read_to_string(entry.path().join("status")).ok()?;
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        Some((child, parent.trim().parse::<u32>().ok()?))
    };
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let pairs = processes.filter_map(|entry| parent_of(&entry));
    pairs.filter(|&(_, parent)| parent == pid).map(|(child, _)| child).collect()
}

/// Returns true if the process runs; a zombie does not.
fn runs(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or(String::new());
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
}

/// Returns true if all of its threads have stopped. The signal reaches them one after the other.
fn stands_still(pid: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().filter_map(Result::ok);
    let mut states = threads.map(|thread| std::fs::read_to_string(thread.path().join("status")));
    states.all(|state| state.is_ok_and(|state| state.lines().any(|l| l.starts_with("State:\tT"))))
}

#[test]
fn a_killed_parent_leaves_no_child_behind() {
    let Some(library) = common::library("wh_x8") else { return };
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "vendor_child::parent_helper", "--nocapture"])
        .env("MESHSCOPE_TEST_PARENT_OF", library)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("opened")));
    let left = children(parent.id());
    assert_eq!(left.len(), 1);
    parent.kill().unwrap();
    parent.wait().unwrap();
    let start = Instant::now();
    while runs(left[0]) {
        assert!(start.elapsed() < PATIENCE, "process {} runs on", left[0]);
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_stuck_child_times_out_and_is_killed() {
    let Some(library) = common::library("wh") else { return };
    let host = HostCommand { watchdog: Duration::from_millis(200), ..common::host() };
    let mut bar = ttsim::open(&library, &host).unwrap();
    let ours = children(std::process::id());
    let hosts_wh = |pid: &&u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or(Vec::new());
        String::from_utf8_lossy(&line).contains("libttsim_wh.so")
    };
    let child = *ours.iter().find(hosts_wh).expect("the child");
    let stopped = Command::new("kill").args(["-STOP", &child.to_string()]).status().unwrap();
    assert!(stopped.success());
    let start = Instant::now();
    while !stands_still(child) {
        assert!(start.elapsed() < PATIENCE, "process {child} runs on");
        std::thread::sleep(Duration::from_millis(5));
    }
    let gone = bar.submit(&[BarOp::Now], &mut Vec::new());
    let silent = AccessError::DeviceGone("it did not answer within 200ms".into());
    assert_eq!(gone, Err(silent.clone()));
    assert!(!runs(child));
    assert_eq!(bar.submit(&[BarOp::Now], &mut Vec::new()), Err(silent));
}

#[test]
fn a_child_that_is_killed_is_a_device_that_is_gone() {
    let Some(library) = common::library("wh_x2") else { return };
    // Other tests have children with this library: the path tells this one.
    let folder = std::env::temp_dir().join(format!("meshscope-killed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let copy = folder.join(library.file_name().unwrap());
    std::fs::copy(&library, &copy).unwrap();
    let mut target = common::open_at(&copy);
    let ours = children(std::process::id());
    let hosts_copy = |pid: &&u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or(Vec::new());
        String::from_utf8_lossy(&line).contains(&*copy.to_string_lossy())
    };
    let child = *ours.iter().find(hosts_copy).expect("the child");
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(Command::new("kill").args(["-KILL", &child.to_string()]).status().unwrap().success());
    assert!(matches!(target.now(), Err(AccessError::DeviceGone(_))));
    assert!(matches!(target.pass(10_000_000), Err(AccessError::DeviceGone(_))));
}
