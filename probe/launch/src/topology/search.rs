//! An order of chips in which each is a neighbour of the next, found depth first.

use super::error::Missing;
use super::rotate::rotate;
use layouts::ChipId;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

/// Steps after which the search gives up.
const BUDGET: u32 = 2_000;

/// Chips and who is whose neighbour, by index.
pub(super) struct Graph {
    chips: Vec<ChipId>,
    near: Vec<Vec<usize>>,
}

impl Graph {
    pub(super) fn new(chips: &[ChipId], joined: impl Fn(ChipId, ChipId) -> bool) -> Self {
        let of = |&a: &ChipId| {
            let others = chips.iter().enumerate().filter(|&(_, &b)| a != b && joined(a, b));
            others.map(|(index, _)| index).collect()
        };
        Self { chips: chips.to_vec(), near: chips.iter().map(of).collect() }
    }

    /// The chips in the order of a ring or line, as they were given if that is one.
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

    /// The shortest way between two of the chips.
    pub(super) fn shortest(&self, from: ChipId, to: ChipId) -> Option<Vec<ChipId>> {
        let index = |chip| self.chips.iter().position(|&c| c == chip);
        let (from, to) = (index(from)?, index(to)?);
        // From the end, so that the way can be read off forwards.
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
        let mut way = vec![from];
        let mut at = from;
        while at != to {
            at = *next.get(&at)?;
            way.push(at);
        }
        Some(self.named(&way))
    }

    fn named(&self, order: &[usize]) -> Vec<ChipId> {
        order.iter().filter_map(|&index| self.chips.get(index).copied()).collect()
    }

    fn neighbours(&self, of: usize) -> &[usize] {
        self.near.get(of).map_or(&[], Vec::as_slice)
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

    /// A reason that can be seen without a search.
    fn plain_reason(&self, ring: bool) -> Option<Missing> {
        let chips = || self.chips.iter().zip(&self.near);
        if let Some((&chip, _)) = chips().find(|(_, near)| near.is_empty()) {
            return Some(Missing::Alone(chip));
        }
        let reached = self.reached(0, &[]);
        if reached.len() < self.chips.len() {
            let (here, there): (Vec<usize>, Vec<usize>) =
                (0..self.chips.len()).partition(|index| reached.contains(index));
            return Some(Missing::Parted(self.named(&here), self.named(&there)));
        }
        if ring && self.chips.len() > 2 {
            let end = chips().find(|(_, near)| near.len() == 1);
            let end = end.and_then(|(&chip, near)| Some((chip, *self.chips.get(*near.first()?)?)));
            return end.map(|(chip, neighbour)| Missing::OneNeighbour(chip, neighbour));
        }
        None
    }

    /// Chips that can be reached from this one past those on the path.
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

    /// What the longest way lacks.
    fn gap(&self, best: &[usize]) -> Missing {
        let way = self.named(best);
        let next = self.chips.iter().find(|chip| !way.contains(chip)).or(way.first());
        match (way.last(), next) {
            (Some(&from), Some(&to)) => Missing::Edge { from, to, path: way },
            // Nobody was asked to stand in order: there are no chips.
            _ => Missing::Parted(way, self.chips.clone()),
        }
    }
}

struct PathSearch<'a> {
    graph: &'a Graph,
    ring: bool,
    budget: u32,
    /// The longest way so far; whole and closed if the search was successful.
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

    /// Where the path may go on, first to chips with the fewest ways onward: what is left late could not be entered any more.
    fn next_chips(&self, path: &[usize]) -> Vec<usize> {
        let free = |&&chip: &&usize| !path.contains(&chip);
        let Some(&last) = path.last() else { return Vec::new() };
        let mut ways: Vec<usize> =
            self.graph.neighbours(last).iter().filter(free).copied().collect();
        ways.sort_by_key(|&chip| self.graph.neighbours(chip).iter().filter(free).count());
        ways
    }

    /// Every chip that is left can be reached, and can be left again but for the last.
    fn can_be_finished(&self, path: &[usize]) -> bool {
        let (Some(&first), Some((&last, before))) = (path.first(), path.split_last()) else {
            return false;
        };
        let left = self.graph.chips.len() - path.len();
        if self.graph.reached(last, before).len() != left + 1 {
            return false;
        }
        let open = |chip: usize| !path.contains(&chip);
        let ways = |chip: usize| {
            let near = self.graph.neighbours(chip).iter();
            near.filter(|&&near| open(near) || near == last || self.ring && near == first).count()
        };
        let ends = (0..self.graph.chips.len()).filter(|&chip| open(chip) && ways(chip) < 2).count();
        // A ring's first and last chip may be one chip, and then one way back is enough.
        ends <= usize::from(!self.ring || path.len() == 1 && left == 1)
    }
}
