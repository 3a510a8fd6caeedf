//! `:run --from`: the packets of a trace, sent again between snapshots.

use super::{MachineTask, Work};
use crate::exit::Failure;
use crate::run::replay::{Replay, ReplayOrder, read_trace_file};
use launch::outcome::RunError;
use machine::target::Target;
use machine::words::counted;
use probe::session::Session;

impl Work {
    /// Sends the packets of a trace, unless something runs already.
    pub(super) fn replay(
        &mut self,
        order: &ReplayOrder,
        session: &mut Session,
    ) -> Result<(), Failure> {
        self.check_idle()?;
        let trace = read_trace_file(&order.file)?;
        let (target, images) = session.parts();
        let replay = Replay::new(order, &trace, target, images)?;
        let replaying = Replaying { replay, shown: "", stopping: false };
        self.task = MachineTask::Replay(Box::new(replaying));
        Ok(())
    }
}

/// A trace that is being sent.
pub(super) struct Replaying {
    replay: Replay,
    /// The stage shown last.
    shown: &'static str,
    stopping: bool,
}

impl Replaying {
    /// Tears down what it has launched; returns a notice.
    pub(super) fn cancel(&mut self, session: &mut Session) -> String {
        self.stopping = true;
        let (target, images) = session.parts();
        let cancelled = self.replay.cancel(images);
        cancelled.err().map_or_else(
            || "run --from: is being torn down".to_owned(),
            |error| failure(target, &error).to_string(),
        )
    }

    /// Continues; returns a notice if there is a new one, and whether this was the end.
    pub(super) fn poll(&mut self, session: &mut Session) -> (Option<String>, bool) {
        let (target, images) = session.parts();
        match self.replay.poll(target, images) {
            Ok(Some((stage, _))) => {
                let is_new = std::mem::replace(&mut self.shown, stage) != stage;
                (is_new.then(|| format!("run --from: {stage}")), false)
            }
            Ok(None) => (Some(self.ended()), true),
            Err(error) => (Some(failure(target, &error).to_string()), true),
        }
    }

    /// What came of the packets.
    fn ended(&self) -> String {
        if self.stopping {
            return "run --from: stopped, and torn down".to_owned();
        }
        let senders = self.replay.senders();
        let arrived: u64 = senders.iter().map(|sender| sender.arrived).sum();
        let all = counted(self.replay.packets(), "packet", "packets");
        let wrong = if self.replay.is_right() { "" } else { "; some are dropped or wrong" };
        format!("run --from: {arrived} of {all} have arrived{wrong}")
    }
}

fn failure(target: &dyn Target, error: &RunError) -> Failure {
    Failure::of_run(target.name(), target.mesh().layout(), error)
}
