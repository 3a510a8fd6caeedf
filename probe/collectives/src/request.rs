//! What a person wishes a collective to be: chips, size, type, layout. Everything has a default but the collective.

use super::error::CclError;
use super::op::{Bidirectional, DataType, Op};
use super::transport::Transport;
use launch::topology::TopologyKind;
use layouts::ChipId;

/// Where the pages of a tensor lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Page after page over the DRAM channels.
    #[default]
    Interleaved,
    /// In shards over the L1 of compute tiles, height sharded.
    Sharded,
}

impl Layout {
    /// As the command line spells it.
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
    /// What it does.
    pub op: Op,
    /// The chips; all of the mesh if none is named. Their order counts if they form the topology in it.
    pub chips: Vec<ChipId>,
    /// How they are joined; a ring if they form one, else a line.
    pub topology: Option<TopologyKind>,
    /// Links of each edge that are used.
    pub links: u32,
    /// Type of the elements.
    pub data_type: DataType,
    /// Where the tensors lie.
    pub layout: Layout,
    /// Both directions of a ring.
    pub bidirectional: Bidirectional,
    /// The rank that broadcasts, gathers, ...
    pub root: u32,
    /// nccl-tests' `size`: of the larger of a rank's input and its output, in bytes.
    pub bytes: u64,
    /// Bytes of a page; that of a tile of 32 by 32 elements if not told.
    pub page_bytes: Option<u32>,
    /// Bytes of an EDM buffer: the largest packet.
    pub buffer_bytes: u32,
    /// Buffers of each EDM channel.
    pub buffers_per_channel: u32,
    /// Channels end when their workers say so, not after a number of messages.
    pub worker_initiated: bool,
    /// So long each message that a worker has read rests in its buffer, in cycles, so that a person can follow; 0 to measure.
    pub delay_cycles: u32,
    /// Seed of the data.
    pub seed: u32,
    /// How packets get from rank to rank.
    pub transport: Transport,
    /// Workers of each link and direction.
    pub workers: u32,
}

/// The guide's recommendation: larger packets gain nothing.
const BUFFER_BYTES: u32 = 16 * 1024;
/// One is filled while the other is on its way.
const BUFFERS: u32 = 2;
/// Elements of a tile.
const TILE_ELEMENTS: u32 = 32 * 32;
/// What NoC and Ethernet move is aligned to this.
const ALIGN: u32 = 32;

impl Request {
    /// The default request for an operation of this `size`.
    pub fn new(op: Op, bytes: u64) -> Self {
        Self {
            op,
            chips: Vec::new(),
            topology: None,
            links: 1,
            data_type: DataType::default(),
            layout: Layout::default(),
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

    /// Bytes of a page: as told, else a tile, or less where a tile does not fit a buffer.
    pub(super) fn page(&self) -> u32 {
        let tile = TILE_ELEMENTS * self.data_type.bytes() as u32;
        self.page_bytes.unwrap_or(tile.min(self.buffer_bytes))
    }

    /// Is there a mesh on which this could be? What only a mesh can tell is left to [`super::compile()`].
    ///
    /// # Errors
    /// The first thing that cannot be anywhere.
    pub fn check(&self) -> Result<(), CclError> {
        self.check_sizes()?;
        if self.root > 0 && !self.op.has_root() {
            return Err(CclError::NoRoot(self.op));
        }
        match self.chips.len() as u32 {
            // How many all chips of a mesh are is not known here.
            0 if self.op.cuts() => Ok(()),
            ranks => self.count(ranks.max(1)).map(drop),
        }
    }

    /// Sizes that stand for themselves, whatever the mesh is.
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

    /// Elements of a block: a rank's share of `size` where the operation cuts or joins, else all of it.
    ///
    /// # Errors
    /// A size of which there is no whole number of elements for each rank.
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
