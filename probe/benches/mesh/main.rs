//! What whole meshes cost the host: idle in base firmware beside the vendor's simulator, and busy on one thread and two.
//!
//! `cargo bench -p probe --bench mesh [-- SECTION]`. `MESHSCOPE_TTSIM_DIR` names a folder with the vendor's libraries;
//! without it their rows are left out.
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

use emulator::Mesh;
use probe::spec::TargetSpec;
use std::process::ExitCode;
use std::time::Instant;
use transport::ttsim;
use workloads::scene::Scene;

fn main() -> ExitCode {
    if let Some(code) = ttsim::host_if_asked(std::env::args_os()) {
        return code;
    }
    if let Some(case) = std::env::var_os(CASE) {
        let case = case.into_string().unwrap();
        let words: Vec<&str> = case.split(' ').collect();
        match words[..] {
            ["idle", mesh] => idle::one(mesh),
            ["busy", mesh, threads] => busy::one(mesh, threads.parse().unwrap()),
            ["gather", mesh, threads] => gather::one(mesh, threads.parse().unwrap()),
            ["fabric", mesh, threads] => fabric::one(mesh, threads.parse().unwrap()),
            _ => panic!("no case is called {case}"),
        }
        return ExitCode::SUCCESS;
    }
    // Cargo adds `--bench`.
    let asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let sections: [(&str, fn()); 4] = [
        ("idle", idle::run),
        ("busy", busy::run),
        ("gather", gather::run),
        ("fabric", fabric::run),
    ];
    for (name, run) in sections {
        if asked.is_empty() || asked.iter().any(|a| a == name) {
            println!("\n{name}");
            run();
        }
    }
    ExitCode::SUCCESS
}

/// The scene that these words name after `emulator:`.
fn scene(words: &str) -> Scene {
    match TargetSpec::parse(&format!("emulator:{words}")) {
        Ok(TargetSpec::Emulator(scene)) => scene,
        other => panic!("{other:?}"),
    }
}

/// Names the one case that a process measures: each has its own, so that its peak memory can be told and none finds the
/// memory that another left.
const CASE: &str = "MESHSCOPE_BENCH_CASE";

/// What a case told: its words are printed, except for the last line, whose words are handed back.
fn case(words: &str) -> Vec<String> {
    let child =
        std::process::Command::new(std::env::current_exe().unwrap()).env(CASE, words).output();
    let told = String::from_utf8(child.unwrap().stdout).unwrap();
    let (said, last) = told.trim_end().rsplit_once('\n').unwrap();
    println!("{said}");
    last.split(' ').map(str::to_owned).collect()
}

/// Host time and processor time of something, in seconds.
fn timed(work: impl FnOnce()) -> (f64, f64) {
    let (started, before) = (Instant::now(), processor_seconds());
    work();
    (started.elapsed().as_secs_f64(), processor_seconds() - before)
}

/// Time that all threads of this process had a processor for, in seconds.
fn processor_seconds() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().filter_map(Result::ok);
    let of = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    };
    tasks.filter_map(of).sum::<f64>() / 1e9
}

/// Instructions that the cores of a mesh retired, those of skipped iterations included, and those that the host executed.
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

/// A line of /proc/self/status in MiB, such as `VmHWM`.
fn memory_mib(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let words = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':'));
    let kib = words.and_then(|words| words.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap() / 1024
}
