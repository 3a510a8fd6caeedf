//! The progress of what takes long.

use crate::output::{self, say};
use std::time::{Duration, Instant};

/// Cycles of the target between two polls of what runs there.
pub(super) const STEP_CYCLES: u64 = 20_000;
/// Interval of the progress line on a terminal.
const DRAW_PAUSE: Duration = Duration::from_millis(100);
/// Interval of the progress lines otherwise.
const SAY_PAUSE: Duration = Duration::from_secs(5);

/// The progress: one line that changes on a terminal, a line each otherwise.
pub(super) struct Line {
    op: &'static str,
    next: Instant,
    terminal: bool,
}

impl Line {
    /// Makes the line of what is named.
    pub(super) fn new(op: &'static str) -> Self {
        let terminal = output::can_wait();
        let next = Instant::now() + if terminal { Duration::ZERO } else { SAY_PAUSE };
        Self { op, next, terminal }
    }

    /// Shows how far it is, if it is time.
    pub(super) fn show(&mut self, words: impl FnOnce() -> String) {
        if Instant::now() < self.next {
            return;
        }
        let words = words();
        if !self.terminal {
            self.next = Instant::now() + SAY_PAUSE;
            say(&format!("{} {words}", self.op));
            return;
        }
        self.next = Instant::now() + DRAW_PAUSE;
        output::wait_for(&format!("{} {words}", self.op));
    }
}
