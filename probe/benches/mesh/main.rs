//! The host's cost of whole meshes: idle compared with the vendor's simulator, and busy on one
//! thread and two.
//!
//! `cargo bench -p probe --bench mesh [-- SECTION]`. `MESHSCOPE_TTSIM_DIR` names a folder with the
//! vendor's libraries; without it their rows are omitted.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench"
)]

mod busy;
mod fabric;
mod gather;
mod idle;
mod travel;

use emulator::Mesh;
use probe::spec::TargetSpec;
use std::process::ExitCode;
use std::time::Instant;
use transport::ttsim;
use workloads::scene::Scene;

fn main() -> ExitCode {
    if let Some(code) = ttsim::run_host_if_requested(std::env::args_os()) {
        return code;
    }
    if let Some(case) = std::env::var_os(CASE) {
        let case = case.into_string().unwrap();
        let words: Vec<&str> = case.split(' ').collect();
        match words[..] {
            ["idle", mesh] => idle::one(mesh),
            ["busy", mesh, threads] => busy::one(mesh, threads.parse().unwrap()),
            ["gather", mesh, threads] => gather::one(mesh, threads.parse().unwrap()),
            ["travel", mesh] => travel::one(mesh),
            ["fabric", mesh, threads] => fabric::one(mesh, threads.parse().unwrap()),
            _ => panic!("no case `{case}`"),
        }
        return ExitCode::SUCCESS;
    }
    // Cargo adds `--bench`.
    let selected: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let sections: [(&str, fn()); 5] = [
        ("idle", idle::run),
        ("busy", busy::run),
        ("gather", gather::run),
        ("fabric", fabric::run),
        ("travel", travel::run),
    ];
    for (name, run) in sections {
        if selected.is_empty() || selected.iter().any(|a| a == name) {
            println!("\n{name}");
            run();
        }
    }
    ExitCode::SUCCESS
}

/// Returns the scene named by these words after `emulator:`.
fn scene(words: &str) -> Scene {
    match TargetSpec::parse(&format!("emulator:{words}")) {
        Ok(TargetSpec::Emulator(scene)) => scene,
        other => panic!("{other:?}"),
    }
}

/// Selects the one case that a process measures. Each case has its own process, so that its peak
/// memory is separate and it reuses no memory of another.
const CASE: &str = "MESHSCOPE_BENCH_CASE";

/// Runs a case in a child process; prints its output except for the last line, and returns the
/// words of that line.
fn case(words: &str) -> Vec<String> {
    let child =
        std::process::Command::new(std::env::current_exe().unwrap()).env(CASE, words).output();
    let output = String::from_utf8(child.unwrap().stdout).unwrap();
    let (text, last) = output.trim_end().rsplit_once('\n').unwrap();
    println!("{text}");
    last.split(' ').map(str::to_owned).collect()
}

/// Returns host time and processor time of `work`, in seconds.
fn timed(work: impl FnOnce()) -> (f64, f64) {
    let (started, before) = (Instant::now(), processor_seconds());
    work();
    (started.elapsed().as_secs_f64(), processor_seconds() - before)
}

/// Returns the processor time of all threads of this process, in seconds.
fn processor_seconds() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().filter_map(Result::ok);
    let seconds = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    tasks.filter_map(seconds).sum::<f64>() / 1e9
}

/// Returns the instructions that the cores of a mesh retired, including skipped iterations, and
/// those that the host executed.
fn instructions(mesh: &Mesh) -> (u64, u64) {
    let mut all = (0, 0);
    for (chip, config) in mesh.config().chips.iter().enumerate() {
        for tile in &config.tiles {
            for hart in 0..5 {
                if let Some(view) = mesh.hart(chip, tile.x, tile.y, hart) {
                    all = (all.0 + view.retired(), all.1 + view.executed());
                }
            }
        }
    }
    all
}

/// Returns a line of /proc/self/status in MiB, such as `VmHWM`.
fn memory_mib(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let words = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':'));
    let kib = words.and_then(|words| words.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap() / 1024
}
