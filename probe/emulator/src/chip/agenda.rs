//! The agenda of a chip: which of its units do something soon. The chip skips the others.

use crate::heap::of_vec;

/// How many cycles "soon" covers: long compared with a run window, short compared with the sleep of
/// idle firmware.
const SPAN: u64 = 1024;

/// The next cycle at which a unit does something, and the next at which it may send something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) activity: u64,
    pub(crate) emission: u64,
}

/// The cycles up to which units may run alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunWindow {
    /// The earliest emission of all units.
    first: u64,
    /// The earliest emission of all units except `earliest`.
    second: u64,
    earliest: usize,
}

impl RunWindow {
    /// Returns the earliest cycle at which any unit except this one may send something.
    pub(crate) fn others(&self, unit: usize) -> u64 {
        if unit == self.earliest { self.second } else { self.first }
    }
}

/// The agenda of a chip.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agenda {
    next: Vec<Next>,
    /// Units that do something before the horizon, in no particular order.
    soon: Vec<usize>,
    is_soon: Vec<bool>,
    horizon: u64,
    /// No other unit does anything before this cycle. The value may be too low; the next scan of
    /// all units corrects it.
    others_from: u64,
}

impl Agenda {
    /// Creates an agenda of `units` units with nothing to do.
    pub(crate) fn new(units: usize) -> Self {
        let never = Next { activity: u64::MAX, emission: u64::MAX };
        Self {
            next: vec![never; units],
            soon: Vec::new(),
            is_soon: vec![false; units],
            horizon: 0,
            others_from: u64::MAX,
        }
    }

    /// Returns the memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        of_vec(&self.next) + of_vec(&self.soon) + of_vec(&self.is_soon)
    }

    /// Sets what a unit does next.
    pub(crate) fn set(&mut self, unit: usize, next: Next) {
        self.next[unit] = next;
        if self.is_soon[unit] {
            return;
        }
        if next.activity < self.horizon {
            self.is_soon[unit] = true;
            self.soon.push(unit);
        } else {
            self.others_from = self.others_from.min(next.activity);
        }
    }

    /// Returns the next cycle at which a unit does something.
    pub(crate) fn activity(&self, unit: usize) -> u64 {
        self.next[unit].activity
    }

    /// Returns a cycle before which no unit does anything.
    pub(crate) fn next_activity(&self) -> u64 {
        let soon = self.soon.iter().map(|unit| self.next[*unit].activity).min();
        soon.unwrap_or(u64::MAX).min(self.others_from)
    }

    /// Returns the unit at index `at` of those that do something soon.
    pub(crate) fn soon(&self, at: usize) -> Option<usize> {
        self.soon.get(at).copied()
    }

    /// Returns how far the units may run alone; `None` if nothing happens before `until`.
    pub(crate) fn window(&mut self, until: u64) -> Option<RunWindow> {
        let (start, window) = self.next_window();
        if start < self.horizon {
            return (start < until).then_some(window);
        }
        if self.others_from >= until {
            return None;
        }
        // No unit does anything before the horizon: advance it.
        let start = self.next.iter().map(|next| next.activity).min().unwrap_or(u64::MAX);
        self.others_from = start;
        if start >= until {
            return None;
        }
        self.horizon = start.saturating_add(SPAN);
        self.others_from = u64::MAX;
        for unit in 0..self.next.len() {
            let next = self.next[unit];
            self.set(unit, next);
        }
        Some(self.next_window().1)
    }

    /// Returns the first activity of the soon units, and the window that follows from their
    /// emissions and the horizon. Drops units without activity before the horizon.
    fn next_window(&mut self) -> (u64, RunWindow) {
        let (mut start, mut first, mut second, mut earliest) = (u64::MAX, u64::MAX, u64::MAX, 0);
        let mut at = 0;
        while let Some(&unit) = self.soon.get(at) {
            let next = self.next[unit];
            if next.activity >= self.horizon {
                self.is_soon[unit] = false;
                self.others_from = self.others_from.min(next.activity);
                self.soon.swap_remove(at);
                continue;
            }
            start = start.min(next.activity);
            if next.emission < first {
                (second, first, earliest) = (first, next.emission, unit);
            } else if next.emission < second {
                second = next.emission;
            }
            at += 1;
        }
        // The units that are not soon emit nothing before the horizon.
        let (first, second) = (first.min(self.horizon), second.min(self.horizon));
        (start, RunWindow { first, second, earliest })
    }
}

#[cfg(test)]
mod tests {
    use super::{Agenda, Next, SPAN};

    #[test]
    fn the_earliest_may_go_further_than_the_others() {
        let mut agenda = Agenda::new(4);
        let next = |at| Next { activity: at, emission: at + 5 };
        agenda.set(0, next(100));
        agenda.set(1, next(130));
        agenda.set(2, next(100 + SPAN));
        assert_eq!(agenda.next_activity(), 100);
        assert!(agenda.window(100).is_none());
        let window = agenda.window(1000).map(|w| (w.others(0), w.others(1)));
        assert_eq!(window, Some((135, 105)));
        agenda.set(0, next(u64::MAX - 5));
        agenda.set(1, next(5000));
        // Only the unit beyond the horizon is left; it may run up to what the other unit sends.
        let window = agenda.window(u64::MAX).map(|w| (w.others(2), agenda.soon(0)));
        assert_eq!(window, Some((100 + 2 * SPAN, Some(2))));
        agenda.set(2, next(u64::MAX - 5));
        assert!(agenda.window(5000).is_none());
        assert_eq!(agenda.next_activity(), 5000);
    }
}
