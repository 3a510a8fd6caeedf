//! Words of routing and transmit queues in, their state out.

use crate::common::{TAKEN, end, eth_xy, mesh};
use console::queues::{QueueKind, QueueState, queue_spans, queues};
use layouts::{ChipId, NocAddr};
use machine::snapshot::{Piece, Snapshot};

/// Returns the queues of chip 0 if all their words are 0 but these, each with its address in the tile of
/// channel 8.
fn with(words: &[(u64, u32)]) -> Vec<QueueState> {
    let state = mesh(1);
    let of = |addr: NocAddr| {
        let found = words.iter().find(|(offset, _)| *offset == addr.offset);
        let in_tile = addr.chip == ChipId(0) && addr.tile == eth_xy(8);
        found.filter(|_| in_tile).map_or(0, |(_, word)| *word)
    };
    let mut spans = queue_spans(&state, &Snapshot::default(), Some(ChipId(0)));
    spans.sort_by_key(|span| span.addr);
    let pieces = spans.into_iter().map(|span| {
        let at = |offset| NocAddr { offset: span.addr.offset + offset, ..span.addr };
        let words = (0..u64::from(span.len) / 4).map(|word| of(at(4 * word)));
        let bytes = words.flat_map(u32::to_le_bytes).collect();
        Piece { addr: span.addr, target_cycles: 1, host_micros: TAKEN, bytes }
    });
    queues(&state, &Snapshot { pieces: pieces.collect(), ..Snapshot::default() }, Some(ChipId(0)))
}

/// Returns the queue of this kind of channel 8.
fn one(queues: &[QueueState], kind: QueueKind) -> &QueueState {
    queues.iter().find(|queue| queue.at == end(0, 8) && queue.kind == kind).unwrap()
}

#[test]
fn a_routing_queue_has_its_depth_and_what_is_not_answered() {
    let state = mesh(1);
    let (eth, queue) = (&state.layout().eth, &state.layout().eth.queue);
    let request = eth.routing.base_of(0) + eth.queues.request.at;
    let words = [
        (request + queue.write_index.at, 1),
        (request + queue.read_index.at, 7),
        (request + queue.writes_requested.at, 10),
        (request + queue.writes_answered.at, 9),
        (request + queue.reads_requested.at, u32::MAX),
        (request + queue.reads_answered.at, u32::MAX),
        (request + queue.errors.at, 3),
    ];
    let found = with(&words);
    let requests = one(&found, QueueKind::Requests);
    assert_eq!((requests.depth_words(), requests.in_flight), ("2 of 4".to_owned(), Some(1)));
    assert_eq!((requests.done, requests.errors), (Some(8), Some(3)));
    assert!(requests.gateway);
    assert_eq!(one(&found, QueueKind::Responses).depth_words(), "0 of 4");
    // Indices that the queue cannot have.
    let apart = with(&[(request + queue.write_index.at, 7)]);
    assert_eq!(one(&apart, QueueKind::Requests).depth, None);
}

#[test]
fn a_transmit_queue_has_its_packets_and_what_was_not_read_is_unknown() {
    let state = mesh(1);
    let registers = &state.layout().registers.txq;
    let queue = state.layout().block(layouts::Space::Tile(layouts::TileKind::Eth), "txq1").unwrap();
    let found = with(&[
        (queue + registers.packet_starts.at, 7),
        (queue + registers.packet_ends.at, 5),
        (queue + registers.resends.at, 1),
    ]);
    let second = one(&found, QueueKind::Transmit1);
    assert_eq!((second.in_flight, second.done, second.errors), (Some(2), Some(5), Some(1)));
    let unread = queues(&state, &Snapshot::default(), Some(ChipId(0)));
    let second = one(&unread, QueueKind::Transmit1);
    assert_eq!((second.depth, second.in_flight, second.errors), (None, None, None));
}
