//! The cost of reading, compared in one run: the pipe to the vendor's simulator, the access layer,
//! whole snapshots of a mesh, waypoints by name, and the time to the first word.
//!
//! `cargo bench -p probe --bench numbers [-- SECTION]`. `MESHSCOPE_TTSIM_DIR` names a folder with
//! the vendor's libraries, `MESHSCOPE_PEER_PYTHON` a Python with tt-exalens; without them their
//! rows are omitted.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a bench")]

mod first_word;
mod layer;
mod peer;
mod pipe;
mod snapshot;
mod waypoints;

use access::bar_target::BarTarget;
use machine::bar::Bar;
use machine::patience::Deadlines;
use machine::target::{Abilities, Allow};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use transport::ttsim::{self, HostCommand};

/// A section of the bench: its name and its function.
type Section = (&'static str, fn());

fn main() -> ExitCode {
    if let Some(code) = ttsim::run_host_if_requested(std::env::args_os()) {
        return code;
    }
    if first_word::run_bare_if_requested() {
        return ExitCode::SUCCESS;
    }
    // Cargo adds `--bench`.
    let selected: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let sections: [Section; 5] = [
        ("pipe", pipe::run),
        ("layer", layer::run),
        ("snapshot", snapshot::run),
        ("waypoints", waypoints::run),
        ("first-word", first_word::run),
    ];
    for (name, run) in sections {
        if selected.is_empty() || selected.iter().any(|a| a == name) {
            println!("\n{name}");
            run();
        }
    }
    ExitCode::SUCCESS
}

/// Returns the vendor's library of this build, if it exists.
fn library(build: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("MESHSCOPE_TTSIM_DIR")?);
    let library = folder.join(format!("libttsim_{build}.so"));
    library.exists().then_some(library)
}

/// Returns a bus to the vendor's library in a child process.
fn child(build: &str) -> Option<Box<dyn Bar>> {
    let library = library(build)?;
    Some(Box::new(ttsim::open(&library, &HostCommand::default()).unwrap()))
}

/// Returns a target over a bus.
fn target(bar: Box<dyn Bar>) -> BarTarget {
    let abilities = Abilities { allow: Allow::ALL, stepped_time: true, ..Abilities::default() };
    BarTarget::open("bench", bar, abilities, Deadlines::default()).unwrap()
}

/// Returns the best time of several rounds, in seconds: other programs can only slow a round down.
fn best(rounds: u32, mut round: impl FnMut()) -> f64 {
    let time = |_| {
        let started = Instant::now();
        round();
        started.elapsed().as_secs_f64()
    };
    (0..rounds).map(time).fold(f64::INFINITY, f64::min)
}

fn row(name: &str, value: f64, unit: &str, remark: &str) {
    println!("  {name:<58} {value:>12.2} {unit:<12} {remark}");
}
