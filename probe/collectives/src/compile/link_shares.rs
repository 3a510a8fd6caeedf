//! Link shares: page ranges of blocks that go over links in one or both directions, and the drafts
//! of their workers.

use crate::program::Channel;
use crate::slicer::PageSlice;
use machine::place::Place;

/// A page range of every block that goes over one link of each edge.
#[derive(Clone, Debug)]
pub(super) struct LinkShare {
    /// Index of the link of each edge.
    pub(super) link: usize,
    /// The page range.
    pub(super) part: PageSlice,
    /// Its directions: true towards higher ranks, false towards lower ranks.
    pub(super) directions: Vec<bool>,
}

/// A command before its pages are known: tensors by number and block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Move {
    /// Its flags, apart from those for reading and writing tensors.
    pub(super) flags: u16,
    /// Tensor and block to read.
    pub(super) from: Option<(u8, u32)>,
    /// Tensor and block to write.
    pub(super) to: Option<(u8, u32)>,
}

/// A worker whose commands are still being collected.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// Its tile.
    pub(super) place: Place,
    /// Its role, for display.
    pub(super) role: String,
    /// Its commands.
    pub(super) moves: Vec<Move>,
    /// The channel of its incoming packets.
    pub(super) inbound: Option<Channel>,
    /// The channel of its outgoing packets.
    pub(super) outbound: Option<Channel>,
    /// The worker that receives its signals.
    pub(super) partner: Option<Place>,
    /// Whether it works slice by slice, as workers of a cycle must.
    pub(super) sliced: bool,
}

impl Draft {
    pub(super) fn new(place: Place, role: String) -> Self {
        Self {
            place,
            role,
            moves: Vec::new(),
            inbound: None,
            outbound: None,
            partner: None,
            sliced: false,
        }
    }
}

/// The ranks whose input blocks are summed in an output block, arm by arm, each with the block of
/// its input.
pub(super) type Sum = Vec<Vec<(usize, u32)>>;
