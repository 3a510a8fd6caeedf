//! The requested pace next to the measured one: snapshots take time of an emulated mesh, too.

use crate::words;
use std::time::{Duration, Instant};
use workloads::scene::Pace;

/// The measured pace is reported this long after the request.
const JUDGED_AFTER: Duration = Duration::from_secs(2);

/// A requested pace.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestedPace {
    pace: Pace,
    since: Instant,
    /// The target's time then.
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

    /// Whether the measured pace is due to be reported.
    pub(super) fn is_due(&self) -> bool {
        !self.judged && self.since.elapsed() >= JUDGED_AFTER
    }

    /// Reports the measured pace.
    pub(super) fn judge(&mut self, now_cycles: u64) -> String {
        self.judged = true;
        let (elapsed, passed) = (self.since.elapsed(), now_cycles.saturating_sub(self.cycles));
        let requested = named(self.pace);
        match missed(self.pace, elapsed, passed) {
            Some(message) => format!("pace {requested}: {message}"),
            None => {
                format!("pace {requested}: {} a second pass", words::count(rate(elapsed, passed)))
            }
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

/// The reason why the measured pace is not the requested one, if they differ by more than a tenth.
pub(super) fn missed(pace: Pace, elapsed: Duration, cycles: u64) -> Option<String> {
    let Pace::CyclesPerSecond(requested) = pace else { return None };
    let rate = rate(elapsed, cycles);
    let reached = words::count(rate);
    if rate > requested.saturating_add(requested / 10) {
        return Some(format!(
            "{reached} cycles a second passed, as snapshots take time of the mesh"
        ));
    }
    (rate < requested - requested / 10)
        .then(|| format!("{reached} cycles a second passed, as this machine emulates no faster"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_pace_than_requested_is_explained() {
        let second = Duration::from_secs(1);
        let message = |pace, cycles| missed(Pace::CyclesPerSecond(pace), second, cycles);
        assert_eq!(message(5_000, 5_300), None);
        assert!(
            message(5_000, 1_900_000)
                .is_some_and(|message| message.contains("1M") && message.contains("snapshots"))
        );
        assert!(
            message(10_000_000, 8_700_000).is_some_and(|message| message.contains("no faster"))
        );
        assert!(message(1, 0).is_some());
        assert_eq!(missed(Pace::Max, second, 7), None);
    }
}
