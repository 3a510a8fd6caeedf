//! The meaning of each operation, independent of its implementation: the ranks' elements that make
//! up an element of an output.

use crate::expected;
use crate::op::{DataType, Op};
use crate::program::Program;
use crate::request::Request;
use launch::topology::TopologyKind;

/// Returns the streams that are summed in a block of a rank's output.
pub(super) fn streams(
    request: &Request,
    kind: TopologyKind,
    program: &Program,
    rank: usize,
    block: usize,
) -> Vec<usize> {
    let size = program.ranks.len();
    let all = 0..size;
    match request.op {
        Op::AllGather | Op::Gather => vec![block],
        Op::ReduceScatter => all.map(|source| source * size + rank).collect(),
        Op::AllReduce if kind == TopologyKind::Ring => all.collect(),
        Op::AllReduce | Op::Reduce => all.collect(),
        Op::Broadcast => vec![request.root as usize],
        Op::Scatter => vec![request.root as usize * size + rank],
        Op::AllToAll => vec![block * size + rank],
        Op::SendReceive => vec![0],
    }
}

/// Returns a word of the sum of streams, added in any order; for floats only if there is a single
/// stream.
pub(super) fn word(request: &Request, streams: &[usize], elements: u64, index: u64) -> Option<u32> {
    let data_type = request.data_type;
    if streams.len() > 1 && data_type != DataType::Int32 {
        return None;
    }
    let in_word = 4 / data_type.bytes();
    let real = elements.saturating_sub(index * in_word).min(in_word);
    let words = streams
        .iter()
        .map(|&stream| expected::pattern(data_type, request.seed, stream as u32, index as u32));
    let word = words.fold(0u32, u32::wrapping_add);
    Some(match real {
        0 => 0,
        real if real < in_word => word & 0xFFFF,
        _ => word,
    })
}
