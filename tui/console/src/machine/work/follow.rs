//! The pace at which the user follows a run.

use super::{STEP_CYCLES, Work};
use crate::machine::pace::{RequestedPace, missed};
use collectives::Stage;
use machine::snapshot::AccessError;
use machine::target::Target;
use std::time::Instant;
use workloads::scene::Pace;

/// Pace of an emulated mesh while data moves, slow enough for the user to follow.
const FOLLOW: Pace = Pace::CyclesPerSecond(50_000);

impl Work {
    /// Whether the user can follow: while data moves, and while kernels work if a pace was
    /// requested.
    pub(super) fn follows(&self, stage: Stage) -> bool {
        stage.is_transfer() || (self.pace.is_some() && stage.counts_bytes())
    }

    /// Ends the followed stage; reports if the pace was not reached while data moved.
    pub(super) fn leave_stage(&mut self, target: &mut dyn Target) -> Result<(), AccessError> {
        let Some((then, cycles)) = self.since.take() else { return Ok(()) };
        let pace_request =
            self.pace.as_ref().filter(|_| self.followed.is_some_and(Stage::is_transfer));
        let Some(pace) = pace_request.map(RequestedPace::pace) else { return Ok(()) };
        if let Some(notice) = missed(pace, then.elapsed(), target.now()?.saturating_sub(cycles)) {
            self.board_mut().say(format!("while data moved {notice}"));
        }
        Ok(())
    }

    /// The cycles that may pass now, at most a step, while the user follows.
    pub(super) fn due(&mut self, target: &mut dyn Target) -> Result<u64, AccessError> {
        if !target.abilities().stepped_time {
            return Ok(STEP_CYCLES);
        }
        let pace = self.pace.as_ref().map_or(FOLLOW, RequestedPace::pace);
        let Pace::CyclesPerSecond(pace) = pace else { return Ok(STEP_CYCLES) };
        let now = target.now()?;
        let (then, cycles) = *self.since.get_or_insert((Instant::now(), now));
        let due = cycles + (then.elapsed().as_secs_f64() * pace as f64) as u64;
        Ok(due.saturating_sub(now).min(STEP_CYCLES))
    }
}
