//! An hour of a running mesh at 10 Hz: what recording costs beside the reads, what the file weighs,
//! and how long any moment of it takes to be shown.
//!
//! The moments are those of a recording of some seconds, there and back, each at its own time.
//! `cargo bench -p tests --bench hour -- MOMENTS`; an hour has 36,000, the default is a minute.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a benchmark"
)]

use machine::history::History;
use machine::snapshot::Snapshot;
use machine::target::Target;
use recordings::{Replay, Writer};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Cycles and microseconds from one moment to the next.
const APART: (u64, u64) = (100_000_000, 100_000);
/// Moments that are really recorded.
const RECORDED: usize = 20;
/// Moments that are shown.
const SHOWN: usize = 200;

fn main() {
    let moments = std::env::args().find_map(|it| it.parse().ok()).unwrap_or(600_usize);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (some, hour) = (folder.join("hour-source.mcap"), folder.join("hour.mcap"));
    record(&some);
    let mut source = Replay::open(&some).unwrap();
    let recorded: Vec<Snapshot> = (0..source.moments().len())
        .map(|moment| {
            source.seek(moment);
            source.moment().unwrap().clone()
        })
        .collect();
    let (took, read, cpu) = write(&hour, &source, &recorded, moments);
    let bytes = std::fs::metadata(&hour).unwrap().len();
    println!("{moments} moments of a running t3000 at 10 Hz");
    println!("  recording: {:.2} ms each, {:.1}% of a core", cpu * 1e3, cpu * 1e3);
    println!("  the slowest: {:.1} ms", took.as_secs_f64() * 1e3);
    println!(
        "  file: {} bytes, {} each; the plans read {} bytes: 1/{}",
        bytes,
        bytes / moments as u64,
        read,
        read / bytes
    );
    show(&hour);
    let _ = (std::fs::remove_file(&some), std::fs::remove_file(&hour));
}

/// Records some moments of the emulated mesh with the program itself.
fn record(file: &Path) {
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("../release/meshscope");
    let _ = std::fs::remove_file(file);
    let mut command = Command::new(&program);
    command.args(["--target", "emulator:t3000", "record", file.to_str().unwrap()]);
    let recorded = command.args(["--moments", &RECORDED.to_string(), "--every", "100ms"]).status();
    assert!(recorded.expect("cargo build --release comes first").success());
}

/// Writes the moments; returns the longest time of one, the bytes that were read, and the mean in
/// seconds.
fn write(
    file: &Path,
    target: &dyn Target,
    recorded: &[Snapshot],
    moments: usize,
) -> (Duration, u64, f64) {
    let mut writer = Writer::create(file, target, "an hour").unwrap();
    // What the first moment read is not read again.
    let newest = |it: &Snapshot| it.pieces.iter().map(|piece| piece.target_cycles).max().unwrap();
    let first = newest(&recorded[0]);
    let (mut longest, mut read, mut total) = (Duration::ZERO, 0, Duration::ZERO);
    for moment in 0..moments {
        let back = moment % (2 * (recorded.len() - 2));
        let source = 1 + back.min(2 * (recorded.len() - 2) - back);
        let later = moment as u64 - source as u64 + recorded.len() as u64;
        let mut snapshot = recorded[source].clone();
        for piece in snapshot.pieces.iter_mut().filter(|piece| piece.target_cycles > first) {
            piece.target_cycles += later * APART.0;
            piece.host_micros = 1_800_000_000_000_000 + moment as u64 * APART.1;
            read += piece.bytes.len() as u64;
        }
        let began = Instant::now();
        writer.append(&snapshot).unwrap();
        let took = began.elapsed();
        (longest, total) = (longest.max(took), total + took);
    }
    writer.finish().unwrap();
    (longest, read, total.as_secs_f64() / moments as f64)
}

/// Opens the file, and shows moments anywhere in it.
fn show(file: &Path) {
    let began = Instant::now();
    let mut replay = Replay::open(file).unwrap();
    println!("  opened in {:.1} ms", began.elapsed().as_secs_f64() * 1e3);
    let mut random = fastrand::Rng::with_seed(1);
    let mut times: Vec<f64> = (0..SHOWN)
        .map(|_| {
            let moment = random.usize(..replay.moments().len());
            let began = Instant::now();
            replay.seek(moment);
            assert!(replay.moment().is_some());
            began.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!(
        "  a moment: median {:.1} ms, the slowest of {SHOWN} {:.1} ms",
        times[SHOWN / 2],
        times[SHOWN - 1]
    );
}
