//! Whole processes with the same lookup in turn: time from start to end, and memory.

#![allow(unsafe_code, reason = "only wait4 reports a child's resources")]

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The runs per reader, interleaved, so that a busy moment affects all readers.
const ROUNDS: usize = 15;

/// One program that reads ELFs.
pub(crate) struct Reader {
    name: &'static str,
    command: Command,
    wall: Duration,
    busy: Duration,
    kib: i64,
    works: bool,
}

impl Reader {
    pub(crate) fn new(name: &'static str, mut command: Command) -> Reader {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let (wall, busy) = (Duration::MAX, Duration::MAX);
        Reader { name, command, wall, busy, kib: 0, works: true }
    }

    fn run(&mut self) {
        let start = Instant::now();
        let Ok(child) = self.command.spawn() else {
            self.works = false;
            return;
        };
        let mut status = 0;
        // SAFETY: an all-zero rusage is valid; the kernel fills it.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the child is this process's, and nothing else waits for it; both pointers outlive
        // the call.
        let waited = unsafe { libc::wait4(child.id() as i32, &raw mut status, 0, &raw mut usage) };
        self.works &= waited == child.id() as i32 && status == 0;
        self.wall = self.wall.min(start.elapsed());
        let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
        self.busy = self.busy.min(time(usage.ru_utime) + time(usage.ru_stime));
        self.kib = self.kib.max(usage.ru_maxrss);
    }
}

/// Runs all readers in turn and prints the best of each, relative to the first.
pub(crate) fn compare(readers: &mut [Reader]) {
    for _ in 0..ROUNDS {
        readers.iter_mut().filter(|reader| reader.works).for_each(Reader::run);
    }
    let first = readers.first().map_or(Duration::MAX, |reader| reader.wall);
    for reader in readers.iter() {
        let name = format!("process, {}", reader.name);
        if !reader.works {
            println!("{name:<25}failed, or not installed");
            continue;
        }
        let (wall, busy) = (reader.wall.as_secs_f64() * 1e3, reader.busy.as_secs_f64() * 1e3);
        let ratio = reader.wall.as_secs_f64() / first.as_secs_f64();
        let mib = reader.kib as f64 / 1024.0;
        println!(
            "{name:<25}{wall:.2} ms ({busy:.2} ms busy), {mib:.1} MiB, {ratio:.1} times the first"
        );
    }
}

/// Builds meshscope in release mode, and returns its binary.
pub(crate) fn meshscope() -> Option<PathBuf> {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--release", "--package", "tui"]);
    let built = build.current_dir(env!("CARGO_MANIFEST_DIR")).status().is_ok_and(|s| s.success());
    let this = std::env::current_exe().ok()?;
    let binary = this.parent()?.parent()?.join("meshscope");
    let exists = built && binary.exists();
    if !exists {
        println!("process, meshscope    could not be built");
    }
    exists.then_some(binary)
}
