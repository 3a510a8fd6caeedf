//! Prints how fast a file is loaded and asked, and how much memory that takes.
//!
//! `MESHSCOPE_TT_METAL_ELFS` names the unpacked ttnn wheel, whose largest ELF is then taken; without
//! it a small ELF of the tests is. With `gdb-multiarch` installed the same question is asked there.

#![allow(unsafe_code, reason = "only an allocator can count what is allocated")]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on should stop")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use symbols::Symbols;

/// Counts the bytes that are allocated now.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed to the system's allocator as it came; only a counter is added.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the promises that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the promises that the system's allocator asks for.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const ONE_SHOT: &str = "--one-shot";
const MEMBER: &str = "mailboxes_t.launch[3].kernel_config.enables";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == ONE_SHOT) {
        let (symbols, _) = Symbols::open(&arguments[at + 1]).unwrap();
        println!("{:?}", symbols.field(&arguments[at + 2]));
        return;
    }
    let (file, member) = subject();
    let size = std::fs::metadata(&file).unwrap().len();
    println!("file                  {} ({size} bytes)", file.display());
    processes(&file, &member);
    println!("load and one member   {:?}", best(20, || cold(&file, &member)));
    println!("load and one address  {:?}", best(20, || cold_address(&file)));
    warm(&file, &member);
    memory(&file, &member, size);
}

/// The largest ELF of the wheel that holds mailboxes, or one of our own.
fn subject() -> (PathBuf, String) {
    let Some(root) = std::env::var_os("MESHSCOPE_TT_METAL_ELFS") else {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/cases/images/types.elf");
        return (own, "mailboxes_t.launch[3].enables".to_owned());
    };
    let mut found = Vec::new();
    collect(&PathBuf::from(root).join("ttnn/tt_metal/pre-compiled"), &mut found);
    found.sort();
    let has_member = |path: &Path| Symbols::open(path).is_ok_and(|(s, _)| s.field(MEMBER).is_ok());
    let largest = found.into_iter().rev().map(|(_, path)| path).find(|path| has_member(path));
    (largest.unwrap(), MEMBER.to_owned())
}

fn collect(folder: &Path, found: &mut Vec<(u64, PathBuf)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "elf") {
            found.push((entry.metadata().unwrap().len(), path));
        }
    }
}

fn best(times: u32, mut work: impl FnMut()) -> Duration {
    let timed = (0..times).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    timed.min().unwrap()
}

fn cold(file: &Path, member: &str) {
    let (symbols, _) = Symbols::open(file).unwrap();
    black_box(symbols.field(member)).unwrap();
}

fn cold_address(file: &Path) {
    let (symbols, _) = Symbols::open(file).unwrap();
    black_box(symbols.frames_at(symbols.entry() + 0x100));
}

/// Whole processes, ours against gdb's.
fn processes(file: &Path, member: &str) {
    let this = std::env::current_exe().unwrap();
    let ours = best(10, || {
        let output = Command::new(&this).arg(ONE_SHOT).arg(file).arg(member).output();
        assert!(output.unwrap().status.success());
    });
    println!("process, one member   {ours:?}");
    let gdb = || {
        let ask = ["-batch", "-ex", "ptype /o struct mailboxes_t"];
        Command::new("gdb-multiarch").args(ask).arg(file).output()
    };
    if gdb().is_ok() {
        let theirs = best(5, || drop(black_box(gdb())));
        let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
        println!("process, gdb          {theirs:?} ({ratio:.0} times ours)");
    }
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

    let field = symbols.field(member).unwrap();
    let bytes = vec![7u8; symbols.type_named("mailboxes_t").unwrap().size().unwrap() as usize];
    let took = best(3, || {
        for _ in 0..MEMBERS {
            black_box(black_box(field).read(black_box(&bytes))).unwrap();
        }
    });
    println!("fields read           {:.0} M/s", f64::from(MEMBERS) / took.as_secs_f64() / 1e6);

    let addresses: Vec<u64> = symbols
        .segments()
        .iter()
        .filter(|segment| segment.executable)
        .flat_map(|s| (s.address..s.address + s.bytes.len() as u64).step_by(4))
        .collect();
    let mut asked = 0;
    let mut frames = 0;
    let took = best(3, || {
        (asked, frames) = (0, 0);
        while asked < 200_000 {
            frames += addresses.iter().map(|&at| symbols.frames_at(at).len()).sum::<usize>();
            asked += addresses.len();
        }
    });
    let rate = asked as f64 / took.as_secs_f64() / 1e3;
    let depth = frames as f64 / asked as f64;
    println!("addresses to frames   {rate:.0} k/s ({depth:.1} frames each)");
}

fn memory(file: &Path, member: &str, size: u64) {
    let before = LIVE.load(Ordering::Relaxed);
    let (symbols, _) = Symbols::open(file).unwrap();
    let bytes = |before: usize| (LIVE.load(Ordering::Relaxed) - before) as f64;
    println!("heap, loaded          {:.2} times the file", bytes(before) / size as f64);
    symbols.field(member).unwrap();
    println!("heap, one member      {:.2} times the file", bytes(before) / size as f64);
    for segment in symbols.segments().iter().filter(|segment| segment.executable) {
        for at in segment.address..segment.address + segment.bytes.len() as u64 {
            black_box(symbols.frames_at(at));
        }
    }
    println!("heap, every address   {:.2} times the file", bytes(before) / size as f64);
}
