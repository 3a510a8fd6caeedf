//! Runs a study on emulated meshes and prints its rows: `tests/studies.md`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(tests::study::run(std::env::args_os()))
}
