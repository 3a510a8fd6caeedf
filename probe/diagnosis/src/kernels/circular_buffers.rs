//! The circular buffers of tt-metal's programs: their counters, and kernels that wait for pages or
//! room.
//!
//! A circular buffer counts in a stream of its number on its tile: pages received and pages
//! acknowledged, 16 bits each. No word names the processors at its ends, so that a waiting kernel
//! waits for any other of its tile.

use super::Search;
use crate::function::{WAITS_FOR_PAGES, WAITS_FOR_ROOM};
use crate::look::{Kernel, Look};
use decode::state::{CircularBuffers, CoreState, Party, WaitReason};
use layouts::{ChipLayout, CoreId, CoreKind};
use machine::place::Place;
use machine::snapshot::Span;
use machine::words::counted;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Waypoints after a kernel has returned: of its start-up code, and of firmware that waits for its
/// siblings or the next launch.
const RETURNED: [&str; 5] = ["KD", "NKFD", "D", "NTW", "W"];
/// Circular buffers of a compute tile of Wormhole.
const BUFFERS: u64 = 32;
/// Bytes of the configuration of one: start, size, pages, bytes of a page.
const CONFIG_BYTES: u64 = 16;

/// The state of a circular buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occupancy {
    pub(crate) number: u64,
    pub(crate) received: u16,
    pub(crate) acknowledged: u16,
    pub(crate) pages: u32,
}

impl Occupancy {
    /// Returns the pages that were received and not acknowledged.
    pub(crate) fn held(self) -> u16 {
        self.received.wrapping_sub(self.acknowledged)
    }
}

impl Search<'_> {
    /// Adds the waits of a kernel for its siblings.
    pub(super) fn circular_buffers(&mut self, layout: &ChipLayout, kernel: &Kernel<'_>) {
        let Some(reason) = waits_for(kernel).or_else(|| self.computes(kernel)) else { return };
        let own = kernel.core.id;
        let siblings: Vec<&Kernel<'_>> = self.siblings(kernel).collect();
        let running: Vec<CoreId> =
            siblings.iter().filter(|it| !has_returned(it)).map(|it| it.core.id).collect();
        // Of several that have returned nothing says which of them should have moved pages.
        let on = match siblings.as_slice() {
            [only] => vec![only.core.id],
            _ => running,
        };
        let mut hasher = DefaultHasher::new();
        (kernel.mark(), counters(layout, self.look, kernel.core)).hash(&mut hasher);
        let mark = hasher.finish();
        if on.is_empty() {
            let what = words(layout, kernel, reason);
            let others = if siblings.is_empty() {
                "no other processor of its tile was launched"
            } else {
                "all other processors of its tile have returned"
            };
            let words = format!("it waits for {what}, and {others}");
            self.note(Party::Core(own), words);
            self.turns(kernel, mark);
        }
        for sibling in on {
            self.add(Party::Core(own), Party::Core(sibling), reason, mark);
        }
    }

    fn siblings<'s>(&'s self, kernel: &Kernel<'_>) -> impl Iterator<Item = &'s Kernel<'s>> {
        let CoreId { chip, tile, core } = kernel.core.id;
        let near = self.kernels.range(CoreId { chip, tile, core: CoreKind::Brisc }..);
        let of_tile = near.take_while(move |(id, _)| (id.chip, id.tile) == (chip, tile));
        of_tile.filter(move |(id, _)| id.core != core).map(|(_, kernel)| kernel)
    }

    /// The compute processors say by no waypoint that they wait for pages or room: they may while
    /// another of their tile does.
    pub(super) fn computes(&self, kernel: &Kernel<'_>) -> Option<WaitReason> {
        let is_compute =
            matches!(kernel.core.id.core, CoreKind::Trisc0 | CoreKind::Trisc1 | CoreKind::Trisc2);
        let may_wait = is_compute && !has_returned(kernel);
        let waits = may_wait && self.siblings(kernel).any(|it| waits_for(it).is_some());
        waits.then_some(WaitReason::Pages)
    }
}

/// Returns what of a circular buffer a kernel waits for, by its waypoint.
pub(crate) fn waits_for(kernel: &Kernel<'_>) -> Option<WaitReason> {
    match kernel.waypoint() {
        WAITS_FOR_PAGES => Some(WaitReason::Pages),
        WAITS_FOR_ROOM => Some(WaitReason::Room),
        _ => None,
    }
}

/// Returns the number of the circular buffer for which a kernel waits, and for how many pages, as far as its
/// call or its loop tells.
pub(crate) fn asked(layout: &ChipLayout, kernel: &Kernel<'_>) -> (Option<u64>, Option<u64>) {
    let pages = ["num_pages", "num_tiles"].into_iter().find_map(|name| kernel.constant(name));
    let end = match kernel.spin().map(|spin| &*spin.ends) {
        Some([end]) => Some(end),
        _ => None,
    };
    let counted = |at: u32| {
        let at = u64::from(at).checked_sub(counter(layout, 0))?;
        let (number, at) = (at / layout.stream.bytes, at % layout.stream.bytes);
        (number < BUFFERS && at <= 4).then_some(number)
    };
    let spun = end.and_then(|end| Some((counted(end.at)?, end.least)));
    let least = spun.and_then(|(_, least)| least).map(u64::from);
    (kernel.constant("operand").or(spun.map(|(number, _)| number)), pages.or(least))
}

/// Returns that a kernel waits for more pages than its circular buffer has, in words.
pub(crate) fn asks_too_much(
    layout: &ChipLayout,
    look: Look<'_>,
    kernel: &Kernel<'_>,
) -> Option<String> {
    let what = buffer_wait(layout, kernel)?;
    let (Some(number), Some(asked)) = asked(layout, kernel) else { return None };
    let buffers = occupancies(layout, look, kernel);
    let pages = buffers.iter().find(|it| it.number == number)?.pages;
    (asked > pages.into()).then(|| format!("it waits for {what}, which has only {pages}"))
}

/// Returns what of a circular buffer a kernel waits for, in words.
pub(crate) fn buffer_wait(layout: &ChipLayout, kernel: &Kernel<'_>) -> Option<String> {
    Some(words(layout, kernel, waits_for(kernel)?))
}

/// Returns what a kernel waits for in words, as far as it is known.
fn words(layout: &ChipLayout, kernel: &Kernel<'_>, reason: WaitReason) -> String {
    let (number, pages) = asked(layout, kernel);
    let pages = pages.map(|count| counted(count, "page", "pages"));
    let what = match (reason, pages) {
        (WaitReason::Room, Some(pages)) => format!("room for {pages} in"),
        (WaitReason::Room, None) => "room in".to_owned(),
        (_, Some(pages)) => format!("{pages} of"),
        (_, None) => "pages of".to_owned(),
    };
    match number {
        Some(number) => format!("{what} circular buffer {number}"),
        None => format!("{what} a circular buffer"),
    }
}

/// Whether a kernel of a core of a compute tile has returned while others of the tile may run.
pub(crate) fn has_returned(kernel: &Kernel<'_>) -> bool {
    kernel.core.id.core != CoreKind::Erisc && RETURNED.contains(&kernel.waypoint())
}

fn described(core: &CoreState) -> Option<CircularBuffers> {
    core.launch.known()?.circular_buffers.filter(|buffers| buffers.mask != 0)
}

fn numbers(buffers: CircularBuffers) -> impl Iterator<Item = u64> {
    (0..BUFFERS).filter(move |number| buffers.mask >> number & 1 == 1)
}

/// Returns the words that tell the state of the circular buffers of a kernel.
pub(crate) fn spans(layout: &ChipLayout, kernel: &Kernel<'_>) -> Vec<Span> {
    let Some(buffers) = described(kernel.core) else { return Vec::new() };
    let place = kernel.place();
    let counters =
        numbers(buffers).map(|number| Span { addr: place.at(counter(layout, number)), len: 8 });
    let count = u64::from(u64::BITS - buffers.mask.leading_zeros()).min(BUFFERS);
    let config = Span { addr: place.at(buffers.config), len: (count * CONFIG_BYTES) as u32 };
    counters.chain([config]).collect()
}

/// Returns where a circular buffer counts: pages acknowledged, and behind them pages received.
fn counter(layout: &ChipLayout, number: u64) -> u64 {
    layout.blocks.tensix_stream + number * layout.stream.bytes + layout.stream.buffer_start.at
}

/// Returns the counters of the circular buffers of a core's tile that were read: number, pages
/// received, pages acknowledged.
pub(crate) fn counters(
    layout: &ChipLayout,
    look: Look<'_>,
    core: &CoreState,
) -> Vec<(u64, u16, u16)> {
    let place = Place { chip: core.id.chip, tile: core.id.tile };
    let Some(buffers) = described(core) else { return Vec::new() };
    let of = |number| {
        let at = counter(layout, number);
        let [acknowledged, received] =
            [at, at + 4].map(|at| look.word(place, at).map(|word| word as u16));
        Some((number, received?, acknowledged?))
    };
    numbers(buffers).filter_map(of).collect()
}

/// Returns the state of the circular buffers of a kernel's tile.
pub(crate) fn occupancies(
    layout: &ChipLayout,
    look: Look<'_>,
    kernel: &Kernel<'_>,
) -> Vec<Occupancy> {
    let Some(buffers) = described(kernel.core) else { return Vec::new() };
    let of = |(number, received, acknowledged)| {
        let pages = buffers.config + number * CONFIG_BYTES + 8;
        let pages = look.word(kernel.place(), pages)?;
        Some(Occupancy { number, received, acknowledged, pages })
    };
    counters(layout, look, kernel.core).into_iter().filter_map(of).collect()
}
