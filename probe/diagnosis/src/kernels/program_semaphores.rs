//! The semaphores of tt-metal's programs: words in the configuration that a launch message names.

use super::waits_for_semaphore;
use crate::look::{Kernel, Look};
use machine::snapshot::Span;

/// Bytes from one semaphore to the next (`L1_ALIGNMENT`).
pub(super) const SEMAPHORE_BYTES: u64 = 16;
/// Most semaphores of a program on a core (`NUM_SEMAPHORES`).
const MOST: u64 = 16;

/// Returns the range of the semaphores of a kernel that waits for one, or may: of one without
/// waypoints samples say that afterwards.
pub(super) fn span(kernel: &Kernel<'_>) -> Option<Span> {
    let may_wait = waits_for_semaphore(kernel) || kernel.core.lacks_waypoints();
    let launch = kernel.core.launch.known().filter(|_| may_wait)?;
    let first = launch.semaphores?;
    // The configuration of circular buffers follows.
    let end = launch.circular_buffers.map_or(0, |buffers| buffers.config);
    let count = end.saturating_sub(first) / SEMAPHORE_BYTES;
    let count = if count == 0 { MOST } else { count.min(MOST) };
    Some(Span { addr: kernel.place().at(first), len: (count * SEMAPHORE_BYTES) as u32 })
}

/// Returns the address and the value of each semaphore of a kernel that waits for one, as far as
/// they were read.
pub(crate) fn semaphore_values(look: Look<'_>, kernel: &Kernel<'_>) -> Vec<(u64, u32)> {
    let range = span(kernel).filter(|_| waits_for_semaphore(kernel));
    let Some(Span { addr, len }) = range else { return Vec::new() };
    let all = (0..u64::from(len)).step_by(SEMAPHORE_BYTES as usize).map(|at| addr.offset + at);
    all.filter_map(|at| Some((at, look.word(kernel.place(), at)?))).collect()
}
