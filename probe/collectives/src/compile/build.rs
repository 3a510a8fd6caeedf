//! The parts common to all collectives: channels, workers and their commands.

use super::link_shares::{Draft, LinkShare, Move};
use super::shape::Shape;
use crate::error::CclError;
use crate::op::Bidirectional;
use crate::op::Op;
use crate::program::{Channel, WorkerCommand, WorkerPlan, flags};
use crate::request::Request;
use crate::slicer::{self, PageSlice};
use crate::tensor::Placement;
use crate::transport::Transport;
use launch::topology::{Topology, TopologyKind};
use layouts::{ChipId, EthId};
use machine::place::Place;
use machine::target::Mesh;
use std::collections::BTreeMap;

/// Maximum number of commands in a worker's L1.
const MAX_COMMANDS: usize = 3500;

/// Bytes that one worker fills or checks before another is added, and the maximum number of pieces
/// of a link share.
const PIECE_BYTES: u64 = 256 << 10;
const MAX_PIECES: u64 = 8;

/// A program under construction.
pub(super) struct Build<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) request: &'a Request,
    pub(super) topology: &'a Topology,
    pub(super) shape: Shape,
    pub(super) placement: Placement,
    /// Compute tiles of each chip, and the number of them that have a worker.
    pub(super) tiles: BTreeMap<ChipId, (Vec<Place>, usize)>,
    /// Number of channels of each link, by its lower end.
    numbers: BTreeMap<EthId, u32>,
    pub(super) workers: Vec<WorkerPlan>,
}

impl<'a> Build<'a> {
    pub(super) fn new(
        mesh: &'a Mesh,
        request: &'a Request,
        topology: &'a Topology,
        shape: Shape,
    ) -> Result<Self, CclError> {
        let block = shape.block;
        let pages = shape.blocks.map(|blocks| u64::from(blocks) * u64::from(block.pages));
        let chips = &topology.ranks;
        let placement = Placement::new(mesh, chips, request.layout, block.page_bytes, pages)?;
        let tiles = chips.iter().map(|&chip| (chip, (mesh.compute_tiles(chip).collect(), 0)));
        let tiles = tiles.collect();
        let (numbers, workers) = (BTreeMap::new(), Vec::new());
        Ok(Self { mesh, request, topology, shape, placement, tiles, numbers, workers })
    }

    /// Creates a worker on the next compute tile of a rank's chip.
    pub(super) fn draft(
        &mut self,
        rank: usize,
        share: &LinkShare,
        role: &str,
    ) -> Result<Draft, CclError> {
        let chip = *self.topology.ranks.get(rank).ok_or(CclError::NoRank(rank))?;
        let (tiles, used) = self.tiles.entry(chip).or_default();
        *used += 1;
        let wanted = *used;
        let place = tiles.get(wanted - 1).copied();
        let place = place.ok_or(CclError::TooFewTiles { chip, wanted, tiles: tiles.len() })?;
        Ok(Draft::new(place, format!("{role} of link {}", share.link)))
    }

    /// Returns a tile of a rank's chip by index, for fills and checks, which run while the workers
    /// do not.
    pub(super) fn tile(&self, rank: usize, index: usize) -> Result<Place, CclError> {
        let chip = *self.topology.ranks.get(rank).ok_or(CclError::NoRank(rank))?;
        let tiles = self.tiles.get(&chip).map_or(&[][..], |(tiles, _)| tiles);
        let few = CclError::TooFewTiles { chip, wanted: index + 1, tiles: tiles.len() };
        tiles.get(index).copied().ok_or(few)
    }

    /// Adds a channel from one worker to another of a neighbouring rank.
    pub(super) fn connect(
        &mut self,
        share: &LinkShare,
        forward: bool,
        (from, from_rank): (&mut Draft, usize),
        to: &mut Draft,
    ) {
        if self.request.transport != Transport::Edm {
            let channel = Channel { edm: to.place, number: share.link as u32 };
            (from.outbound, to.inbound) = (Some(channel), Some(channel));
            return;
        }
        let sockets = self.topology.sockets(from_rank, forward);
        let Some(&(near, far)) = sockets.get(share.link) else { return };
        let number = self.numbers.entry(near.min(far)).or_default();
        let channel =
            |end: EthId| Some(Channel { edm: self.mesh.place(end).ok()?, number: *number });
        (from.outbound, to.inbound) = (channel(near), channel(far));
        *number += 1;
    }

    /// Adds channels from each rank's worker to the next one's, round a ring or to the end of a
    /// line or socket.
    pub(super) fn join(&mut self, share: &LinkShare, forward: bool, drafts: &mut [Option<Draft>]) {
        let closed = !self.is_line() && self.request.op != Op::SendReceive;
        for rank in 0..self.size() {
            let next = self.rank(rank, 1, forward);
            let round = if forward { next < rank } else { next > rank };
            if round && !closed {
                continue;
            }
            let mut take = |rank| drafts.get_mut(rank).and_then(Option::take);
            let (mut from, mut to) = (take(rank), take(next));
            if let (Some(from), Some(to)) = (&mut from, &mut to) {
                self.connect(share, forward, (from, rank), to);
            }
            for (rank, draft) in [(rank, from), (next, to)] {
                if let Some(place) = drafts.get_mut(rank) {
                    *place = draft;
                }
            }
        }
    }

    /// Adds a complete worker to the program.
    pub(super) fn add(&mut self, share: &LinkShare, draft: Draft) -> Result<(), CclError> {
        if draft.moves.len() > MAX_COMMANDS {
            return Err(CclError::TooManyCommands(draft.moves.len()));
        }
        let commands = draft.moves.iter().map(|one| self.command(share.part, *one)).collect();
        let mut plan = self.plan(draft.place, draft.role, share.part, commands);
        if draft.sliced {
            plan.slice_pages = slicer::slice_pages(self.request, self.shape.block.page_bytes);
        }
        (plan.inbound, plan.outbound, plan.partner) =
            (draft.inbound, draft.outbound, draft.partner);
        self.workers.push(plan);
        Ok(())
    }

    /// Returns a worker without channels.
    pub(super) fn plan(
        &self,
        place: Place,
        role: String,
        part: PageSlice,
        commands: Vec<WorkerCommand>,
    ) -> WorkerPlan {
        WorkerPlan {
            place,
            role,
            pages: part.pages,
            last_page_bytes: part.last_page_bytes,
            slice_pages: part.pages,
            packet_pages: slicer::packet_pages(self.request, self.shape.block.page_bytes),
            elements: self.shape.block.elements as u32,
            fifo_bytes: 0,
            banks: self.placement.banks(self.mesh, place.chip),
            tensors: self.placement.tensors.to_vec(),
            commands,
            inbound: None,
            outbound: None,
            partner: None,
        }
    }

    /// Returns the page of a block at which a part begins.
    pub(super) fn page(&self, block: u32, part: PageSlice) -> u32 {
        block * self.shape.block.pages + part.first_page
    }

    fn command(&self, part: PageSlice, one: Move) -> WorkerCommand {
        let mut command = WorkerCommand { flags: one.flags, ..WorkerCommand::default() };
        if let Some((tensor, block)) = one.from {
            command.flags |= flags::FROM_TENSOR;
            (command.source, command.source_page) = (tensor, self.page(block, part));
        }
        if let Some((tensor, block)) = one.to {
            command.flags |= flags::TO_TENSOR;
            (command.destination, command.destination_page) = (tensor, self.page(block, part));
        }
        command
    }

    /// Returns the link shares: one for each link, each of its workers, and each half of the
    /// tensors.
    pub(super) fn link_shares(&self) -> Vec<LinkShare> {
        let (links, block) = (self.request.links, self.shape.block);
        let half = self.request.bidirectional == Bidirectional::HalfTensors;
        let both = self.topology.kind == TopologyKind::Line
            || self.request.bidirectional == Bidirectional::FullTensors;
        let workers = self.request.workers;
        let parts = if half { 2 * links * workers } else { links * workers };
        let share = |(index, part): (usize, PageSlice)| {
            let link = if half { index / 2 } else { index } / workers.max(1) as usize;
            let ways = match (both, half) {
                (true, _) => vec![true, false],
                (_, true) => vec![index % 2 == 0],
                _ => vec![true],
            };
            LinkShare { link, part, directions: ways }
        };
        block.parts(parts).into_iter().enumerate().map(share).collect()
    }

    /// Returns the same page ranges in pieces for fills and checks: larger ranges get more workers.
    pub(super) fn pieces(&self) -> Vec<LinkShare> {
        let (block, [inputs, outputs]) = (self.shape.block, self.shape.blocks);
        let cut = |share: LinkShare| {
            let pages = u64::from(share.part.pages) * u64::from(inputs + outputs);
            let workers = (pages * u64::from(block.page_bytes)).div_ceil(PIECE_BYTES);
            let parts = share.part.cut(workers.min(MAX_PIECES) as u32, block.page_bytes);
            parts.into_iter().map(move |part| LinkShare { part, ..share.clone() })
        };
        self.link_shares().into_iter().flat_map(cut).collect()
    }

    /// Returns the number of ranks.
    pub(super) fn size(&self) -> usize {
        self.topology.size()
    }

    pub(super) fn is_line(&self) -> bool {
        self.topology.kind == TopologyKind::Line
    }

    /// Returns the rank `steps` steps ahead.
    pub(super) fn rank(&self, from: usize, steps: usize, forward: bool) -> usize {
        let size = self.size();
        if forward { (from + steps) % size } else { (from + size - steps % size) % size }
    }

    /// Returns how many hops data of a ring travel in a direction of this link share: all the way,
    /// or half.
    pub(super) fn reach(&self, share: &LinkShare, forward: bool) -> usize {
        let others = self.size() - 1;
        match share.directions.len() {
            1 => others,
            _ if forward => others.div_ceil(2),
            _ => others / 2,
        }
    }
}
