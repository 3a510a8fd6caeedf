//! Verdicts on a target with a past: on its moments up to the current one.

use super::watch::{SNAPSHOTS, Watch};
use super::{Session, Watched};

impl Session {
    /// Judges a recorded mesh by moments before the current one, at which it stands afterwards.
    pub(super) fn diagnose_past(&mut self, mut watch: Watch, moments: &[usize]) -> Watched {
        let current = self.target.history().map_or(0, |history| history.position());
        for moment in moments {
            self.seek(*moment);
            self.look(&mut watch);
        }
        let mut diagnosis = self.judge(&mut watch);
        if self.compare_suspects(&mut watch, &diagnosis) {
            self.look_again(&mut watch);
            diagnosis = self.judge(&mut watch);
        }
        if moments.last() != Some(&current) {
            self.seek(current);
        }
        Watched { newest: watch.newest().cloned(), diagnosis, transactions: 0 }
    }

    /// Goes to a moment of a target that has a past.
    pub fn seek(&mut self, moment: usize) {
        if let Some(history) = self.target.history() {
            history.seek(moment);
        }
    }

    /// Returns the moments on which a verdict at the current one rests; none if the target has no
    /// past.
    pub(super) fn past_moments(&mut self, over_cycles: u64) -> Option<Vec<usize>> {
        let history = self.target.history()?;
        let last = history.position();
        // What a partial moment did not read seems to stand still.
        let whole: Vec<usize> = (0..=last).filter(|moment| !history.is_partial(*moment)).collect();
        if whole.is_empty() {
            return Some(spread(history.moments(), last, over_cycles));
        }
        let times: Vec<u64> =
            whole.iter().filter_map(|moment| history.moments().get(*moment)).copied().collect();
        let chosen = spread(&times, whole.len() - 1, over_cycles);
        Some(chosen.into_iter().filter_map(|at| whole.get(at)).copied().collect())
    }
}

/// Returns moments up to `last` that are spread over a time, or over as many moments as a verdict
/// takes if those cover more: without them nothing could be said of progress.
fn spread(times: &[u64], last: usize, over_cycles: u64) -> Vec<usize> {
    let time = |index: usize| times.get(index).copied().unwrap_or(0);
    let end = time(last);
    // A clock that began again ends the time before.
    let before = (0..last).rev().take_while(|index| time(*index) <= time(index + 1));
    let few = last.saturating_sub(SNAPSHOTS as usize - 1);
    let near = before.take_while(|index| *index >= few || end - time(*index) <= over_cycles);
    let first = near.last().unwrap_or(last);
    let over = end.saturating_sub(time(first));
    let due = (0..SNAPSHOTS).map(|number| time(first) + over * number / (SNAPSHOTS - 1));
    let mut moments: Vec<usize> =
        due.map(|due| (first..=last).find(|index| time(*index) >= due).unwrap_or(last)).collect();
    moments.push(last);
    moments.dedup();
    moments
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn moments_are_spread_over_the_time_before() {
        let times = [0, 10, 20, 30, 40, 50, 60];
        assert_eq!(spread(&times, 6, 60), [0, 2, 4, 6]);
        assert_eq!(spread(&times, 6, 30), [3, 4, 5, 6]);
        assert_eq!(spread(&[0, 100, 200, 300, 400], 4, 50), [1, 2, 3, 4]);
        assert_eq!(spread(&times, 1, 60), [0, 1]);
        assert_eq!(spread(&times, 0, 60), [0]);
        assert_eq!(spread(&[0, 1000], 1, 60), [0, 1]);
        assert_eq!(spread(&[500, 600, 0, 10], 3, 60), [2, 3]);
        assert_eq!(spread(&[], 0, 60), [0]);
    }
}
