//! The seeded mutator: targeted random mutations of files go through the entry points of
//! `fuzz/entry.rs`. None may panic, take long, or allocate much.
//!
//! `cargo test` replays the whole corpus and a small fixed set of mutations. More, with other
//! seeds:
//!
//! ```text
//! MESHSCOPE_MUTATE=seed=7,count=100000,seconds=60 cargo test -p symbols --test mutations -- --nocapture
//! ```

#![allow(clippy::unwrap_used, reason = "a failed test stops")]

mod alter;
#[path = "../../fuzz/entry.rs"]
mod entry;
mod guard;
mod layout;
mod random;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use entry::{ENTRIES, Entry};
use guard::Guard;
use random::Random;

/// The number of cases and their seed.
struct Plan {
    seed: u64,
    count: u64,
    seconds: u64,
}

impl Plan {
    /// Returns the plan of `MESHSCOPE_MUTATE`: `seed=`, `count=` and `seconds=`, each with a
    /// default.
    fn from_environment() -> Plan {
        let mut plan = Plan { seed: 1, count: 600, seconds: 60 };
        let words = std::env::var("MESHSCOPE_MUTATE").unwrap_or_default();
        for word in words.split(',').filter(|word| !word.is_empty()) {
            let (name, number) = word.split_once('=').unwrap();
            let number = number.parse().unwrap();
            match name {
                "seed" => plan.seed = number,
                "count" => plan.count = number,
                "seconds" => plan.seconds = number,
                other => assert!(other.is_empty(), "MESHSCOPE_MUTATE has no `{other}`"),
            }
        }
        plan
    }
}

fn corpus(entry: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(entry);
    let paths = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.collect();
    paths.sort();
    let named = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read(path).unwrap())
    };
    paths.into_iter().map(named).collect()
}

#[test]
fn broken_files_do_no_harm() {
    let guard = Guard::start();
    for (name, run) in ENTRIES {
        let files = corpus(name);
        assert!(!files.is_empty(), "{name} has no corpus");
        for (file, bytes) in &files {
            guard.run(&format!("corpus/{name}/{file}"), bytes, run);
        }
    }
    let plan = Plan::from_environment();
    let seeds: Vec<(Entry, Vec<Vec<u8>>)> = ENTRIES
        .iter()
        .map(|&entry| (entry, corpus(entry.0).into_iter().map(|(_, bytes)| bytes).collect()))
        .collect();
    let start = Instant::now();
    let mut done = 0;
    for case in 0..plan.count {
        if start.elapsed() > Duration::from_secs(plan.seconds) {
            break;
        }
        // Each case has its own seed, so that it can be repeated alone.
        let mut random = Random::new(plan.seed, case);
        let ((name, run), files) = &seeds[(case % seeds.len() as u64) as usize];
        let bytes = alter::broken(files, *name == "split", &mut random);
        guard.run(&format!("{name}, seed {}, case {case}", plan.seed), &bytes, *run);
        done += 1;
    }
    let worst = guard.worst();
    println!("{done} broken files in {:.1?}: none did harm; {worst}", start.elapsed());
}
