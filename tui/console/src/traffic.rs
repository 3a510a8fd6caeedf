//! Bus transactions per second: their measurement and their limit.

use std::collections::VecDeque;
use std::time::Duration;

/// The rate is an average over this time, in microseconds.
const WINDOW_MICROS: u64 = 2_000_000;

/// Bus traffic of the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bus transactions since the target was opened.
    pub total: u64,
    /// Current bus transactions per second.
    pub per_second: u64,
    /// Limit of transactions per second, if any.
    pub budget: Option<u32>,
}

/// Measures the rate.
#[derive(Debug, Default)]
pub struct Meter {
    /// Host time in microseconds, and transactions until then.
    marks: VecDeque<(u64, u64)>,
}

impl Meter {
    /// Records a finished snapshot; returns transactions per second.
    pub fn note(&mut self, micros: u64, total: u64) -> u64 {
        self.marks.push_back((micros, total));
        while self.marks.get(1).is_some_and(|(then, _)| then + WINDOW_MICROS <= micros) {
            self.marks.pop_front();
        }
        let Some(&(then, before)) = self.marks.front() else { return 0 };
        let spent = (total - before).saturating_mul(1_000_000);
        spent.checked_div(micros.saturating_sub(then)).unwrap_or(0)
    }
}

/// The least duration of a snapshot, its pause included, that keeps the budget.
pub fn least_time(transactions: u64, budget: Option<u32>) -> Duration {
    let Some(budget) = budget else { return Duration::ZERO };
    Duration::from_micros(transactions.saturating_mul(1_000_000).div_ceil(budget.max(1).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_an_average_of_late() {
        let mut meter = Meter::default();
        assert_eq!(meter.note(0, 100), 0, "no earlier value");
        assert_eq!(meter.note(500_000, 200), 200);
        assert_eq!(meter.note(1_000_000, 300), 200);
        for second in 2..=10 {
            meter.note(second * 1_000_000, 300);
        }
        assert_eq!(meter.note(11_000_000, 300), 0, "older values do not count");
        assert_eq!(meter.note(11_000_000, 300), 0);
    }

    #[test]
    fn a_costly_snapshot_lasts_longer() {
        assert_eq!(least_time(1_000, None), Duration::ZERO);
        assert_eq!(least_time(1_000, Some(1_000)), Duration::from_secs(1));
        assert_eq!(least_time(1, Some(3)), Duration::from_micros(333_334));
        assert_eq!(least_time(0, Some(1)), Duration::ZERO);
    }
}
