//! Turns host time into emulated time.

use machine::snapshot::AccessError;
use machine::target::Target;
use std::time::{Duration, Instant};
use workloads::scene::Pace;

/// The pace of a session.
#[derive(Debug)]
pub(super) struct Pacer {
    pace: Pace,
    pub(super) since: Option<(Instant, u64)>,
}

impl Pacer {
    /// The cycles between two snapshots at pace `max`.
    const MAX_CYCLES: u64 = 10_000_000;
    /// The most host time that is caught up.
    const MAX_BEHIND: Duration = Duration::from_millis(250);

    pub(super) fn new(pace: Pace) -> Self {
        Self { pace, since: None }
    }

    /// Lets time pass up to the pace. Cycles that reads cost count as passed.
    pub(super) fn keep(&mut self, target: &mut dyn Target) -> Result<(), AccessError> {
        let now = target.now()?;
        let Pace::CyclesPerSecond(pace) = self.pace else { return target.pass(Self::MAX_CYCLES) };
        let (then, cycles) = *self.since.get_or_insert((Instant::now(), now));
        let elapsed = then.elapsed().min(Self::MAX_BEHIND);
        let due = cycles + (elapsed.as_secs_f64() * pace as f64) as u64;
        target.pass(due.saturating_sub(now))?;
        self.since = Some((Instant::now(), due.max(now)));
        Ok(())
    }
}
