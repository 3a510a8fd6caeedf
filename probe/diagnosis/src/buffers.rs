//! Circular buffers and semaphores of the programs of a snapshot, with the kernels that wait for them.

use crate::kernels::{self, Occupancy};
use crate::look::{Kernel, Look};
use decode::state::WaitReason;
use images::inspector::{GlobalSemaphore, LogicalRange, SocketEnd};
use layouts::{ChipId, CoreId, NocAddr};
use machine::place::Place;
use machine::snapshot::Span;
use machine::target::Mesh;
use machine::words::counted;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Most global semaphores of a tile that are read. Models have some hundred.
const MOST_GLOBAL: usize = 128;
/// Most receivers of a socket's sender.
const MOST_RECEIVERS: u64 = 64;

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

/// A semaphore of a program whose kernels wait for one, or do not tell what they wait for; or a global one on a
/// tile where a kernel runs, if one waits for it or it has another value than the host gave it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Semaphore {
    /// The tile.
    pub tile: Place,
    /// Its address in the tile's L1.
    pub addr: u64,
    /// Its value.
    pub value: u32,
    /// Whether it is a global one, of which Inspector tells.
    pub global: bool,
    /// The value that the host gave to a global one last; null if it gave none, or that is not known.
    pub reset: Option<u32>,
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
        let pages = self.awaited.map(|count| counted(count, "page", "pages"));
        let what = match (self.for_room, pages) {
            (true, Some(pages)) => format!("{pages} of room"),
            (true, None) => "room".to_owned(),
            (false, pages) => pages.unwrap_or_else(|| "pages".to_owned()),
        };
        let doubt = if self.certain { "" } else { "?" };
        format!("{} for {what}{doubt}", self.core.core.name())
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
            one.waiting.extend(wait(mesh, kernel, buffer));
        }
    }
    found.into_values().collect()
}

/// Returns the wait of a kernel for a circular buffer of its tile, if it may wait for this one: for pages of
/// one that is not full, or for room in one that is not empty.
fn wait(mesh: &Mesh, kernel: &Kernel<'_>, buffer: Occupancy) -> Option<BufferWait> {
    let for_room = kernels::waits_for(kernel)? == WaitReason::Room;
    let (known, awaited) = kernels::asked(mesh.layout(), kernel);
    let held = u32::from(buffer.held());
    let can_be = if for_room { held > 0 } else { held < buffer.pages };
    known.map_or(can_be, |number| number == buffer.number).then(|| BufferWait {
        core: kernel.core.id,
        for_room,
        certain: known.is_some(),
        awaited,
    })
}

/// An end of a socket, of which Inspector tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SocketState {
    /// The tile.
    pub tile: Place,
    /// The address of its configuration in the tile's L1.
    pub addr: u64,
    /// Whether it sends; otherwise it receives.
    pub sends: bool,
    /// Bytes that were sent to it, modulo 2^32; null at a sender, whose kernel counts them in its frame.
    pub sent: Option<u32>,
    /// Bytes that each receiver has acknowledged to it, modulo 2^32; empty at a receiver, whose kernel
    /// counts them in its frame.
    pub acknowledged: Vec<u32>,
    /// Bytes of the receiver's queue.
    pub fifo_bytes: u64,
    /// The other ends: the number of the chip by fabric, and the tile in logical coordinates.
    pub peers: Vec<[u32; 3]>,
}

impl Semaphore {
    /// The name in tables.
    pub fn words(&self) -> String {
        let kind = if self.global { "global " } else { "" };
        format!("{kind}{:#x}", self.addr)
    }

    /// The value in tables, with the one that the host gave to a global one.
    pub fn value_words(&self) -> String {
        let reset = self.reset.map_or_else(String::new, |reset| format!(" (set to {reset})"));
        format!("{}{reset}", self.value)
    }
}

impl SocketState {
    /// What it has counted, in words.
    pub fn words(&self) -> String {
        let acknowledged: Vec<String> = self.acknowledged.iter().map(u32::to_string).collect();
        let sent = self.sent.map(|sent| format!("{sent} bytes sent to it"));
        sent.unwrap_or_else(|| format!("{} bytes acknowledged", acknowledged.join(", ")))
    }
}

/// Returns the ends of sockets on the chips of the mesh.
pub(crate) fn sockets(mesh: &Mesh, look: Look<'_>) -> Vec<SocketState> {
    let state = |(tile, end): (Place, &SocketEnd)| {
        let word = |offset| look.word(tile, offset);
        Some(SocketState {
            tile,
            addr: end.config,
            sends: end.sends,
            sent: if end.sends { None } else { Some(word(end.config)?) },
            acknowledged: acknowledged(end).map(word).collect::<Option<_>>()?,
            fifo_bytes: end.fifo_bytes,
            peers: end.peers.clone(),
        })
    };
    socket_tiles(mesh, look).filter_map(state).collect()
}

/// Returns the offsets of the words that say what receivers have acknowledged.
fn acknowledged(end: &SocketEnd) -> impl Iterator<Item = u64> {
    let [first, stride] = end.acknowledged.map(u64::from);
    let receivers = if end.sends { end.peers.len() as u64 } else { 0 };
    let config = end.config;
    (0..receivers.min(MOST_RECEIVERS)).map(move |n| config.wrapping_add(first + n * stride))
}

fn socket_tiles<'a>(
    mesh: &'a Mesh,
    look: Look<'a>,
) -> impl Iterator<Item = (Place, &'a SocketEnd)> {
    look.state.objects.sockets.iter().filter_map(|end| {
        let chip = chip_of(mesh, end.chip)?;
        let [x, y] = end.core.map(u64::from);
        let tile = mesh.compute_tiles(chip).find(|it| mesh.logical(*it) == Some([x, y]))?;
        Some((tile, end))
    })
}

/// tt-metal numbers chips as the cluster descriptor does.
fn chip_of(mesh: &Mesh, number: u32) -> Option<ChipId> {
    let chip = ChipId(number.try_into().ok()?);
    mesh.chip(chip).map(|chip| chip.id)
}

/// Returns the global semaphores of the tiles on which a kernel of an operation runs.
fn global_semaphores<'a>(
    mesh: &'a Mesh,
    look: Look<'a>,
) -> impl Iterator<Item = (Place, &'a GlobalSemaphore)> {
    let semaphores = &look.state.objects.semaphores;
    // Most meshes have none: their tiles are not gone through in each snapshot.
    let kernels = if semaphores.is_empty() { BTreeMap::new() } else { look.kernels() };
    let kernels = kernels.into_values().filter(|it| !it.serves());
    let tiles: BTreeSet<Place> = kernels.map(|it| it.place()).collect();
    tiles.into_iter().flat_map(move |tile| {
        let at = mesh.logical(tile);
        let is_there = move |it: &&GlobalSemaphore| {
            let within = |range: &LogicalRange| {
                let axis = |n: usize| {
                    at.is_some_and(|at| (range.start[n]..=range.end[n]).contains(&at[n]))
                };
                axis(0) && axis(1)
            };
            it.chips.iter().any(|chip| chip_of(mesh, *chip) == Some(tile.chip))
                && it.cores.iter().any(within)
        };
        let all = semaphores.iter().filter(is_there).take(MOST_GLOBAL);
        all.map(move |semaphore| (tile, semaphore))
    })
}

/// Returns the words of what Inspector tells of.
pub(crate) fn spans(mesh: &Mesh, look: Look<'_>) -> Vec<Span> {
    let semaphores = global_semaphores(mesh, look).map(|(tile, it)| tile.at(it.addr));
    let sockets = socket_tiles(mesh, look).flat_map(|(tile, end)| {
        let sent = (!end.sends).then_some(end.config);
        sent.into_iter().chain(acknowledged(end)).map(move |offset| tile.at(offset))
    });
    let in_l1 = |addr: &NocAddr| {
        addr.offset.is_multiple_of(4) && addr.offset < mesh.layout().tensix.l1_bytes
    };
    semaphores.chain(sockets).filter(in_l1).map(|addr| Span { addr, len: 4 }).collect()
}

/// Returns the semaphores of the programs whose kernels wait for one, or may, by tile and address.
pub(crate) fn semaphores(mesh: &Mesh, look: Look<'_>) -> Vec<Semaphore> {
    let kernels = look.kernels();
    let mut found: BTreeMap<(Place, u64), Semaphore> = BTreeMap::new();
    for kernel in kernels.values() {
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
            let (global, reset) = (false, None);
            let none = || Semaphore { tile, addr, value, global, reset, waiting: Vec::new() };
            found.entry((tile, addr)).or_insert_with(none).waiting.extend(wait);
        }
    }
    for (tile, GlobalSemaphore { addr, reset, .. }) in global_semaphores(mesh, look) {
        let Some(value) = look.word(tile, *addr) else { continue };
        let own = kernels.values().filter(|kernel| kernel.place() == tile);
        let waits = |kernel: &Kernel<'_>| {
            let mut ends = kernel.spin()?.ends.iter().filter(|end| end.name.is_none());
            let end = ends.find(|end| u64::from(end.at) == *addr)?;
            let awaited = end.awaited.as_ref().map(|(_, awaited)| awaited.value.into());
            Some(SemaphoreWait { core: kernel.core.id, certain: true, awaited })
        };
        let waiting: Vec<SemaphoreWait> = own.filter_map(waits).collect();
        if !waiting.is_empty() || *reset != Some(value) {
            let (addr, global, reset) = (*addr, true, *reset);
            found.insert((tile, addr), Semaphore { tile, addr, value, global, reset, waiting });
        }
    }
    found.into_values().collect()
}
