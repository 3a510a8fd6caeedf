//! Lanes: stretches of blocks that go over links in one or both directions, and the workers that are listed for them.

use crate::program::Channel;
use crate::slicer::PageSlice;
use machine::place::Place;

/// A stretch of every block that goes over one link of each edge.
#[derive(Clone, Debug)]
pub(super) struct LinkShare {
    /// Number of the link of each edge.
    pub(super) link: usize,
    /// The stretch.
    pub(super) part: PageSlice,
    /// Directions that it goes in: towards higher ranks, and towards lower ones.
    pub(super) directions: Vec<bool>,
}

/// A command before pages are known: tensors by number and block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Move {
    /// What it does besides reading and writing tensors.
    pub(super) flags: u16,
    /// Tensor and block that it reads.
    pub(super) from: Option<(u8, u32)>,
    /// Tensor and block that it writes.
    pub(super) to: Option<(u8, u32)>,
}

/// A worker whose commands are being listed.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// Its tile.
    pub(super) place: Place,
    /// What it is, for people.
    pub(super) role: String,
    /// The list.
    pub(super) moves: Vec<Move>,
    /// Where packets come from.
    pub(super) inbound: Option<Channel>,
    /// Where packets go.
    pub(super) outbound: Option<Channel>,
    /// Who gets the signals.
    pub(super) partner: Option<Place>,
    /// A worker of a cycle works slice by slice, any other in one go.
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

/// Ranks whose input blocks are added up in an output block, arm by arm, each with the block of its input.
pub(super) type Sum = Vec<Vec<(usize, u32)>>;
