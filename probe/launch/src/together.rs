//! Many commands side by side, polled: all that wait are looked at with one read.

use super::operation::STEP_CYCLES;
use super::{ControlError, Operation};
use machine::snapshot::{Plan, Span};
use machine::target::Target;

/// Commands under way together. While one waits, the others go on.
#[derive(Clone, Debug, Default)]
pub struct Together {
    going: Vec<Operation>,
    steps: u64,
    left: u64,
    /// One that fails does not keep the others from going on; why they failed.
    failed: Option<Vec<ControlError>>,
}

/// A poll writes about so many bytes and then lets others have the machine.
const BYTES_A_POLL: u64 = 1 << 17;

impl Together {
    /// These commands; writes of several of them are made in their order.
    pub fn new(operations: impl IntoIterator<Item = Operation>) -> Self {
        let going: Vec<Operation> = operations.into_iter().collect();
        let steps = count(&going);
        Self { going, steps, left: steps, failed: None }
    }

    /// The same, but as many of them are carried out as can be: for clearing away.
    pub fn as_can_be(operations: impl IntoIterator<Item = Operation>) -> Self {
        Self { failed: Some(Vec::new()), ..Self::new(operations) }
    }

    /// Why some of them were not carried out.
    pub fn failed(&self) -> &[ControlError] {
        self.failed.as_deref().map_or(&[][..], |failed| failed)
    }

    /// Steps that are done, and how many there are.
    pub fn done(&self) -> (u64, u64) {
        (self.steps - self.left, self.steps)
    }

    /// Goes on until all wait, or until much has been written; time passes outside. Tells whether all are done.
    ///
    /// # Errors
    /// As [`Operation::poll`], at the first command that fails.
    pub fn poll(&mut self, target: &mut dyn Target) -> Result<bool, ControlError> {
        let mut room = BYTES_A_POLL;
        loop {
            self.each(|operation| {
                if room > 0 {
                    room = room.saturating_sub(operation.write_on(target, room)?);
                }
                Ok(())
            })?;
            self.going.retain(|operation| operation.steps().len() > 0);
            self.left = count(&self.going);
            if self.going.is_empty() {
                return Ok(true);
            }
            if room == 0 || !self.poll_words(target)? {
                return Ok(false);
            }
        }
    }

    /// Looks at every word that is waited for; tells whether any of the commands goes on.
    fn poll_words(&mut self, target: &mut dyn Target) -> Result<bool, ControlError> {
        let words = self.going.iter().filter_map(Operation::awaited);
        let spans: Vec<Span> = words.map(|addr| Span { addr, len: 4 }).collect();
        let snapshot = target.read(&Plan { spans });
        let now = match (target.now().map_err(ControlError::Gone), &mut self.failed) {
            (Ok(now), _) => now,
            (Err(error), None) => return Err(error),
            // A write that did not arrive is told once.
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

    /// Does something with each command; one that fails ends all, or only itself.
    fn each(
        &mut self,
        mut act: impl FnMut(&mut Operation) -> Result<(), ControlError>,
    ) -> Result<(), ControlError> {
        let Some(failed) = &mut self.failed else {
            return self.going.iter_mut().try_for_each(act);
        };
        self.going.retain_mut(|operation| match act(operation) {
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
                if !operation.poll(target)? {
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
