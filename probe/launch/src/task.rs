//! Work as a queue of tasks that is polled between snapshots.

use crate::outcome::RunError;
use machine::target::Target;
use std::collections::VecDeque;

/// Where work that is polled stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<S, O> {
    /// There is more to do; poll again after some time has passed.
    Going {
        /// What it is at.
        stage: S,
        /// How much of it is done.
        done: u64,
        /// Of how much.
        of: u64,
    },
    /// It is over, with this outcome.
    Over(O),
}

/// Carries out the tasks in the queue of some work until one is not done: how far that one is. None: no task is left.
///
/// # Errors
/// Why a task failed, where `carry_out` put none in place of the rest.
pub fn poll<W, T, P>(
    work: &mut W,
    queue: fn(&mut W) -> &mut VecDeque<T>,
    progress: fn(&T) -> P,
    mut carry_out: impl FnMut(&mut W, &mut T) -> Result<bool, RunError>,
) -> Result<Option<P>, RunError> {
    while let Some(mut task) = queue(work).pop_front() {
        if !carry_out(work, &mut task)? {
            let progress = progress(&task);
            queue(work).push_front(task);
            return Ok(Some(progress));
        }
    }
    Ok(None)
}

/// Polls to the end, letting so many cycles pass in between: for scenes, scripts and tests.
///
/// # Errors
/// As `poll`, and when time cannot pass.
pub fn finish<S, O>(
    target: &mut dyn Target,
    step_cycles: u64,
    mut poll: impl FnMut(&mut dyn Target) -> Result<Progress<S, O>, RunError>,
) -> Result<O, RunError> {
    loop {
        match poll(target)? {
            Progress::Going { .. } => target.pass(step_cycles)?,
            Progress::Over(outcome) => return Ok(outcome),
        }
    }
}
