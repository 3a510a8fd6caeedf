//! Operations allowed without the right to write: pointing windows, reading, and read requests to
//! base firmware.

use crate::shared_bar::SharedBar;
use layouts::TileKind;
use machine::bar::{Bar, BarOp};

/// Whether a client that only reads may have these operations carried out.
pub(super) fn is_allowed(bar: &SharedBar, ops: &[BarOp]) -> bool {
    // Windows that the batch points itself are followed, too.
    let mut aim = Aim { bar, pointed: Vec::new() };
    ops.iter().all(|op| match op {
        BarOp::Write { device, bar, offset, bytes } => {
            *bar == 0 && aim.is_read_request(*device, *offset, bytes)
        }
        BarOp::Point { .. } => {
            aim.pointed.push(op);
            true
        }
        BarOp::ConfigRead { .. } | BarOp::Read { .. } | BarOp::Pass { .. } | BarOp::Now => true,
    })
}

/// The targets of the client's windows in the course of a batch.
struct Aim<'a> {
    bar: &'a SharedBar,
    pointed: Vec<&'a BarOp>,
}

impl Aim<'_> {
    /// Whether the write is a read request to base firmware, or an index of its queues
    /// (wormhole.md 6.2, wormhole.md 6.3).
    fn is_read_request(&self, device: u8, offset: u64, bytes: &[u8]) -> bool {
        let Some((tile, at)) = self.bar.aim_after(&self.pointed, device, offset) else {
            return false;
        };
        let layout = self.bar.chip().layout();
        let eth = &layout.eth;
        let is_eth = layout.tile_at(tile).is_some_and(|tile| tile.kind == TileKind::Eth);
        let queues = eth.l1.queues.at..eth.l1.queues.end();
        if !is_eth || !queues.contains(&at) || !queues.contains(&(at + bytes.len() as u64 - 1)) {
            return false;
        }
        let entry = &eth.entry;
        match bytes.len() as u64 {
            4 => true,
            len if len == entry.bytes => {
                let flags = entry.flags.at as usize;
                let flags = bytes.get(flags..).and_then(<[u8]>::first_chunk);
                let flags = flags.map_or(0, |word| u32::from_le_bytes(*word));
                flags & eth.routing.read_request != 0 && flags & eth.routing.write_request == 0
            }
            _ => false,
        }
    }
}
