//! The pace that a person asked for beside the one that is reached: a look takes time of the mesh, too.

use crate::words;
use std::time::{Duration, Instant};
use workloads::scene::Pace;

/// So long after it was asked for it is told what is reached.
const JUDGED_AFTER: Duration = Duration::from_secs(2);

/// A pace that was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestedPace {
    pace: Pace,
    since: Instant,
    /// The target's own time then.
    cycles: u64,
    judged: bool,
}

impl RequestedPace {
    pub(super) fn new(pace: Pace, now_cycles: u64) -> Self {
        Self { pace, since: Instant::now(), cycles: now_cycles, judged: false }
    }

    pub(super) fn pace(&self) -> Pace {
        self.pace
    }

    pub(super) fn begins(&self) -> String {
        format!("pace {}, now measured ...", named(self.pace))
    }

    /// It was not told yet what is reached, and now it can be.
    pub(super) fn is_due(&self) -> bool {
        !self.judged && self.since.elapsed() >= JUDGED_AFTER
    }

    /// What is reached.
    pub(super) fn judge(&mut self, now_cycles: u64) -> String {
        self.judged = true;
        let (elapsed, passed) = (self.since.elapsed(), now_cycles.saturating_sub(self.cycles));
        let asked = named(self.pace);
        match missed(self.pace, elapsed, passed) {
            Some(said) => format!("pace {asked}: {said}"),
            None => format!("pace {asked}: {} a second pass", words::count(rate(elapsed, passed))),
        }
    }
}

fn named(pace: Pace) -> String {
    match pace {
        Pace::Max => "max".to_owned(),
        Pace::CyclesPerSecond(cycles) => format!("{} cycles a second", words::count(cycles)),
    }
}

fn rate(elapsed: Duration, cycles: u64) -> u64 {
    (cycles as f64 / elapsed.as_secs_f64().max(1e-3)) as u64
}

/// Why so many cycles in this time are another pace, if they are; a tenth more or less is none.
pub(super) fn missed(pace: Pace, elapsed: Duration, cycles: u64) -> Option<String> {
    let Pace::CyclesPerSecond(asked) = pace else { return None };
    let rate = rate(elapsed, cycles);
    let reached = words::count(rate);
    if rate > asked.saturating_add(asked / 10) {
        return Some(format!(
            "{reached} cycles a second passed, as looking takes time of the mesh"
        ));
    }
    (rate < asked - asked / 10)
        .then(|| format!("{reached} cycles a second passed, as this machine emulates no faster"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_pace_than_asked_for_is_explained() {
        let second = Duration::from_secs(1);
        let said = |pace, cycles| missed(Pace::CyclesPerSecond(pace), second, cycles);
        assert_eq!(said(5_000, 5_300), None);
        assert!(
            said(5_000, 1_900_000).is_some_and(|said| said.contains("1M") && said.contains("look"))
        );
        assert!(said(10_000_000, 8_700_000).is_some_and(|said| said.contains("no faster")));
        assert!(said(1, 0).is_some());
        assert_eq!(missed(Pace::Max, second, 7), None);
    }
}
