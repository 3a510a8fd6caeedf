//! Circular buffers and semaphores of the programs of a snapshot, with the kernels that wait for them.

use crate::kernels::{self, Occupancy};
use crate::look::{Kernel, Look};
use decode::state::WaitReason;
use layouts::CoreId;
use machine::place::Place;
use machine::target::Mesh;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A circular buffer of a compute tile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CircularBuffer {
    /// The tile.
    pub tile: Place,
    /// Its number.
    pub number: u64,
    /// Pages that were received, modulo 2^16.
    pub received: u16,
    /// Pages that were acknowledged, modulo 2^16.
    pub acknowledged: u16,
    /// Pages that it holds.
    pub held: u16,
    /// Pages that it has room for.
    pub pages: u32,
    /// The kernels that wait for it; of one whose buffer is not known, all of its tile that can be it.
    pub waiting: Vec<BufferWait>,
}

/// A kernel that waits for a circular buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BufferWait {
    /// Its core.
    pub core: CoreId,
    /// Whether it waits for room; otherwise for pages.
    pub for_room: bool,
    /// Whether it is known to wait for this buffer.
    pub certain: bool,
    /// For how many pages; null if that is not known.
    pub awaited: Option<u64>,
}

/// A semaphore of a program whose kernels wait for one, or do not tell what they wait for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Semaphore {
    /// The tile.
    pub tile: Place,
    /// Its address in the tile's L1.
    pub addr: u64,
    /// Its value.
    pub value: u32,
    /// The kernels of the tile that wait for a semaphore of their program: for this one, if it has no other.
    pub waiting: Vec<SemaphoreWait>,
}

/// A kernel that waits for a semaphore.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SemaphoreWait {
    /// Its core.
    pub core: CoreId,
    /// Whether its program has only this one.
    pub certain: bool,
    /// The value that it awaits; null if it is not known.
    pub awaited: Option<u64>,
}

impl BufferWait {
    /// The wait in words; a question mark if it may be for another buffer.
    pub fn words(&self) -> String {
        let what = if self.for_room { "room" } else { "pages" };
        let count = self.awaited.map_or_else(String::new, |count| format!("{count} "));
        let of = if self.for_room && !count.is_empty() { "pages of " } else { "" };
        let doubt = if self.certain { "" } else { "?" };
        format!("{} for {count}{of}{what}{doubt}", self.core.core.name())
    }
}

impl SemaphoreWait {
    /// The wait in words; a question mark if it may be for another semaphore.
    pub fn words(&self) -> String {
        let awaited = self.awaited.map_or_else(String::new, |value| format!(" for {value}"));
        let doubt = if self.certain { "" } else { "?" };
        format!("{}{awaited}{doubt}", self.core.core.name())
    }
}

/// Returns the circular buffers of the running kernels, by tile and number.
pub(crate) fn circular_buffers(mesh: &Mesh, look: Look<'_>) -> Vec<CircularBuffer> {
    let mut found: BTreeMap<(Place, u64), CircularBuffer> = BTreeMap::new();
    for kernel in look.kernels().values() {
        let place = kernel.place();
        for buffer in kernels::occupancies(mesh.layout(), look, kernel) {
            let Occupancy { number, received, acknowledged, pages } = buffer;
            let one = found.entry((place, number)).or_insert_with(|| CircularBuffer {
                tile: place,
                number,
                received,
                acknowledged,
                held: buffer.held(),
                pages,
                waiting: Vec::new(),
            });
            one.waiting.extend(wait(kernel, buffer));
        }
    }
    found.into_values().collect()
}

/// Returns the wait of a kernel for a circular buffer of its tile, if it may wait for this one: for pages of
/// one that is not full, or for room in one that is not empty.
fn wait(kernel: &Kernel<'_>, buffer: Occupancy) -> Option<BufferWait> {
    let for_room = kernels::waits_for(kernel)? == WaitReason::Room;
    let known = kernel.constant("operand");
    let held = u32::from(buffer.held());
    let can_be = if for_room { held > 0 } else { held < buffer.pages };
    known.map_or(can_be, |number| number == buffer.number).then(|| BufferWait {
        core: kernel.core.id,
        for_room,
        certain: known.is_some(),
        awaited: kernel.constant("num_pages"),
    })
}

/// Returns the semaphores of the programs whose kernels wait for one, or may, by tile and address.
pub(crate) fn program_semaphores(look: Look<'_>) -> Vec<Semaphore> {
    let mut found: BTreeMap<(Place, u64), Semaphore> = BTreeMap::new();
    for kernel in look.kernels().values() {
        let values = kernels::semaphore_values(look, kernel);
        // Of several, only instructions tell which one it is.
        let spun = kernels::spun_semaphore(kernel).map(|(_, end)| u64::from(end.at));
        let wait = kernels::waits_for_semaphore(kernel).then(|| SemaphoreWait {
            core: kernel.core.id,
            certain: values.len() == 1 || spun.is_some(),
            awaited: kernels::awaited(kernel),
        });
        for (addr, value) in values {
            let wait = wait.clone().filter(|_| spun.is_none_or(|spun| spun == addr));
            let tile = kernel.place();
            let none = || Semaphore { tile, addr, value, waiting: Vec::new() };
            found.entry((tile, addr)).or_insert_with(none).waiting.extend(wait);
        }
    }
    found.into_values().collect()
}
