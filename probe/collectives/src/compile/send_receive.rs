//! Send and receive: a socket from the first rank to the last. The sender sends as long as there is room in the far fifo; what
//! the receiver took comes back as credits over channels of the other direction. Chips between them pass both on.

use super::build::Build;
use super::channels;
use super::link_shares::{Draft, LinkShare, Move, Sum};
use crate::error::CclError;
use crate::program::Tensor;
use crate::program::flags::{CREDIT, FROM_CHANNEL, TO_CHANNEL};
use crate::tensor::{INPUT, OUTPUT};

/// Bytes of a message that gives one packet's room back.
const CREDIT_BYTES: u32 = 32;

pub(super) fn workers(build: &mut Build<'_>, share: &LinkShare) -> Result<(), CclError> {
    let last = build.size() - 1;
    let mut there = Vec::new();
    for rank in 0..=last {
        let role = if rank == 0 {
            "socket's sender"
        } else if rank == last {
            "socket's receiver"
        } else {
            "relay"
        };
        there.push(Some(build.draft(rank, share, role)?));
    }
    build.join(share, true, &mut there);
    // Sender and receiver are ends of both ways.
    let (mut back, mut sender) = (Vec::new(), there.first_mut().and_then(Option::take));
    let mut receiver = there.pop().flatten();
    for rank in 0..=last {
        back.push(match rank {
            0 => sender.take(),
            rank if rank == last => receiver.take(),
            rank => Some(build.draft(rank, share, "relay of credits")?),
        });
    }
    build.join(share, false, &mut back);
    let fifo_bytes = fifo_bytes(build);
    let first = build.workers.len();
    if let Some(mut sender) = back.first_mut().and_then(Option::take) {
        sender.moves.push(Move { flags: TO_CHANNEL | CREDIT, from: Some((INPUT, 0)), to: None });
        build.add(share, sender)?;
    }
    if let Some(mut receiver) = back.pop().flatten() {
        receiver.moves.push(Move {
            flags: FROM_CHANNEL | CREDIT,
            from: None,
            to: Some((OUTPUT, 0)),
        });
        build.add(share, receiver)?;
    }
    for worker in build.workers.iter_mut().skip(first) {
        worker.fifo_bytes = fifo_bytes;
    }
    relays(build, share, there)?;
    let credits = build.workers.get(first).map_or(0, channels::packets);
    let first = build.workers.len();
    relays(build, share, back)?;
    for worker in build.workers.iter_mut().skip(first) {
        (worker.pages, worker.slice_pages, worker.packet_pages) = (credits, credits, 1);
        worker.last_page_bytes = CREDIT_BYTES;
        let banks = worker.banks.len() as u32;
        let (first_bank, pages_per_shard, page_bytes, offset) = (0, 1, CREDIT_BYTES, 0);
        worker.tensors = vec![Tensor { first_bank, banks, pages_per_shard, page_bytes, offset }];
    }
    Ok(())
}

/// The last rank has the first one's data.
pub(super) fn result() -> Sum {
    vec![vec![(0, 0)]]
}

/// Room for what both ends of a channel have buffers for.
fn fifo_bytes(build: &Build<'_>) -> u32 {
    let (request, page_bytes) = (build.request, build.shape.block.page_bytes);
    let packet = crate::slicer::packet_pages(request, page_bytes) * page_bytes;
    packet.saturating_mul(2).saturating_mul(request.buffers_per_channel)
}

fn relays(
    build: &mut Build<'_>,
    share: &LinkShare,
    drafts: Vec<Option<Draft>>,
) -> Result<(), CclError> {
    for mut draft in drafts.into_iter().flatten() {
        draft.moves.push(Move { flags: FROM_CHANNEL | TO_CHANNEL, ..Move::default() });
        build.add(share, draft)?;
    }
    Ok(())
}
