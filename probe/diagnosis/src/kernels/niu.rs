//! Requests of a tile that its network interface has sent and that were not answered.

use crate::look::{Kernel, Look};
use decode::requests::{Interface, Open, Request};
use layouts::{ChipLayout, CoreKind, Space, TileKind};
use machine::snapshot::Span;
use machine::target::Mesh;
use std::fmt::Write as _;

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
    let (tells, place) = (may_wait(kernel), kernel.place());
    let all = blocks(layout, kernel).filter(move |_| tells);
    all.map(move |(noc, block)| Interface::new(layout, place, (noc, block)).answers)
}

/// Returns the network interfaces of a kernel that waits for them, or may.
fn interfaces(mesh: &Mesh, kernel: &Kernel<'_>) -> Vec<Interface> {
    if !may_wait(kernel) {
        return Vec::new();
    }
    let of = |block| Interface::new(mesh.layout(), kernel.place(), block);
    blocks(mesh.layout(), kernel).map(of).collect()
}

/// Returns the words that tell which requests of a kernel were not answered.
pub(crate) fn spans(mesh: &Mesh, kernel: &Kernel<'_>) -> Vec<Span> {
    let all = interfaces(mesh, kernel).into_iter();
    let all = all.flat_map(|it| [it.outstanding].into_iter().chain(it.commands));
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
    let mut found = Vec::new();
    for interface in interfaces(mesh, kernel) {
        for Open { id, count, to } in
            interface.open(mesh.layout(), look.snapshot, waits_for(kernel))?
        {
            let mut words = format!("{count} of transaction id {id} on NoC {}", interface.noc);
            if let Some((tile, address)) = to {
                let _ = write!(words, " (the last one to {tile}, address {address:#x})");
            }
            found.push(words);
        }
    }
    Some(found)
}
