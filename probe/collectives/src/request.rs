//! The request for a collective: chips, size, type, layout. Everything but the operation and size
//! has a default.

use super::error::CclError;
use super::op::{Bidirectional, DataType, Op};
use super::transport::Transport;
use launch::topology::TopologyKind;
use layouts::ChipId;

/// The location of a tensor's pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TensorLayout {
    /// Page by page over the DRAM channels.
    #[default]
    Interleaved,
    /// In shards over the L1 of compute tiles, height sharded.
    Sharded,
}

impl TensorLayout {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interleaved => "interleaved",
            Self::Sharded => "sharded",
        }
    }
}

/// A collective of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The operation.
    pub op: Op,
    /// The chips; empty for all of the mesh. Their order is kept if they form the topology in it.
    pub chips: Vec<ChipId>,
    /// The topology; by default a ring if the chips form one, else a line.
    pub topology: Option<TopologyKind>,
    /// Number of links of each edge to use.
    pub links: u32,
    /// Type of the elements.
    pub data_type: DataType,
    /// The location of the tensors.
    pub layout: TensorLayout,
    /// Use of both directions of a ring.
    pub bidirectional: Bidirectional,
    /// The rank that broadcasts, gathers, ...
    pub root: u32,
    /// nccl-tests' `size`: bytes of the larger of a rank's input and output.
    pub bytes: u64,
    /// Bytes of a page; by default those of a tile of 32 by 32 elements.
    pub page_bytes: Option<u32>,
    /// Bytes of an EDM buffer: the largest packet.
    pub buffer_bytes: u32,
    /// Buffers of each EDM channel.
    pub buffers_per_channel: u32,
    /// Whether channels end when their workers signal it, rather than after a number of messages.
    pub worker_initiated: bool,
    /// Cycles for which a message stays in its buffer after a worker has read it, so that the run
    /// can be followed on screen; 0 to measure.
    pub delay_cycles: u32,
    /// Seed of the data.
    pub seed: u32,
    /// How packets travel from rank to rank.
    pub transport: Transport,
    /// Workers of each link and direction.
    pub workers: u32,
}

/// The guide's recommendation: larger packets bring no gain.
const BUFFER_BYTES: u32 = 16 * 1024;
/// One buffer is filled while the other is in transit.
const BUFFERS: u32 = 2;
/// Elements of a tile.
const TILE_ELEMENTS: u32 = 32 * 32;
/// Alignment of NoC and Ethernet transfers.
const ALIGN: u32 = 32;

impl Request {
    /// Creates the default request for an operation of this `size`.
    pub fn new(op: Op, bytes: u64) -> Self {
        Self {
            op,
            chips: Vec::new(),
            topology: None,
            links: 1,
            data_type: DataType::default(),
            layout: TensorLayout::default(),
            bidirectional: Bidirectional::default(),
            root: 0,
            bytes,
            page_bytes: None,
            buffer_bytes: BUFFER_BYTES,
            buffers_per_channel: BUFFERS,
            worker_initiated: false,
            delay_cycles: 0,
            seed: 1,
            transport: Transport::default(),
            workers: 1,
        }
    }

    /// Returns the bytes of a page: as requested, else a tile, or less if a tile does not fit a
    /// buffer.
    pub(super) fn page(&self) -> u32 {
        let tile = TILE_ELEMENTS * self.data_type.bytes() as u32;
        self.page_bytes.unwrap_or(tile.min(self.buffer_bytes))
    }

    /// Checks the request without a mesh. Checks that need a mesh are left to [`super::compile()`].
    ///
    /// # Errors
    /// The first error that holds on any mesh.
    pub fn check(&self) -> Result<(), CclError> {
        self.check_sizes()?;
        if self.root > 0 && !self.op.has_root() {
            return Err(CclError::NoRoot(self.op));
        }
        match self.chips.len() as u32 {
            // The number of all chips of a mesh is not known here.
            0 if self.op.cuts() => Ok(()),
            ranks => self.count(ranks.max(1)).map(drop),
        }
    }

    /// Checks the sizes that do not depend on the mesh.
    fn check_sizes(&self) -> Result<(), CclError> {
        let aligned = |what, bytes: u32| {
            let good = bytes > 0 && bytes.is_multiple_of(ALIGN);
            if good { Ok(()) } else { Err(CclError::Unaligned { what, bytes }) }
        };
        aligned("an EDM buffer", self.buffer_bytes)?;
        aligned("a page", self.page())?;
        if self.page() > self.buffer_bytes {
            let (page_bytes, buffer_bytes) = (self.page(), self.buffer_bytes);
            return Err(CclError::PageTooLarge { page_bytes, buffer_bytes });
        }
        if self.buffers_per_channel == 0 {
            return Err(CclError::NoBuffers);
        }
        if self.links == 0 {
            return Err(CclError::NoLinks);
        }
        if self.workers == 0 {
            return Err(CclError::NoWorkers);
        }
        Ok(())
    }

    /// Returns the elements of a block: a rank's share of `size` if the operation cuts or joins,
    /// else all of it.
    ///
    /// # Errors
    /// If the size is not a whole number of elements for each rank.
    pub(super) fn count(&self, ranks: u32) -> Result<u64, CclError> {
        let parts = if self.op.cuts() { u64::from(ranks) } else { 1 };
        let element = self.data_type.bytes();
        if self.bytes == 0 || !self.bytes.is_multiple_of(element * parts) {
            let (bytes, data_type) = (self.bytes, self.data_type);
            return Err(CclError::SizeDoesNotDivide { bytes, data_type, parts });
        }
        Ok(self.bytes / element / parts)
    }
}
