//! The blocks of a collective's tensors, and the streams of the pattern that they hold.

use crate::error::CclError;
use crate::op::Op;
use crate::request::Request;
use crate::slicer::Block;
use launch::topology::Topology;
use launch::topology::TopologyKind;

/// Tensors in blocks. Every block starts at a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    op: Op,
    root: usize,
    ranks: usize,
    /// The size of each block.
    pub(super) block: Block,
    /// Number of blocks of an input, and of an output.
    pub(super) blocks: [u32; 2],
    /// Whether the blocks of a tensor are one stream, whose last blocks may be empty.
    continued: bool,
    element_bytes: u64,
}

impl Shape {
    pub(super) fn new(request: &Request, topology: &Topology) -> Result<Self, CclError> {
        let ranks = topology.size() as u32;
        let elements = request.count(ranks)?;
        if u32::try_from(elements).is_err() {
            return Err(CclError::TooManyElements(elements));
        }
        let element_bytes = request.data_type.bytes();
        let block = Block::new(elements, element_bytes, request.page());
        let ring = topology.kind == TopologyKind::Ring;
        let blocks = match request.op {
            Op::AllGather | Op::Gather => [1, ranks],
            Op::ReduceScatter | Op::Scatter => [ranks, 1],
            Op::AllToAll => [ranks, ranks],
            Op::AllReduce if ring => [ranks, ranks],
            Op::AllReduce | Op::Broadcast | Op::Reduce | Op::SendReceive => [1, 1],
        };
        let continued = request.op == Op::AllReduce && ring;
        let root = request.root as usize;
        let (op, ranks) = (request.op, topology.size());
        let mut shape = Self { op, root, ranks, block, blocks, continued, element_bytes };
        if continued {
            shape.block = fracture(request, elements, ranks as u32);
        }
        Ok(shape)
    }

    pub(super) fn has_input(&self, rank: usize) -> bool {
        match self.op {
            Op::Broadcast | Op::Scatter => rank == self.root,
            Op::SendReceive => rank == 0,
            _ => true,
        }
    }

    pub(super) fn has_output(&self, rank: usize) -> bool {
        match self.op {
            Op::Reduce | Op::Gather => rank == self.root,
            Op::SendReceive => rank + 1 == self.ranks,
            _ => true,
        }
    }

    /// Returns the stream of the pattern in a block of a rank's input.
    pub(super) fn stream(&self, rank: usize, block: u32) -> u32 {
        let [inputs, _] = self.blocks;
        if self.continued { rank as u32 } else { rank as u32 * inputs + block }
    }

    /// Returns the index within its stream of the first element of a page of a block.
    pub(super) fn first_element(&self, block: u32, page: u32) -> u64 {
        let before =
            if self.continued { u64::from(block) * u64::from(self.block.pages) } else { 0 };
        (before + u64::from(page)) * u64::from(self.block.page_bytes) / self.element_bytes
    }

    /// Returns nccl-tests' `count`: elements of a block, or of the whole of a continued tensor.
    pub(super) fn count(&self) -> u64 {
        self.block.elements
    }
}

/// Returns a fracture of a tensor that need not divide evenly: whole pages, smaller for small
/// tensors unless the page size was requested.
fn fracture(request: &Request, elements: u64, ranks: u32) -> Block {
    let share = request.bytes.div_ceil(u64::from(ranks)).next_multiple_of(32);
    let page = request.page();
    let page_bytes = if request.page_bytes.is_some() {
        page
    } else {
        page.min(u32::try_from(share).unwrap_or(page))
    };
    let pages = request.bytes.div_ceil(u64::from(page_bytes)).div_ceil(u64::from(ranks));
    Block { elements, pages: pages as u32, page_bytes, last_page_bytes: page_bytes }
}
