//! Many commands polled in parallel; one read covers all words that they wait for.

use super::operation::STEP_CYCLES;
use super::{ControlError, Operation};
use machine::snapshot::{Plan, Span};
use machine::target::Target;

/// Commands in progress in parallel. While one waits, the others continue.
#[derive(Clone, Debug, Default)]
pub struct OperationGroup {
    active: Vec<Operation>,
    steps: u64,
    left: u64,
    /// The errors, if a failed command does not end the others; none if it does.
    failed: Option<Vec<ControlError>>,
}

/// Bytes after which a poll returns, so that the caller can use the machine.
const BYTES_A_POLL: u64 = 1 << 17;

impl OperationGroup {
    /// Makes the group. Writes of different commands are made in the commands' order.
    pub fn new(operations: impl IntoIterator<Item = Operation>) -> Self {
        let active: Vec<Operation> = operations.into_iter().collect();
        let steps = count(&active);
        Self { active, steps, left: steps, failed: None }
    }

    /// Makes a group in which a failed command does not end the others, for cleanup.
    pub fn tolerant(operations: impl IntoIterator<Item = Operation>) -> Self {
        Self { failed: Some(Vec::new()), ..Self::new(operations) }
    }

    /// Returns the errors of the commands that failed.
    pub fn failed(&self) -> &[ControlError] {
        self.failed.as_deref().map_or(&[][..], |failed| failed)
    }

    /// Returns the number of completed steps and of all steps.
    pub fn done(&self) -> (u64, u64) {
        (self.steps - self.left, self.steps)
    }

    /// Carries out steps until all commands wait or many bytes are written; the caller lets time
    /// pass. Returns true if all commands are done.
    ///
    /// # Errors
    /// As [`Operation::poll`], at the first command that fails.
    pub fn poll(&mut self, target: &mut dyn Target) -> Result<bool, ControlError> {
        if self.failed.is_some() {
            target.never_stop_for_audit();
        }
        let mut room = BYTES_A_POLL;
        loop {
            self.each(|operation| {
                if room > 0 {
                    room = room.saturating_sub(operation.write_on(target, room)?);
                }
                Ok(())
            })?;
            self.active.retain(|operation| operation.steps().len() > 0);
            self.left = count(&self.active);
            if self.active.is_empty() {
                return Ok(true);
            }
            if room == 0 || !self.poll_words(target)? {
                return Ok(false);
            }
        }
    }

    /// Reads every word that is waited for. Returns true if any command can continue.
    fn poll_words(&mut self, target: &mut dyn Target) -> Result<bool, ControlError> {
        let words = self.active.iter().filter_map(Operation::awaited);
        let spans: Vec<Span> = words.map(|addr| Span { addr, len: 4 }).collect();
        let snapshot = target.read(&Plan { spans });
        let now = match (target.now().map_err(ControlError::Gone), &mut self.failed) {
            (Ok(now), _) => now,
            (Err(error), None) => return Err(error),
            // A lost write is reported once.
            (Err(error), Some(failed)) => {
                failed.push(error);
                target.now().map_err(ControlError::Gone)?
            }
        };
        let mut moved = false;
        self.each(|operation| {
            moved |= operation.judge(&snapshot, now)?;
            Ok(())
        })?;
        Ok(moved)
    }

    /// Applies `act` to each command. A failed command ends all, or only itself.
    fn each(
        &mut self,
        mut act: impl FnMut(&mut Operation) -> Result<(), ControlError>,
    ) -> Result<(), ControlError> {
        let Some(failed) = &mut self.failed else {
            return self.active.iter_mut().try_for_each(act);
        };
        self.active.retain_mut(|operation| match act(operation) {
            Ok(()) => true,
            Err(error) => {
                failed.push(error);
                false
            }
        });
        Ok(())
    }
}

fn count(operations: &[Operation]) -> u64 {
    operations.iter().map(|operation| operation.steps().len() as u64).sum()
}

impl Operation {
    /// Polls many commands in parallel to their ends: while one waits, the others continue.
    ///
    /// # Errors
    /// As [`Operation::finish`], at the first command that fails.
    pub fn finish_all(
        mut operations: Vec<Self>,
        target: &mut dyn Target,
    ) -> Result<(), ControlError> {
        loop {
            let mut active = Vec::with_capacity(operations.len());
            for mut operation in operations {
                if !operation.poll(target)? {
                    active.push(operation);
                }
            }
            if active.is_empty() {
                return Ok(());
            }
            operations = active;
            target.pass(STEP_CYCLES).map_err(ControlError::Gone)?;
        }
    }
}
