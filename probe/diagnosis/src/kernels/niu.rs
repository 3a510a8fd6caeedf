//! Requests of a tile that its network interface has sent and that were not answered.

use crate::look::{Kernel, Look};
use decode::requests::{Interface, Open, Repeated, Request};
use layouts::{ChipLayout, CoreKind, NocXy, TileKind};
use machine::snapshot::{Snapshot, Span};
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
/// Those of a full barrier, which waits for all.
const WAITS_FOR_ALL: [&str; 4] = ["NFBW", "NFCW", "NFDW", "NFEW"];
/// Addresses of a tile's registers begin behind this one (wormhole.md 3.1).
const FIRST_REGISTER: u64 = 0xff00_0000;

fn waits_for(kernel: &Kernel<'_>) -> Option<Request> {
    WAITS.iter().find(|(code, _)| *code == kernel.waypoint()).map(|(_, request)| *request)
}

fn waits(kernel: &Kernel<'_>) -> bool {
    waits_for(kernel).is_some() || WAITS_FOR_ALL.contains(&kernel.waypoint())
}

/// Whether a kernel waits for the NoC, or its words do not tell.
fn may_wait(kernel: &Kernel<'_>) -> bool {
    kernel.has_no_words() || waits(kernel)
}

/// Returns the network interfaces that a kernel uses, as far as its launch message tells.
fn used(layout: &ChipLayout, kernel: &Kernel<'_>) -> Vec<Interface> {
    let kind = if kernel.end.is_some() { TileKind::Eth } else { TileKind::Tensix };
    let of_brisc = kernel.core.launch.known().and_then(|launch| launch.noc).map(usize::from);
    let uses = |noc: usize| match kernel.core.id.core {
        CoreKind::Brisc => of_brisc.is_none_or(|own| own == noc),
        CoreKind::Ncrisc => of_brisc.is_none_or(|other| other != noc),
        CoreKind::Erisc => true,
        // The compute processors reach no NoC.
        _ => false,
    };
    let mut all = Interface::of_tile(layout, kernel.place(), kind);
    all.retain(|it| uses(it.noc));
    all
}

/// Returns those of a kernel that may wait for one.
fn awaited(layout: &ChipLayout, kernel: &Kernel<'_>) -> Vec<Interface> {
    if may_wait(kernel) { used(layout, kernel) } else { Vec::new() }
}

/// Returns the words that tell which request a kernel sends again and again.
pub(crate) fn repeats(mesh: &Mesh, kernel: &Kernel<'_>) -> Vec<Span> {
    let used = used(mesh.layout(), kernel);
    used.iter().flat_map(|interface| interface.repeats(mesh.layout())).collect()
}

/// Returns the NoC over which a kernel sent one request again and again between snapshots, and that one.
pub(crate) fn sends_again(
    mesh: &Mesh,
    snapshots: &[&Snapshot],
    kernel: &Kernel<'_>,
) -> Option<(usize, Repeated)> {
    let used = used(mesh.layout(), kernel);
    let chip = mesh.chip(kernel.core.id.chip);
    let rows = chip.and_then(|chip| chip.harvested_rows.as_deref()).unwrap_or(&[]);
    let repeated = |it: &Interface| Some((it.noc, it.repeated(mesh.layout(), rows, snapshots)?));
    let mut found = used.iter().filter_map(repeated);
    found.next().filter(|_| found.next().is_none())
}

/// Returns that a kernel sends the same request again and again, in words, if it sends no other and the
/// last snapshots have the words that tell it.
pub(crate) fn repeated(mesh: &Mesh, looks: &[Look<'_>], kernel: &Kernel<'_>) -> Option<String> {
    let spans = repeats(mesh, kernel);
    let has_all =
        |look: &&Look<'_>| spans.iter().all(|it| look.snapshot.bytes(it.addr, it.len).is_ok());
    let snapshots: Vec<_> = looks.iter().filter(has_all).map(|look| look.snapshot).collect();
    if snapshots.len() < 2 {
        return None;
    }
    let (noc, Repeated { count, to }) = sends_again(mesh, &snapshots, kernel)?;
    let to = to.map(|(tile, address)| format!(" to {tile}, address {address:#x}"));
    Some(format!(
        "sends the same request again and again over NoC {noc}{}: {count} times, and nothing else of it moves",
        to.as_deref().map_or("", |to| to)
    ))
}

/// Returns the counts of requests and answers of the network interfaces that a kernel uses, as far as they
/// were read.
pub(crate) fn answers(mesh: &Mesh, look: Look<'_>, kernel: &Kernel<'_>) -> Vec<u8> {
    let spans = awaited(mesh.layout(), kernel).into_iter().flat_map(|it| it.counts);
    let bytes = spans.filter_map(|span| look.snapshot.bytes(span.addr, span.len).ok());
    bytes.flatten().copied().collect()
}

/// Returns the words that tell which requests of a kernel were not answered.
pub(crate) fn spans(mesh: &Mesh, look: Look<'_>, kernel: &Kernel<'_>) -> Vec<Span> {
    let all = awaited(mesh.layout(), kernel).into_iter();
    all.flat_map(|interface| interface.spans(mesh.layout(), look.snapshot, !kernel.serves()))
        .collect()
}

/// Returns the requests that a kernel waits for, in words; none if all were answered or their
/// counters were not read.
pub(crate) fn outstanding(mesh: &Mesh, look: Look<'_>, kernel: &Kernel<'_>) -> Option<String> {
    let open = open(mesh, look, kernel).filter(|open| !open.is_empty())?;
    Some(format!("requests are not answered: {}", open.join(", ")))
}

/// Whether a kernel waits for answers though its network interface has no request outstanding.
pub(crate) fn waits_for_nothing(mesh: &Mesh, look: Look<'_>, kernel: &Kernel<'_>) -> bool {
    waits(kernel) && open(mesh, look, kernel).is_some_and(|open| open.is_empty())
}

/// Returns the requests of a kernel that were not answered, in words; none if the counters were not
/// read.
fn open(mesh: &Mesh, look: Look<'_>, kernel: &Kernel<'_>) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for interface in awaited(mesh.layout(), kernel) {
        for Open { id, count, to } in
            interface.open(mesh.layout(), look.snapshot, waits_for(kernel))?
        {
            let mut words = format!("{count} of transaction id {id} on NoC {}", interface.noc);
            if let Some((tile, address)) = to {
                let what = not_there(mesh, kernel, tile);
                let end = mesh.layout().l1_bytes(mesh.layout().kind_at(tile));
                let past = end.filter(|end| (*end..FIRST_REGISTER).contains(&address));
                let past = past.map_or(String::new(), |end| format!(", and L1 ends at {end:#x}"));
                let _ =
                    write!(words, " (the last one to {tile}{what}, address {address:#x}{past})");
            }
            found.push(words);
        }
    }
    Some(found)
}

/// Returns a clause if no request to a tile can be answered, since it is not there.
fn not_there(mesh: &Mesh, kernel: &Kernel<'_>, tile: NocXy) -> &'static str {
    let chip = mesh.chips.iter().find(|chip| chip.id == kernel.core.id.chip);
    match mesh.layout().kind_at(tile) {
        TileKind::Tensix if chip.and_then(|it| it.is_fused_off(tile.y)) == Some(true) => {
            ", which is fused off"
        }
        TileKind::Router => ", where no tile is",
        _ => "",
    }
}
