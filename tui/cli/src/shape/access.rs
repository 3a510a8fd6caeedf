//! The JSON of `read`, `write` and `--dry-run`.

use super::{Missed, Missing, missed, xy};
use console::words;
use layouts::NocAddr;
use machine::snapshot::AccessError;
use machine::target::{PlannedAccess, Preview};
use schemars::JsonSchema;
use serde::Serialize;

/// Memory of a tile.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Bytes {
    /// The chip's id.
    chip: u16,
    /// NOC 0 coordinates of the tile: x, y.
    tile: [u8; 2],
    /// The address of the first byte in the tile.
    addr: u64,
    /// The bytes in the order of memory, two hexadecimal digits each.
    bytes: String,
}

/// Memory of a tile before and after a write.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Written {
    /// The chip's id.
    chip: u16,
    /// NOC 0 coordinates of the tile: x, y.
    tile: [u8; 2],
    /// The address of the first byte in the tile.
    addr: u64,
    /// The bytes before the write, in the order of memory, two hexadecimal digits each; null if
    /// they were not read.
    old: Option<String>,
    /// The bytes that were written, likewise.
    new: String,
    /// Why `old` is null.
    missing: Missing,
}

/// What a verb with --dry-run would touch. Accesses that depend on the first answers are not
/// listed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DryRun<'a> {
    /// The target, as `--target` names it.
    target: &'a str,
    /// Bus transactions made to find the mesh.
    discovery_transactions: u64,
    /// Bus transactions of all accesses.
    transactions: u64,
    /// The accesses, in order.
    accesses: Vec<Planned>,
    /// Ranges that would be refused, with the reason.
    gaps: Vec<Missed>,
}

/// An access that would be made.
#[derive(Serialize, JsonSchema)]
struct Planned {
    /// The chip's id.
    chip: u16,
    /// NOC 0 coordinates of the tile: x, y.
    tile: [u8; 2],
    /// The first address in the tile.
    addr: u64,
    /// Its length in bytes.
    len: u32,
    /// window (a TLB window of a PCIe device) or queue (a routing queue of Ethernet base firmware).
    route: &'static str,
    /// Whether it writes.
    write: bool,
    /// Its bus transactions; through a queue a lower bound.
    transactions: u64,
}

impl Bytes {
    /// The shape of `read`.
    pub(crate) fn new(NocAddr { chip, tile, offset }: NocAddr, bytes: &[u8]) -> Self {
        Self { chip: chip.0, tile: xy(tile), addr: offset, bytes: words::hex(bytes) }
    }
}

impl Written {
    /// The shape of `write`.
    pub(crate) fn new(at: NocAddr, old: Result<String, &AccessError>, new: String) -> Self {
        let mut missing = Missing::new();
        if let Err(error) = old {
            missing.insert("old", error.into());
        }
        let NocAddr { chip, tile, offset } = at;
        Self { chip: chip.0, tile: xy(tile), addr: offset, old: old.ok(), new, missing }
    }
}

impl<'a> DryRun<'a> {
    /// The shape of any verb with `--dry-run`.
    pub(crate) fn new(target: &'a str, discovery: u64, preview: &Preview) -> Self {
        let planned = |visit: &PlannedAccess| {
            let NocAddr { chip, tile, offset } = visit.span.addr;
            Planned {
                chip: chip.0,
                tile: xy(tile),
                addr: offset,
                len: visit.span.len,
                route: words::route(visit.route),
                write: visit.write,
                transactions: visit.transactions,
            }
        };
        Self {
            target,
            discovery_transactions: discovery,
            transactions: preview.accesses.iter().map(|visit| visit.transactions).sum(),
            accesses: preview.accesses.iter().map(planned).collect(),
            gaps: missed(&preview.gaps),
        }
    }
}
