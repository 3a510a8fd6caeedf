//! What a client without the right to write may do: point windows, read, and ask base firmware to read.

use crate::shared_bar::SharedBar;
use layouts::TileKind;
use machine::bar::{Bar, BarOp};

/// May these operations be carried out for a client that only looks?
pub(super) fn may(bar: &SharedBar, ops: &[BarOp]) -> bool {
    // Windows that the batch itself points count from there on, so that they are followed.
    let mut aimed = Aim { bar, pointed: Vec::new() };
    ops.iter().all(|op| match op {
        BarOp::Write { device, bar, offset, bytes } => {
            *bar == 0 && aimed.asks(*device, *offset, bytes)
        }
        BarOp::Point { .. } => {
            aimed.pointed.push(op);
            true
        }
        BarOp::ConfigRead { .. } | BarOp::Read { .. } | BarOp::Pass { .. } | BarOp::Now => true,
    })
}

/// Where the client's windows lead in the course of a batch.
struct Aim<'a> {
    bar: &'a SharedBar,
    pointed: Vec<&'a BarOp>,
}

impl Aim<'_> {
    /// Is it a read request to base firmware, or an index of its queues (wormhole.md 6.2, wormhole.md 6.3)?
    fn asks(&self, device: u8, offset: u64, bytes: &[u8]) -> bool {
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
