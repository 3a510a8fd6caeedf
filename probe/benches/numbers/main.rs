//! What looking costs, side by side in one run: the pipe to the vendor's simulator, the access layer, whole looks at
//! a mesh, waypoints by name, and the time to the first word.
//!
//! `cargo bench -p probe --bench numbers [-- SECTION]`. `MESHSCOPE_TTSIM_DIR` names a folder with the vendor's
//! libraries, `MESHSCOPE_PEER_PYTHON` a Python that has tt-exalens; without them their rows are left out.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a bench")]

mod first_word;
mod layer;
mod peer;
mod pipe;
mod snapshot;
mod waypoints;

use access::bar_target::BarTarget;
use machine::bar::Bar;
use machine::patience::Patience;
use machine::target::{Abilities, Allow};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use transport::ttsim::{self, HostCommand};

/// A part of the bench: its name and what it does.
type Section = (&'static str, fn());

fn main() -> ExitCode {
    if let Some(code) = ttsim::host_if_asked(std::env::args_os()) {
        return code;
    }
    if first_word::bare_if_asked() {
        return ExitCode::SUCCESS;
    }
    // Cargo adds `--bench`.
    let asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let sections: [Section; 5] = [
        ("pipe", pipe::run),
        ("layer", layer::run),
        ("look", snapshot::run),
        ("waypoints", waypoints::run),
        ("first-word", first_word::run),
    ];
    for (name, run) in sections {
        if asked.is_empty() || asked.iter().any(|a| a == name) {
            println!("\n{name}");
            run();
        }
    }
    ExitCode::SUCCESS
}

/// The vendor's library of this build, where there is one.
fn library(build: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("MESHSCOPE_TTSIM_DIR")?);
    let library = folder.join(format!("libttsim_{build}.so"));
    library.exists().then_some(library)
}

/// A bus to the vendor's library in a child process.
fn child(build: &str) -> Option<Box<dyn Bar>> {
    let library = library(build)?;
    Some(Box::new(ttsim::open(&library, &HostCommand::default()).unwrap()))
}

/// A target over a bus.
fn target(bar: Box<dyn Bar>) -> BarTarget {
    let abilities = Abilities { allow: Allow::ALL, stepped_time: true, ..Abilities::default() };
    BarTarget::open("bench", bar, abilities, Patience::default()).unwrap()
}

/// The best of some rounds, in seconds: other programs can only make a round slower.
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
