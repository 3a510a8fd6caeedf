//! The edge of the program: reports of panics, and the exit code.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    // This binary is also the child in which the vendor's simulator runs, where its errors end nothing of ours.
    if let Some(code) = tui::host_if_asked(std::env::args_os()) {
        return code;
    }
    // Without it a panic is still reported, only less well.
    let _ = color_eyre::install();
    let run = || tui::run(std::env::args_os());
    // 70: a panic is a fault of this program (`meshscope help exit-codes`); the hook has reported it.
    ExitCode::from(std::panic::catch_unwind(run).unwrap_or(70))
}
