//! Requests of a tile that its network interface has sent and that were not answered.

use crate::look::{Kernel, Look};
use layouts::{ChipLayout, CoreKind, NocXy, Space, TileKind};
use machine::snapshot::Span;
use machine::target::Mesh;
use std::fmt::Write as _;

/// What a kernel waits for the NoC to answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Request {
    Read,
    Write,
    Atomic,
}

/// The waypoints of tt-metal's waits for the NoC (tt-metal.md 1.3).
const WAITS: [(&str, Request); 8] = [
    ("NRBW", Request::Read),
    ("NWBW", Request::Write),
    ("NWFW", Request::Write),
    ("NABW", Request::Atomic),
    ("NARW", Request::Atomic),
    ("NBTW", Request::Read),
    ("NWTW", Request::Write),
    ("NFTW", Request::Write),
];
/// Transaction ids of a network interface.
const IDS: u32 = 16;
/// Bits of a command buffer's control word (wormhole.md 3.3).
const IS_ATOMIC: u32 = 1;
const IS_WRITE: u32 = 1 << 1;
const IS_MULTICAST: u32 = 1 << 5;

fn waits_for(kernel: &Kernel<'_>) -> Option<Request> {
    WAITS.iter().find(|(code, _)| *code == kernel.waypoint()).map(|(_, request)| *request)
}

/// Whether a kernel waits for the NoC, or its words do not tell.
fn may_wait(kernel: &Kernel<'_>) -> bool {
    kernel.core.lacks_waypoints() || waits_for(kernel).is_some()
}

/// Returns the places of the network interfaces that a kernel uses, as far as its launch message tells,
/// with the numbers of their NoCs.
fn blocks(layout: &ChipLayout, kernel: &Kernel<'_>) -> impl Iterator<Item = (usize, u64)> {
    let kind = if kernel.end.is_some() { TileKind::Eth } else { TileKind::Tensix };
    let of_brisc = kernel.core.launch.known().and_then(|launch| launch.noc).map(usize::from);
    let core = kernel.core.id.core;
    let uses = move |noc: usize| match core {
        CoreKind::Brisc => of_brisc.is_none_or(|own| own == noc),
        CoreKind::Ncrisc => of_brisc.is_none_or(|other| other != noc),
        CoreKind::Erisc => true,
        // The compute processors reach no NoC.
        _ => false,
    };
    let names = ["niu0", "niu1"].iter().enumerate();
    names.filter_map(move |(noc, name)| {
        let block = layout.block(Space::Tile(kind), name).filter(|_| uses(noc))?;
        Some((noc, block))
    })
}

/// Returns the counts of answers and of words sent of the network interfaces that a kernel uses, as far
/// as they were read.
pub(crate) fn answers(mesh: &Mesh, look: Look<'_>, kernel: &Kernel<'_>) -> Vec<u8> {
    let spans = spans_of_answers(mesh.layout(), kernel);
    let bytes = spans.filter_map(|span| look.snapshot.bytes(span.addr, span.len).ok());
    bytes.flatten().copied().collect()
}

fn spans_of_answers(layout: &ChipLayout, kernel: &Kernel<'_>) -> impl Iterator<Item = Span> {
    let tells = may_wait(kernel);
    let (place, counters) = (kernel.place(), &layout.niu_counters);
    let len = counters.outstanding.at as u32;
    let at = move |(_, block)| Span { addr: place.at(block + layout.niu.counter.at), len };
    blocks(layout, kernel).filter(move |_| tells).map(at)
}

/// Returns the counters of requests outstanding by transaction id, and the command buffers, of each
/// NoC of a kernel that waits for it, or may.
fn interfaces(mesh: &Mesh, kernel: &Kernel<'_>) -> Vec<(usize, Span, Vec<Span>)> {
    if !may_wait(kernel) {
        return Vec::new();
    }
    let layout = mesh.layout();
    let outstanding = layout.niu.counter.at + layout.niu_counters.outstanding.at;
    let buffers = &layout.niu.command_buffer;
    let span = |at, len| Span { addr: kernel.place().at(at), len };
    let interface = |(noc, block)| {
        let buffer = |number| {
            // Up to the control word: the rest does not say where a request went.
            span(block + buffers.nth(number), (layout.niu_command.ctrl.at + 4) as u32)
        };
        let commands = (0..buffers.count).map(buffer).collect();
        (noc, span(block + outstanding, 4 * IDS), commands)
    };
    blocks(layout, kernel).map(interface).collect()
}

/// Returns the words that tell which requests of a kernel were not answered.
pub(crate) fn spans(mesh: &Mesh, kernel: &Kernel<'_>) -> Vec<Span> {
    let all = interfaces(mesh, kernel).into_iter();
    let all = all.flat_map(|(_, counters, commands)| [counters].into_iter().chain(commands));
    all.chain(spans_of_answers(mesh.layout(), kernel)).collect()
}

/// Returns the requests that a kernel waits for, in words; none if all were answered or their
/// counters were not read.
pub(crate) fn outstanding(mesh: &Mesh, look: Look<'_>, kernel: &Kernel<'_>) -> Option<String> {
    let open = open(mesh, look, kernel).filter(|open| !open.is_empty())?;
    Some(format!("requests are not answered: {}", open.join(", ")))
}

/// Whether a kernel waits for answers though its network interface has no request outstanding.
pub(crate) fn waits_for_nothing(mesh: &Mesh, look: Look<'_>, kernel: &Kernel<'_>) -> bool {
    waits_for(kernel).is_some() && open(mesh, look, kernel).is_some_and(|open| open.is_empty())
}

/// Returns the requests of a kernel that were not answered, in words; none if the counters were not
/// read.
fn open(mesh: &Mesh, look: Look<'_>, kernel: &Kernel<'_>) -> Option<Vec<String>> {
    let request = waits_for(kernel);
    let layout = mesh.layout();
    let mut found = Vec::new();
    for (noc, counters, commands) in interfaces(mesh, kernel) {
        let bytes = look.snapshot.bytes(counters.addr, counters.len).ok()?;
        let open = bytes.chunks(4).enumerate().filter(|(_, word)| word.first() != Some(&0));
        for (id, word) in open {
            let count = word.first().map_or(0, |count| *count);
            let mut words = format!("{count} of transaction id {id} on NoC {noc}");
            // Two buffers with requests of one kind and id do not tell which came last.
            let ends = commands.iter().filter_map(|command| {
                let bytes = look.snapshot.bytes(command.addr, command.len).ok()?;
                endpoint(layout, bytes, (noc, id as u32), request)
            });
            if let [(tile, address)] = ends.collect::<Vec<_>>().as_slice() {
                let _ = write!(words, " (the last one to {tile}, address {address:#x})");
            }
            found.push(words);
        }
    }
    Some(found)
}

/// Returns the tile and the address to which the last request of a command buffer went, if it is of
/// this kind and has this transaction id.
fn endpoint(
    layout: &ChipLayout,
    command: &[u8],
    (noc, id): (usize, u32),
    request: Option<Request>,
) -> Option<(NocXy, u64)> {
    let registers = &layout.niu_command;
    let word = |at: u64| {
        let bytes = command.get(at as usize..at as usize + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let control = word(registers.ctrl.at)?;
    let made = match (control & IS_ATOMIC != 0, control & IS_WRITE != 0) {
        (true, _) => Request::Atomic,
        (false, true) => Request::Write,
        (false, false) => Request::Read,
    };
    let own_id = word(registers.packet_tag.at)? >> 10 & 0xF;
    if request.is_some_and(|request| made != request) || own_id != id || control & IS_MULTICAST != 0
    {
        return None;
    }
    let (low, mid) = if made == Request::Write {
        (word(registers.ret_lo.at)?, word(registers.ret_mid.at)?)
    } else {
        (word(registers.targ_lo.at)?, word(registers.targ_mid.at)?)
    };
    let (x, y) = ((mid >> 4 & 0x3F) as u8, (mid >> 10 & 0x3F) as u8);
    // NoC 1 counts from the opposite corner.
    let (x, y) = if noc == 0 { (x, y) } else { (9u8.checked_sub(x)?, 11u8.checked_sub(y)?) };
    let tile = NocXy { x, y };
    layout.tile_at(tile)?;
    Some((tile, u64::from(mid & 0xF) << 32 | u64::from(low)))
}
