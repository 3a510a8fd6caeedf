//! The time from the start of a process to the first L1 word on its standard output, and its memory
//! then.

use crate::{library, peer, row};
use machine::bar::Bar;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// The argument that makes this program a bare client of the library at the path after it.
const BARE: &str = "bare-client";
const ROUNDS: u32 = 20;

/// Runs a bare client, if requested: no child, no access layer, one word of L1.
pub(crate) fn run_bare_if_requested() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != BARE) {
        return false;
    }
    let mut bar = transport::ttsim::load_here(Path::new(&arguments.next().unwrap())).unwrap();
    let mut answer = Vec::new();
    bar.submit(&[crate::pipe::point(), crate::pipe::read(0, 4)], &mut answer).unwrap();
    std::io::stdout().write_all(&answer).unwrap();
    true
}

/// Returns the milliseconds from the start to the first byte of output: best and median.
fn time(command: impl Fn() -> Command) -> (f64, f64) {
    let one = |_| {
        let started = Instant::now();
        let mut child = spawn(&mut command());
        let mut byte = [0];
        child.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
        let took = started.elapsed().as_secs_f64() * 1e3;
        drop(child.stdout.take());
        child.wait().unwrap();
        took
    };
    let mut times: Vec<f64> = (0..ROUNDS).map(one).collect();
    times.sort_by(f64::total_cmp);
    (times[0], times[times.len() / 2])
}

fn spawn(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Returns the peak resident memory, in MiB, of a client and its child, if any.
fn memory(mut command: Command) -> f64 {
    let mut child = spawn(&mut command);
    let mut byte = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
    // Its output exceeds the pipe, so it is still running.
    let own = peak(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    own
}

fn peak(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.unwrap() / 1024.0
}

/// Returns the binary of the same profile next to this bench.
fn meshscope() -> Option<PathBuf> {
    let bench = std::env::current_exe().ok()?;
    let binary = bench.parent()?.parent()?.join("meshscope");
    binary.exists().then_some(binary)
}

fn read(binary: &Path, library: &Path, len: &str) -> Command {
    let mut command = Command::new(binary);
    command.arg("--target").arg(format!("ttsim:{}", library.display()));
    command.args(["read", "0:1-1:0x0", len]);
    command
}

pub(crate) fn run() {
    let Some(library) = library("wh") else {
        println!("  skipped: MESHSCOPE_TTSIM_DIR is not set");
        return;
    };
    let bare_command = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(BARE).arg(&library);
        command
    };
    let (bare_best, bare_middle) = time(bare_command);
    row("bare client of the library", bare_best, "ms", &format!("{bare_middle:.2} median"));
    match meshscope() {
        None => println!("  meshscope: skipped: build it with `cargo build --release`"),
        Some(binary) => {
            let (best, middle) = time(|| read(&binary, &library, "4"));
            let over = format!("{middle:.2} median, {:.2} over the bare client", best - bare_best);
            row("meshscope read", best, "ms", &over);
            row(
                "meshscope read: peak memory",
                memory(read(&binary, &library, "0x4000")),
                "MiB",
                "",
            );
        }
    }
    peer::first_word();
}
