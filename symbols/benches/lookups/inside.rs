//! The library's cost inside one process: loading, a million lookups, and heap.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use symbols::Symbols;

use crate::counting::{live, peak};

fn best(times: u32, mut work: impl FnMut()) -> Duration {
    let timed = (0..times).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    timed.min().unwrap()
}

pub(crate) fn measure(file: &Path, member: &str) {
    let size = std::fs::metadata(file).unwrap().len();
    println!("load and one member   {:?}", best(20, || cold(file, member)));
    println!("load and one address  {:?}", best(20, || cold_address(file)));
    warm(file, member);
    memory(file, member, size);
}

fn cold(file: &Path, member: &str) {
    let (symbols, _) = Symbols::open(file).unwrap();
    black_box(symbols.field(member)).unwrap();
}

fn cold_address(file: &Path) {
    let (symbols, _) = Symbols::open(file).unwrap();
    black_box(symbols.frames_at(symbols.entry() + 0x100));
}

fn warm(file: &Path, member: &str) {
    const MEMBERS: u32 = 1_000_000;
    let (symbols, _) = Symbols::open(file).unwrap();
    symbols.field(member).unwrap();
    let took = best(3, || {
        for _ in 0..MEMBERS {
            black_box(symbols.field(black_box(member))).unwrap();
        }
    });
    println!("members by name       {:.2} M/s", f64::from(MEMBERS) / took.as_secs_f64() / 1e6);

    let place = symbols.member(member).unwrap();
    let bytes = vec![7u8; (place.field.offset + place.field.size) as usize];
    let took = best(3, || {
        for _ in 0..MEMBERS {
            black_box(black_box(place.field).read(black_box(&bytes))).unwrap();
        }
    });
    println!("fields read           {:.0} M/s", f64::from(MEMBERS) / took.as_secs_f64() / 1e6);

    let addresses: Vec<u64> = symbols
        .segments()
        .iter()
        .filter(|segment| segment.executable)
        .flat_map(|s| (s.address..s.address + s.bytes.len() as u64).step_by(4))
        .collect();
    let mut looked_up = 0;
    let mut frames = 0;
    let took = best(3, || {
        (looked_up, frames) = (0, 0);
        while looked_up < 200_000 {
            frames += addresses.iter().map(|&at| symbols.frames_at(at).len()).sum::<usize>();
            looked_up += addresses.len();
        }
    });
    let rate = looked_up as f64 / took.as_secs_f64() / 1e3;
    let depth = frames as f64 / looked_up as f64;
    println!("addresses to frames   {rate:.0} k/s ({depth:.1} frames each)");
}

/// Prints the heap relative to the file size: the current size and the peak.
fn memory(file: &Path, member: &str, size: u64) {
    let before = live();
    peak();
    let print = |label: &str| {
        let times = |bytes: usize| bytes.saturating_sub(before) as f64 / size as f64;
        println!("{label:<22}{:.2} times the file, at most {:.2}", times(live()), times(peak()));
    };
    let (symbols, _) = Symbols::open(file).unwrap();
    print("heap, loaded");
    symbols.field(member).unwrap();
    print("heap, one member");
    let (entry, _) = (symbols.entry(), symbols.frames_at(symbols.entry()));
    print("heap, one address");
    for segment in symbols.segments().iter().filter(|segment| segment.executable) {
        for at in segment.address..segment.address + segment.bytes.len() as u64 {
            black_box(symbols.frames_at(at));
        }
    }
    print("heap, every address");
    for name in symbols.type_names() {
        black_box(symbols.type_named(&name));
    }
    print("heap, every type");
    let _ = black_box(symbols.code_of_line("nothing.cpp", 1));
    black_box(symbols.symbol_at(entry));
    print("heap, every line");
}
