//! The host threads that run the chips of a mesh: one or several, whichever takes less time at
//! present. The choice has no effect on results.
//!
//! Chips run alone for a few hundred cycles, then exchange packets. Where they have little to do in
//! that time, to wake a second thread takes longer than the work. So both ways are timed, and now
//! and then the slower one is tried again.

use crate::chip::Chip;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Windows between two trials of the slower way, at least and at most.
const PAUSES: [u32; 2] = [64, 2048];
/// Windows of a trial. Their work differs by a factor of ten, so one of them says little.
const TRIAL: u32 = 8;
/// A window of less work is not worth the creation of helpers.
const WORTH_HELPERS_NANOS: f64 = 10_000.0;
/// The part of a new measurement in the mean.
const WEIGHT: f64 = 1.0 / 8.0;

/// The threads of a mesh.
#[derive(Debug)]
pub(crate) struct Threads {
    /// Number of helpers of the caller's thread.
    helpers: usize,
    /// The helpers, from the first window that is worth them.
    pool: Option<rayon::ThreadPool>,
    /// Mean nanoseconds per chip and window, on one thread and on several (infinite until tried).
    nanos: [f64; 2],
    /// Windows until the slower way is tried, and from then until the next trial.
    until_trial: u32,
    pause: u32,
    /// The trial that runs.
    trial: Option<Trial>,
}

/// A trial of the slower way.
#[derive(Debug)]
struct Trial {
    way: usize,
    windows: u32,
    /// Nanoseconds per chip, added up over the windows.
    nanos: f64,
}

impl Threads {
    /// Creates at most `threads` threads for `chips` chips, the caller's among them.
    pub(crate) fn new(threads: usize, chips: usize) -> Self {
        let helpers = threads.min(chips).saturating_sub(1);
        Self {
            helpers,
            pool: None,
            nanos: [0.0, f64::INFINITY],
            until_trial: 0,
            pause: PAUSES[0],
            trial: None,
        }
    }

    /// Runs every chip that has something to do before `end`.
    pub(crate) fn run(&mut self, chips: &mut [Chip], end: u64) {
        let due = chips.iter_mut().filter(|chip| chip.next_activity() < end);
        if self.helpers == 0 {
            return due.for_each(|chip| chip.run(end));
        }
        let due: Vec<&mut Chip> = due.collect();
        let count = due.len();
        let way = if count < 2 { 0 } else { self.way(count) };
        let started = Instant::now();
        match &self.pool {
            Some(pool) if way == 1 => share(pool, due, end),
            _ => due.into_iter().for_each(|chip| chip.run(end)),
        }
        if count > 1 {
            self.note(way, started.elapsed().as_nanos() as f64 / count as f64);
        }
    }

    /// Returns the way for a window with work for `count` chips: 0 for one thread, 1 for several.
    fn way(&mut self, count: usize) -> usize {
        if self.pool.is_none() {
            if self.nanos[0] * (count as f64) < WORTH_HELPERS_NANOS {
                return 0;
            }
            self.pool = rayon::ThreadPoolBuilder::new().num_threads(self.helpers).build().ok();
            if self.pool.is_none() {
                self.helpers = 0;
                return 0;
            }
        }
        if let Some(trial) = &self.trial {
            return trial.way;
        }
        let way = usize::from(self.nanos[1] < self.nanos[0]);
        if self.until_trial > 0 {
            self.until_trial -= 1;
            return way;
        }
        self.trial = Some(Trial { way: 1 - way, windows: 0, nanos: 0.0 });
        1 - way
    }

    /// Counts a window. A trial replaces the mean of its way, which is of another time.
    fn note(&mut self, way: usize, nanos: f64) {
        let Some(trial) = &mut self.trial else {
            self.nanos[way] += (nanos - self.nanos[way]) * WEIGHT;
            return;
        };
        trial.windows += 1;
        trial.nanos += nanos;
        if trial.windows < TRIAL {
            return;
        }
        self.nanos[way] = trial.nanos / f64::from(TRIAL);
        self.trial = None;
        // A way that is clearly slower is tried less often.
        let clear = self.nanos[way] > 1.5 * self.nanos[1 - way];
        self.pause = if clear { (2 * self.pause).min(PAUSES[1]) } else { PAUSES[0] };
        self.until_trial = self.pause;
    }
}

/// Runs chips on all threads: a free thread takes the next chip, and the caller's thread works like
/// the helpers.
fn share(pool: &rayon::ThreadPool, due: Vec<&mut Chip>, end: u64) {
    let helpers = pool.current_num_threads().min(due.len() - 1);
    let due = Mutex::new(due.into_iter());
    let next = || due.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(chip) = next() {
            chip.run(end);
        }
    };
    pool.in_place_scope(|scope| {
        (0..helpers).for_each(|_| scope.spawn(|_| work()));
        work();
    });
}

#[cfg(test)]
mod tests {
    use super::{PAUSES, Threads};

    /// Runs windows that take these nanoseconds per chip on one thread and on several; returns how
    /// many ran on several.
    fn on_several(threads: &mut Threads, windows: u32, nanos: [f64; 2]) -> u32 {
        let mut several = 0;
        for _ in 0..windows {
            let way = threads.way(2);
            threads.note(way, nanos[way]);
            several += way as u32;
        }
        several
    }

    #[test]
    fn the_quicker_way_is_found_when_the_work_changes() {
        let mut threads = Threads::new(2, 2);
        // Trials of one thread are rare.
        let heavy = on_several(&mut threads, 10_000, [300_000.0, 160_000.0]);
        assert!(heavy > 9_500, "{heavy}");
        // The mean of several threads is below that of one thread under the old load, until that is
        // tried again.
        let light = on_several(&mut threads, 10_000, [6_000.0, 27_000.0]);
        assert!(light < PAUSES[1] + 500, "{light}");
        let heavy = on_several(&mut threads, 10_000, [300_000.0, 160_000.0]);
        assert!(heavy > 7_500, "{heavy}");
    }
}
