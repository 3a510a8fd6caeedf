//! Requests of a tile that its network interface has sent and that were not answered.

use crate::look::{Kernel, Look};
use layouts::{Space, TileKind};
use machine::snapshot::Span;
use machine::target::Mesh;

/// The waypoints of tt-metal's waits for the NoC: reads, writes, writes that leave, atomics
/// (tt-metal.md 1.3).
const WAITS: [&str; 5] = ["NRBW", "NWBW", "NWFW", "NABW", "NARW"];
/// Transaction ids of a network interface.
const IDS: u32 = 16;

/// Returns the counters of requests outstanding, by NoC and transaction id, of a kernel that waits
/// for the NoC.
pub(crate) fn spans(mesh: &Mesh, kernel: &Kernel<'_>) -> Vec<Span> {
    if !WAITS.contains(&kernel.waypoint()) {
        return Vec::new();
    }
    let layout = mesh.layout();
    let kind = if kernel.end.is_some() { TileKind::Eth } else { TileKind::Tensix };
    let blocks = ["niu0", "niu1"].iter().filter_map(|name| layout.block(Space::Tile(kind), name));
    let at = layout.niu.counter.at + layout.niu_counters.outstanding.at;
    let span = |block| Span { addr: kernel.place().at(block + at), len: 4 * IDS };
    blocks.map(span).collect()
}

/// Returns the requests that a kernel waits for, in words; none if all were answered or their
/// counters were not read.
pub(crate) fn outstanding(mesh: &Mesh, look: Look<'_>, kernel: &Kernel<'_>) -> Option<String> {
    let mut found = Vec::new();
    for (noc, span) in spans(mesh, kernel).into_iter().enumerate() {
        let bytes = look.snapshot.bytes(span.addr, span.len).ok()?;
        let open = bytes.chunks(4).enumerate().filter(|(_, word)| word.first() != Some(&0));
        found.extend(open.map(|(id, word)| {
            let count = word.first().map_or(0, |count| *count);
            format!("{count} of transaction id {id} on NoC {noc}")
        }));
    }
    (!found.is_empty()).then(|| format!("requests are not answered: {}", found.join(", ")))
}
