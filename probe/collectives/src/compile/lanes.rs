//! Lanes: stretches of blocks that go over links in one or both directions, and the workers that are listed for them.

use super::build::Build;
use crate::program::Channel;
use crate::request::Bidirectional;
use crate::slicer::Part;
use launch::topology::TopologyKind;
use machine::place::Place;

/// What one worker fills or checks, in bytes, before another is called; and how many there are of a lane at most.
const PIECE_BYTES: u64 = 256 << 10;
const MAX_PIECES: u64 = 8;

/// A stretch of every block that goes over one link of each edge.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    /// Number of the link of each edge.
    pub(super) link: usize,
    /// The stretch.
    pub(super) part: Part,
    /// Directions that it goes in: towards higher ranks, and towards lower ones.
    pub(super) ways: Vec<bool>,
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

impl Build<'_> {
    /// The lanes: one for each link, worker of it, and half of the tensors.
    pub(super) fn lanes(&self) -> Vec<Lane> {
        let (links, block) = (self.request.links, self.shape.block);
        let half = self.request.bidirectional == Bidirectional::HalfTensors;
        let both = self.topology.kind == TopologyKind::Line
            || self.request.bidirectional == Bidirectional::FullTensors;
        let workers = self.request.workers;
        let parts = if half { 2 * links * workers } else { links * workers };
        let lane = |(index, part): (usize, Part)| {
            let link = if half { index / 2 } else { index } / workers.max(1) as usize;
            let ways = match (both, half) {
                (true, _) => vec![true, false],
                (_, true) => vec![index % 2 == 0],
                _ => vec![true],
            };
            Lane { link, part, ways }
        };
        block.parts(parts).into_iter().enumerate().map(lane).collect()
    }

    /// The same stretches in pieces for those who fill and check: the more there is to do, the more workers do it.
    pub(super) fn pieces(&self) -> Vec<Lane> {
        let (block, [inputs, outputs]) = (self.shape.block, self.shape.blocks);
        let cut = |lane: Lane| {
            let pages = u64::from(lane.part.pages) * u64::from(inputs + outputs);
            let workers = (pages * u64::from(block.page_bytes)).div_ceil(PIECE_BYTES);
            let parts = lane.part.cut(workers.min(MAX_PIECES) as u32, block.page_bytes);
            parts.into_iter().map(move |part| Lane { part, ..lane.clone() })
        };
        self.lanes().into_iter().flat_map(cut).collect()
    }

    /// How many ranks there are.
    pub(super) fn size(&self) -> usize {
        self.topology.size()
    }

    pub(super) fn is_line(&self) -> bool {
        self.topology.kind == TopologyKind::Line
    }

    /// The rank so many steps on.
    pub(super) fn rank(&self, from: usize, steps: usize, forward: bool) -> usize {
        let size = self.size();
        if forward { (from + steps) % size } else { (from + size - steps % size) % size }
    }

    /// How many hops data of a ring travels in a direction of this lane: all the way, or half.
    pub(super) fn reach(&self, lane: &Lane, forward: bool) -> usize {
        let others = self.size() - 1;
        match lane.ways.len() {
            1 => others,
            _ if forward => others.div_ceil(2),
            _ => others / 2,
        }
    }
}
