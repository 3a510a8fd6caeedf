//! Runs one case and detects harm: a panic, an endless loop or excessive memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The most time of a case. The slowest good cases take milliseconds; this leaves room for a busy
/// machine.
const MAX_TIME: Duration = Duration::from_mins(2);

/// The most bytes that a case may have allocated at once.
const MAX_BYTES: usize = 256 << 20;

/// Counts the bytes allocated now, and the peak.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[allow(unsafe_code, reason = "only an allocator can count what is allocated")]
// SAFETY: every call is forwarded unchanged to the system's allocator; only counters are added.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the caller fulfils the contract of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller fulfils the contract of the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The running case.
struct Case {
    name: String,
    bytes: Vec<u8>,
    since: Instant,
}

/// The longest time and the most memory of a case, with the name of the case.
#[derive(Default)]
struct Worst {
    time: (Duration, String),
    bytes: (usize, String),
}

/// Watches the running case.
pub(crate) struct Guard {
    case: Arc<Mutex<Option<Case>>>,
    worst: Mutex<Worst>,
}

fn keep(name: &str, bytes: &[u8]) -> PathBuf {
    let plain: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    let path = std::env::temp_dir().join(format!("meshscope-harm-{plain}"));
    std::fs::write(&path, bytes).unwrap();
    path
}

impl Guard {
    pub(crate) fn start() -> Guard {
        let case: Arc<Mutex<Option<Case>>> = Arc::default();
        let watched = Arc::clone(&case);
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_millis(500));
                let case = watched.lock().unwrap();
                if let Some(case) = case.as_ref().filter(|case| case.since.elapsed() > MAX_TIME) {
                    let kept = keep(&case.name, &case.bytes);
                    eprintln!(
                        "{}: takes longer than {MAX_TIME:?}; kept as {}",
                        case.name,
                        kept.display()
                    );
                    std::process::abort();
                }
            }
        });
        Guard { case, worst: Mutex::default() }
    }

    /// Runs one case. Harm ends the test, and the file is kept.
    pub(crate) fn run(&self, name: &str, bytes: &[u8], entry: fn(&[u8])) {
        let case = Case { name: name.to_owned(), bytes: bytes.to_vec(), since: Instant::now() };
        *self.case.lock().unwrap() = Some(case);
        let before = LIVE.load(Ordering::Relaxed);
        PEAK.store(before, Ordering::Relaxed);
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| entry(bytes)));
        let taken = PEAK.load(Ordering::Relaxed).saturating_sub(before);
        *self.case.lock().unwrap() = None;
        let mut worst = self.worst.lock().unwrap();
        if start.elapsed() > worst.time.0 {
            worst.time = (start.elapsed(), name.to_owned());
        }
        if taken > worst.bytes.0 {
            worst.bytes = (taken, name.to_owned());
        }
        drop(worst);
        let harm = match outcome {
            Err(_) => Some("panics".to_owned()),
            Ok(()) => (taken > MAX_BYTES).then(|| format!("allocates {taken} bytes")),
        };
        let kept = harm.as_ref().map(|_| keep(name, bytes));
        assert!(harm.is_none(), "{name}: {harm:?}; kept as {kept:?}");
    }

    /// Returns the longest time and the most memory of a case.
    pub(crate) fn worst(&self) -> String {
        let worst = self.worst.lock().unwrap();
        let (time, bytes) = (&worst.time, &worst.bytes);
        format!("at most {:.0?} ({}) and {} KiB ({})", time.0, time.1, bytes.0 >> 10, bytes.1)
    }
}
