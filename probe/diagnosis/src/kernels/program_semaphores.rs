//! The semaphores of tt-metal's programs: words in the configuration that a launch message names.

use super::{Search, has_returned, waits_for};
use crate::function::WAITS_FOR_SEMAPHORE;
use crate::look::{Kernel, Look};
use decode::spin::End;
use decode::state::{Party, WaitReason};
use layouts::{CoreId, NocAddr};
use machine::snapshot::Span;

/// Bytes from one semaphore to the next (`L1_ALIGNMENT`).
pub(super) const SEMAPHORE_BYTES: u64 = 16;
/// The waypoint of `noc_semaphore_wait_min`.
const AT_LEAST: &str = "NSMW";
/// Most semaphores of a program on a core (`NUM_SEMAPHORES`).
const MOST: u64 = 16;
/// A kernel that waits for more kernels than these waits for none that can be named.
const MOST_AWAITED: usize = 16;

impl Search<'_> {
    /// Adds the waits of a kernel for those of its operation that may still increment its semaphore:
    /// they run, and do not wait for others of it themselves.
    pub(super) fn semaphores(&mut self, kernel: &Kernel<'_>) {
        if !waits_for_semaphore(kernel) {
            return;
        }
        let operation = kernel.operation();
        let may = |it: &&Kernel<'_>| {
            it.operation() == operation
                && !it.serves()
                && !has_returned(it)
                && !waits_for_semaphore(it)
                && waits_for(it).or_else(|| self.computes(it)).is_none()
        };
        let awaited: Vec<CoreId> =
            self.kernels.values().filter(may).map(|it| it.core.id).take(MOST_AWAITED + 1).collect();
        if awaited.len() > MOST_AWAITED {
            return;
        }
        for on in awaited {
            let (waiter, on) = (Party::Core(kernel.core.id), Party::Core(on));
            self.add(waiter, on, WaitReason::Increment, kernel.mark());
        }
    }
}

/// Whether a kernel waits for a semaphore, which may be anybody's to increment.
pub(crate) fn waits_for_semaphore(kernel: &Kernel<'_>) -> bool {
    WAITS_FOR_SEMAPHORE.contains(&kernel.waypoint()) || spun_semaphore(kernel).is_some()
}

/// Returns the range of the semaphores of a kernel that waits for one, or may: of one without
/// waypoints samples say that afterwards.
pub(super) fn span(kernel: &Kernel<'_>) -> Option<Span> {
    let may_wait = waits_for_semaphore(kernel) || kernel.has_no_words();
    span_of(kernel).filter(|_| may_wait)
}

/// Returns the range of the semaphores of a kernel's program.
fn span_of(kernel: &Kernel<'_>) -> Option<Span> {
    let launch = kernel.core.launch.known()?;
    let first = launch.semaphores?;
    // The configuration of circular buffers follows.
    let followed = launch.circular_buffers.and_then(|it| it.config.checked_sub(first));
    let count = followed.map_or(MOST, |bytes| (bytes / SEMAPHORE_BYTES).min(MOST));
    let id = kernel.core.id;
    let addr = NocAddr { chip: id.chip, tile: id.tile, offset: first };
    (count > 0).then_some(Span { addr, len: (count * SEMAPHORE_BYTES) as u32 })
}

/// Returns the address and the value of each semaphore of a kernel that waits for one, or may, as far
/// as they were read.
pub(crate) fn semaphore_values(look: Look<'_>, kernel: &Kernel<'_>) -> Vec<(u64, u32)> {
    let Some(Span { addr, len }) = span(kernel) else { return Vec::new() };
    let all = (0..u64::from(len)).step_by(SEMAPHORE_BYTES as usize).map(|at| addr.offset + at);
    let mut values: Vec<_> =
        all.filter_map(|at| Some((at, look.word(kernel.place(), at)?))).collect();
    // Of a range of the most there can be, the program may use fewer.
    if values.len() as u64 == MOST {
        let used = values.iter().rposition(|(_, value)| *value != 0).map_or(1, |last| last + 1);
        values.truncate(used);
    }
    values
}

/// Returns the semaphore on which a kernel spins: its number, and the comparison that ends the wait.
pub(crate) fn spun_semaphore<'a>(kernel: &Kernel<'a>) -> Option<(u64, &'a End)> {
    let ends = &kernel.spin()?.ends;
    let Span { addr, len } = span_of(kernel)?;
    ends.iter().find_map(|end| {
        let at = u64::from(end.at).checked_sub(addr.offset)?;
        let is_one = at < u64::from(len) && at % SEMAPHORE_BYTES == 0;
        is_one.then_some((at / SEMAPHORE_BYTES, end))
    })
}

/// Returns the wait for a semaphore in words: its value and the awaited one, as far as they are known.
pub(crate) fn semaphore_wait(look: Look<'_>, kernel: &Kernel<'_>) -> String {
    if let Some((number, end)) = spun_semaphore(kernel) {
        return format!("it waits for semaphore {number}: until {end}");
    }
    // A global one, or a word of its own.
    if let Some([end]) = kernel.spin().map(|spin| spin.ends.as_slice()) {
        return format!("it waits for a semaphore: until {end}");
    }
    let awaited = awaited(kernel).map(|awaited| {
        let least = if kernel.waypoint() == AT_LEAST { "at least " } else { "" };
        format!(" to be {least}{awaited}")
    });
    let values = semaphore_values(look, kernel);
    // Of several, no word tells which one it is.
    let has = if let (Some(_), [(_, value)]) = (&awaited, values.as_slice()) {
        format!(", which is {value}")
    } else {
        String::new()
    };
    format!("it waits for a semaphore{}{has}", awaited.as_deref().unwrap_or(""))
}

/// Returns the value that a kernel awaits in a semaphore, if it is known.
pub(crate) fn awaited(kernel: &Kernel<'_>) -> Option<u64> {
    let spun = spun_semaphore(kernel).and_then(|(_, end)| {
        let (_, operand) = end.awaited?;
        Some(end.least.unwrap_or(operand.value).into())
    });
    spun.or_else(|| kernel.constant("val").filter(|_| waits_for_semaphore(kernel)))
}
