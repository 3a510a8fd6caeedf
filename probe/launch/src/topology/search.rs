//! Finds an order of chips in which each is a neighbour of the next, depth first.

use super::error::Missing;
use super::rotate::rotate;
use layouts::ChipId;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

/// Steps after which the search stops.
const BUDGET: u32 = 2_000;

/// Chips and the neighbours of each, by index.
pub(super) struct Graph {
    chips: Vec<ChipId>,
    near: Vec<Vec<usize>>,
}

impl Graph {
    pub(super) fn new(chips: &[ChipId], joined: impl Fn(ChipId, ChipId) -> bool) -> Self {
        let neighbours_of = |&a: &ChipId| {
            let others = chips.iter().enumerate().filter(|&(_, &b)| a != b && joined(a, b));
            others.map(|(index, _)| index).collect()
        };
        Self { chips: chips.to_vec(), near: chips.iter().map(neighbours_of).collect() }
    }

    /// Returns the chips in the order of a ring or line: the given order if it is one.
    pub(super) fn order(&self, ring: bool) -> Result<Vec<ChipId>, Missing> {
        let given: Vec<usize> = (0..self.chips.len()).collect();
        if self.is_order(&given, ring) {
            return Ok(self.chips.clone());
        }
        if let Some(missing) = self.plain_reason(ring) {
            return Err(missing);
        }
        let mut best = Vec::new();
        // A ring can start anywhere, a line only at one of its ends.
        let starts = if ring { 1 } else { self.chips.len() };
        for start in 0..starts {
            let mut search = PathSearch { graph: self, ring, budget: BUDGET, best: Vec::new() };
            search.extend(&mut vec![start]);
            if self.is_order(&search.best, ring) {
                return Ok(self.named(&search.best));
            }
            if search.best.len() > best.len() {
                best = search.best;
            }
        }
        if rotate(&self.near, &mut best, |path| self.is_order(path, ring)) {
            return Ok(self.named(&best));
        }
        Err(self.gap(&best))
    }

    /// Returns the shortest path between two of the chips.
    pub(super) fn shortest(&self, from: ChipId, to: ChipId) -> Option<Vec<ChipId>> {
        let index = |chip| self.chips.iter().position(|&c| c == chip);
        let (from, to) = (index(from)?, index(to)?);
        // The search starts at the end, so that `next` yields the path forwards.
        let mut next = BTreeMap::from([(to, to)]);
        let mut queue = VecDeque::from([to]);
        while let Some(at) = queue.pop_front() {
            for &near in self.near.get(at)? {
                if let Entry::Vacant(entry) = next.entry(near) {
                    entry.insert(at);
                    queue.push_back(near);
                }
            }
        }
        let mut path = vec![from];
        let mut at = from;
        while at != to {
            at = *next.get(&at)?;
            path.push(at);
        }
        Some(self.named(&path))
    }

    fn named(&self, order: &[usize]) -> Vec<ChipId> {
        order.iter().filter_map(|&index| self.chips.get(index).copied()).collect()
    }

    fn neighbours(&self, chip: usize) -> &[usize] {
        self.near.get(chip).map_or(&[], Vec::as_slice)
    }

    fn is_order(&self, order: &[usize], ring: bool) -> bool {
        let steps = order.iter().zip(order.iter().skip(1));
        let closed = || match (order.first(), order.last()) {
            (Some(first), Some(last)) => self.neighbours(*last).contains(first),
            _ => false,
        };
        let whole = order.len() == self.chips.len();
        whole
            && steps.into_iter().all(|(&a, b)| self.neighbours(a).contains(b))
            && (!ring || closed())
    }

    /// Returns a reason that needs no search.
    fn plain_reason(&self, ring: bool) -> Option<Missing> {
        let chips = || self.chips.iter().zip(&self.near);
        if let Some((&chip, _)) = chips().find(|(_, near)| near.is_empty()) {
            return Some(Missing::Alone(chip));
        }
        let reached = self.reached(0, &[]);
        if reached.len() < self.chips.len() {
            let (reachable, unreachable): (Vec<usize>, Vec<usize>) =
                (0..self.chips.len()).partition(|index| reached.contains(index));
            return Some(Missing::Parted(self.named(&reachable), self.named(&unreachable)));
        }
        if ring && self.chips.len() > 2 {
            let end = chips().find(|(_, near)| near.len() == 1);
            let end = end.and_then(|(&chip, near)| Some((chip, *self.chips.get(*near.first()?)?)));
            return end.map(|(chip, neighbour)| Missing::OneNeighbour(chip, neighbour));
        }
        None
    }

    /// Returns the chips reachable from this one without entering the path.
    fn reached(&self, from: usize, path: &[usize]) -> Vec<usize> {
        let mut reached = vec![from];
        let mut at = 0;
        while let Some(&chip) = reached.get(at) {
            for &near in self.neighbours(chip) {
                if !reached.contains(&near) && !path.contains(&near) {
                    reached.push(near);
                }
            }
            at += 1;
        }
        reached
    }

    /// Returns the link that the longest path lacks.
    fn gap(&self, best: &[usize]) -> Missing {
        let path = self.named(best);
        let next = self.chips.iter().find(|chip| !path.contains(chip)).or(path.first());
        match (path.last(), next) {
            (Some(&from), Some(&to)) => Missing::Edge { from, to, path },
            // There are no chips to put in order.
            _ => Missing::Parted(path, self.chips.clone()),
        }
    }
}

struct PathSearch<'a> {
    graph: &'a Graph,
    ring: bool,
    budget: u32,
    /// The longest path so far; whole (a ring: also closed) if the search was successful.
    best: Vec<usize>,
}

impl PathSearch<'_> {
    fn done(&self) -> bool {
        self.budget == 0 || self.graph.is_order(&self.best, self.ring)
    }

    fn extend(&mut self, path: &mut Vec<usize>) {
        if self.done() {
            return;
        }
        self.budget -= 1;
        let whole = path.len() == self.graph.chips.len();
        if path.len() > self.best.len() || whole && self.graph.is_order(path, self.ring) {
            self.best.clone_from(path);
        }
        if whole || !self.can_be_finished(path) {
            return;
        }
        for next in self.next_chips(path) {
            path.push(next);
            self.extend(path);
            path.pop();
        }
    }

    /// Returns the possible next chips, those with the fewest free neighbours first: visited late,
    /// they might be unreachable.
    fn next_chips(&self, path: &[usize]) -> Vec<usize> {
        let free = |&&chip: &&usize| !path.contains(&chip);
        let Some(&last) = path.last() else { return Vec::new() };
        let mut next: Vec<usize> =
            self.graph.neighbours(last).iter().filter(free).copied().collect();
        next.sort_by_key(|&chip| self.graph.neighbours(chip).iter().filter(free).count());
        next
    }

    /// Returns true if every remaining chip can be entered and, except the last, left again.
    fn can_be_finished(&self, path: &[usize]) -> bool {
        let (Some(&first), Some((&last, before))) = (path.first(), path.split_last()) else {
            return false;
        };
        let left = self.graph.chips.len() - path.len();
        if self.graph.reached(last, before).len() != left + 1 {
            return false;
        }
        let open = |chip: usize| !path.contains(&chip);
        let links = |chip: usize| {
            let near = self.graph.neighbours(chip).iter();
            near.filter(|&&near| open(near) || near == last || self.ring && near == first).count()
        };
        let ends =
            (0..self.graph.chips.len()).filter(|&chip| open(chip) && links(chip) < 2).count();
        // If one chip remains for a ring of two, one link is enough, there and back.
        ends <= usize::from(!self.ring || path.len() == 1 && left == 1)
    }
}
