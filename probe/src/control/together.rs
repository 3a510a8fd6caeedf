//! Many commands side by side, polled: all that wait are looked at with one read.

use super::operation::STEP_CYCLES;
use super::{ControlError, Operation, Progress};
use crate::snapshot::{Plan, Span};
use crate::target::Target;

/// Commands under way together. While one waits, the others go on.
#[derive(Clone, Debug, Default)]
pub struct Together {
    going: Vec<Operation>,
    steps: u64,
    left: u64,
}

/// A poll writes about so many bytes and then lets others have the machine.
const BYTES_A_POLL: u64 = 1 << 17;

impl Together {
    /// These commands; writes of several of them are made in their order.
    pub fn new(operations: impl IntoIterator<Item = Operation>) -> Self {
        let going: Vec<Operation> = operations.into_iter().collect();
        let steps = count(&going);
        Self { going, steps, left: steps }
    }

    /// Steps that are done, and how many there are.
    pub fn done(&self) -> (u64, u64) {
        (self.steps - self.left, self.steps)
    }

    /// Goes on until all wait, or until much has been written; time passes outside.
    ///
    /// # Errors
    /// As [`Operation::poll`], at the first command that fails.
    pub fn poll(&mut self, target: &mut dyn Target) -> Result<Progress, ControlError> {
        let mut room = BYTES_A_POLL;
        loop {
            for operation in &mut self.going {
                room = room.saturating_sub(operation.write_on(target, room)?);
                if room == 0 {
                    break;
                }
            }
            self.going.retain(|operation| operation.steps().len() > 0);
            self.left = count(&self.going);
            let Some(first) = self.going.first() else { return Ok(Progress::Done) };
            let waiting_for = first.waiting_for().unwrap_or_default().to_owned();
            if room == 0 || !self.look(target)? {
                return Ok(Progress::Going { waiting_for });
            }
        }
    }

    /// Looks at every word that is waited for; tells whether any of the commands goes on.
    fn look(&mut self, target: &mut dyn Target) -> Result<bool, ControlError> {
        let words = self.going.iter().filter_map(Operation::awaited);
        let spans: Vec<Span> = words.map(|addr| Span { addr, len: 4 }).collect();
        let shot = target.read(&Plan { spans });
        let now = target.now().map_err(ControlError::Gone)?;
        let mut moved = false;
        for operation in &mut self.going {
            moved |= operation.judge(&shot, now)?;
        }
        Ok(moved)
    }
}

fn count(operations: &[Operation]) -> u64 {
    operations.iter().map(|operation| operation.steps().len() as u64).sum()
}

impl Operation {
    /// Polls many commands side by side to their ends: while one waits, the others go on.
    ///
    /// # Errors
    /// As [`Operation::finish`], at the first command that fails.
    pub fn finish_all(
        mut operations: Vec<Self>,
        target: &mut dyn Target,
    ) -> Result<(), ControlError> {
        loop {
            let mut going = Vec::with_capacity(operations.len());
            for mut operation in operations {
                if operation.poll(target)? != Progress::Done {
                    going.push(operation);
                }
            }
            if going.is_empty() {
                return Ok(());
            }
            operations = going;
            target.pass(STEP_CYCLES).map_err(ControlError::Gone)?;
        }
    }
}
