//! The `main` function: panic reports, and the exit code.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    // This binary is also the child in which the vendor's simulator runs, whose errors end only the
    // child.
    if let Some(code) = tui::run_host_if_requested(std::env::args_os()) {
        return code;
    }
    // Without this hook panics are still reported, in more lines.
    let _ = color_eyre::install();
    let run = || tui::run(std::env::args_os());
    // 70: a panic is an error of this program (`meshscope help exit-codes`); the hook has reported
    // it.
    ExitCode::from(std::panic::catch_unwind(run).unwrap_or(70))
}
