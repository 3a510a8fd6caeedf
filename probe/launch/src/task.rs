//! Work as a queue of tasks, polled between snapshots.

use crate::outcome::RunError;
use machine::target::Target;
use std::collections::VecDeque;

/// The progress of polled work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<S, O> {
    /// Work remains; poll again after some time has passed.
    Running {
        /// The current stage.
        stage: S,
        /// Units of it that are done.
        done: u64,
        /// All units of it.
        of: u64,
    },
    /// The work has ended with this outcome.
    Finished(O),
}

/// Carries out queued tasks until one is not done. Returns the progress of that task; none if no
/// task is left.
///
/// # Errors
/// Why a task failed, as `carry_out` returned it.
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

/// Polls to the end, letting `step_cycles` pass in between: for scenes, scripts and tests.
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
            Progress::Running { .. } => target.pass(step_cycles)?,
            Progress::Finished(outcome) => return Ok(outcome),
        }
    }
}
