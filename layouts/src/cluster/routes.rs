//! Shortest routes through a mesh: for each pair of chips the local Ethernet channels that lead one
//! hop closer.

use crate::address::{ChipId, EthId};
use std::collections::VecDeque;

/// Distances and first hops between all chips of a mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routes {
    chips: u16,
    /// `hops[to * chips + from]`.
    hops: Vec<Option<u16>>,
    /// `masks[to * chips + from]`.
    masks: Vec<u16>,
}

impl Routes {
    /// Searches breadth first from every chip; ignores links of chips beyond `chips` and channels
    /// beyond 15.
    pub fn new(chips: u16, links: &[(EthId, EthId)]) -> Self {
        let known = |end: &EthId| end.chip.0 < chips && end.channel < 16;
        let mut ways: Vec<(EthId, ChipId)> = Vec::new();
        for (a, b) in links.iter().filter(|(a, b)| known(a) && known(b)) {
            ways.extend([(*a, b.chip), (*b, a.chip)]);
        }
        let cells = usize::from(chips) * usize::from(chips);
        let mut routes = Self { chips, hops: vec![None; cells], masks: vec![0; cells] };
        for to in (0..chips).map(ChipId) {
            routes.search(to, &ways);
        }
        routes
    }

    fn search(&mut self, to: ChipId, ways: &[(EthId, ChipId)]) {
        let mut waiting = VecDeque::from([(to, 0_u16)]);
        self.set_hops(to, to, 0);
        while let Some((here, hops)) = waiting.pop_front() {
            for (end, _) in ways.iter().filter(|(_, far)| *far == here) {
                if self.hops(end.chip, to).is_none() {
                    self.set_hops(end.chip, to, hops + 1);
                    waiting.push_back((end.chip, hops + 1));
                }
                if self.hops(end.chip, to) == Some(hops + 1) {
                    self.add_channel(*end, to);
                }
            }
        }
    }

    fn cell(&self, from: ChipId, to: ChipId) -> Option<usize> {
        let inside = from.0 < self.chips && to.0 < self.chips;
        inside.then(|| usize::from(to.0) * usize::from(self.chips) + usize::from(from.0))
    }

    fn set_hops(&mut self, from: ChipId, to: ChipId, hops: u16) {
        if let Some(slot) = self.cell(from, to).and_then(|cell| self.hops.get_mut(cell)) {
            *slot = Some(hops);
        }
    }

    fn add_channel(&mut self, end: EthId, to: ChipId) {
        if let Some(mask) = self.cell(end.chip, to).and_then(|cell| self.masks.get_mut(cell)) {
            *mask |= 1 << end.channel;
        }
    }

    /// Returns the number of links between two chips: 0 for the chip itself, nothing without a
    /// route.
    pub fn hops(&self, from: ChipId, to: ChipId) -> Option<u16> {
        self.cell(from, to).and_then(|cell| self.hops.get(cell).copied().flatten())
    }

    /// Returns the mask of the channels of `from` that lead one hop closer to `to`; 0 for the chip
    /// itself or without a route.
    pub fn mask(&self, from: ChipId, to: ChipId) -> u16 {
        self.cell(from, to).and_then(|cell| self.masks.get(cell).copied()).unwrap_or(0)
    }

    /// Returns every other chip with its mask, in order: the routing table of `from`.
    pub fn table(&self, from: ChipId) -> Vec<(ChipId, u16)> {
        let others = (0..self.chips).map(ChipId).filter(|to| *to != from);
        others.map(|to| (to, self.mask(from, to))).collect()
    }
}
