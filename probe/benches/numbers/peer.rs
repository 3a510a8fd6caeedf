//! The same measurements with tt-exalens on the same library, if a Python with it is named.

use crate::{library, row};
use std::path::PathBuf;
use std::process::Command;

/// Runs one measurement; the output has one figure per line, `name<TAB>value<TAB>unit`.
fn measure(question: &str, elf: &str) -> bool {
    let python = std::env::var_os("MESHSCOPE_PEER_PYTHON");
    let (Some(python), Some(library)) = (python, library("wh")) else { return false };
    let bench = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/numbers/peer.py"));
    let elf = format!("{}/../firmware/images/{elf}.elf", env!("CARGO_MANIFEST_DIR"));
    let answer = Command::new(python).arg(bench).arg(library).arg(elf).arg(question).output();
    let answer = answer.unwrap();
    for line in String::from_utf8_lossy(&answer.stdout).lines() {
        if let [name, value, unit] = line.split('\t').collect::<Vec<_>>()[..] {
            row(&format!("tt-exalens: {name}"), value.parse().unwrap(), unit, "");
        }
    }
    answer.status.success()
}

/// Measures the 400 waypoints of a chip.
pub(crate) fn waypoints(elf: &str) {
    measure("waypoints", elf);
}

/// Measures the time from its start to the first word.
pub(crate) fn first_word() {
    for _ in 0..3 {
        measure("first-word", "tensix_brisc");
    }
}
