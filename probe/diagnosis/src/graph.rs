//! The wait graph: who waits for whom, all-of and any-of; its roots, its cycles, and the chain that
//! leads to a party. Verdicts and `fabric waits` start from it.

mod tree;

pub use tree::WaitLine;

use crate::finding::Step;
use crate::kernels;
use crate::look::Look;
use decode::state::{Party, Wait, WaitReason, Waits};
use machine::target::Mesh;
use machine::words::cycles;
use petgraph::Direction::Incoming;
use petgraph::graphmap::DiGraphMap;
use petgraph::visit::{Bfs, EdgeRef, Reversed};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

/// The loop of a serving router makes many passes in this many cycles, even if base firmware has
/// the core now and then.
const STANDSTILL_CYCLES: u64 = 20_000;

/// The wait graph of one snapshot, or of what lasts over several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitGraph {
    pub(crate) waits: Waits,
    /// Parties that should turn and have not since an earlier snapshot, even if no party waits for
    /// them. Empty in a single snapshot.
    pub still: BTreeSet<Party>,
}

impl Deref for WaitGraph {
    type Target = Waits;

    fn deref(&self) -> &Waits {
        &self.waits
    }
}

impl From<&Waits> for WaitGraph {
    fn from(waits: &Waits) -> Self {
        Self { waits: waits.clone(), still: BTreeSet::new() }
    }
}

impl WaitGraph {
    /// Returns the graph of a snapshot: the waits of the fabric, and those of all other kernels.
    pub fn of(mesh: &Mesh, look: Look<'_>) -> Self {
        Self { waits: kernels::waits(mesh, look), still: BTreeSet::new() }
    }

    /// Returns the part of it in which parties of a fabric wait.
    #[must_use]
    pub fn of_fabric(mut self) -> Self {
        let is_of_fabric = |party: Party| !matches!(party, Party::Core(_) | Party::Channel(..));
        self.waits.all.retain(|wait| is_of_fabric(wait.waiter));
        self.still.retain(|party| is_of_fabric(*party));
        self
    }

    /// Returns the waits that have lasted since an earlier snapshot without progress, and the
    /// routers whose loop has not turned since.
    #[must_use]
    pub fn lasting(&self, before: &Self) -> Self {
        let same = |wait: &&Wait| before.all.contains(wait);
        let apart = self.cycles.saturating_sub(before.cycles);
        let unmoved = |(party, turns): &(&Party, &u64)| before.turns.get(*party) == Some(*turns);
        let still = self.turns.iter().filter(|_| apart >= STANDSTILL_CYCLES).filter(unmoved);
        let still: BTreeSet<Party> = still.map(|(party, _)| *party).collect();
        let mut lasting = self.waits.clone();
        lasting.all = self.all.iter().filter(same).cloned().collect();
        for party in &still {
            lasting
                .notes
                .entry(*party)
                .or_insert_with(|| format!("its loop has not turned for {}", cycles(apart)));
        }
        Self { waits: lasting, still }
    }

    /// Returns the parties that are waited for, or whose loop does not turn, and that do not wait:
    /// the likely causes.
    pub fn roots(&self) -> Vec<Party> {
        let waiting: BTreeSet<_> = self.all.iter().map(|wait| wait.waiter).collect();
        let mut on: BTreeSet<_> = self.all.iter().map(|wait| wait.on).collect();
        on.extend(&self.still);
        on.difference(&waiting).copied().collect()
    }

    /// Returns disjoint cycles of waiting parties, each with its least party first: a deadlock, if
    /// it lasts.
    pub fn cycles(&self) -> Vec<Vec<Party>> {
        let mut on = self.blocked();
        let mut left: BTreeSet<_> = on.keys().copied().collect();
        let mut cycles = Vec::new();
        while let Some(start) = left.pop_first() {
            if let Some(cycle) = shortest_cycle(&on, start) {
                left.retain(|party| !cycle.contains(party));
                on.retain(|party, _| !cycle.contains(party));
                cycles.push(cycle);
            }
        }
        cycles
    }
    /// Returns the parties that no party outside of them can free, each with those of them that it
    /// waits for. Who waits for any of several is free if one of them is.
    fn blocked(&self) -> BTreeMap<Party, Vec<Party>> {
        let mut waiting: BTreeMap<Party, Vec<&Wait>> = BTreeMap::new();
        for wait in &self.all {
            waiting.entry(wait.waiter).or_default().push(wait);
        }
        loop {
            let is_blocked = |waits: &Vec<&Wait>| {
                let (any, all): (Vec<&Wait>, Vec<&Wait>) =
                    waits.iter().partition(|wait| wait.reason.is_any());
                all.iter().any(|wait| waiting.contains_key(&wait.on))
                    || !any.is_empty() && any.iter().all(|wait| waiting.contains_key(&wait.on))
            };
            let free: Vec<Party> = waiting
                .iter()
                .filter(|(_, waits)| !is_blocked(waits))
                .map(|(party, _)| *party)
                .collect();
            if free.is_empty() {
                break;
            }
            waiting.retain(|party, _| !free.contains(party));
        }
        let within = |wait: &&Wait| waiting.contains_key(&wait.on).then_some(wait.on);
        let blocked = waiting.iter();
        blocked.map(|(party, waits)| (*party, waits.iter().filter_map(within).collect())).collect()
    }

    /// Returns the number of parties that wait for this one, directly or through others.
    pub(crate) fn dependants(&self, on: Party) -> usize {
        self.steps(on).len()
    }

    /// Returns the parties that wait for a party, directly or through others.
    pub(crate) fn waiters(&self, on: Party) -> Vec<Party> {
        self.steps(on).into_keys().collect()
    }

    /// Returns the longest shortest chain of waits that ends at a party, the symptom first.
    pub(crate) fn chain(&self, on: Party) -> Vec<Step> {
        let steps = self.steps(on);
        let mut longest = Vec::new();
        for start in steps.keys() {
            let mut chain = Vec::new();
            let mut at = *start;
            while let Some(step) = steps.get(&at).filter(|_| chain.len() <= steps.len()) {
                chain.push(*step);
                at = step.on;
            }
            if chain.len() > longest.len() {
                longest = chain;
            }
        }
        longest
    }

    /// Returns the first step of each party that waits for this one.
    fn steps(&self, on: Party) -> BTreeMap<Party, Step> {
        let mut steps = BTreeMap::new();
        let edges = self.all.iter().map(|wait| (wait.waiter, wait.on, wait.reason));
        let edges: DiGraphMap<Party, WaitReason> = DiGraphMap::from_edges(edges);
        if !edges.contains_node(on) {
            return steps;
        }
        let mut search = Bfs::new(Reversed(&edges), on);
        while let Some(at) = search.next(Reversed(&edges)) {
            for edge in edges.edges_directed(at, Incoming) {
                let step = Step { waiter: edge.source(), reason: *edge.weight(), on: at };
                if step.waiter != on {
                    steps.entry(step.waiter).or_insert(step);
                }
            }
        }
        steps
    }
}

/// Returns the shortest cycle through a party.
fn shortest_cycle(on: &BTreeMap<Party, Vec<Party>>, start: Party) -> Option<Vec<Party>> {
    let mut from: BTreeMap<Party, Party> = BTreeMap::new();
    let mut next = vec![start];
    while !next.is_empty() {
        let mut found = Vec::new();
        for who in next {
            for &party in on.get(&who).into_iter().flatten() {
                if party == start {
                    return Some(path(&from, start, who));
                }
                if let Entry::Vacant(entry) = from.entry(party) {
                    entry.insert(who);
                    found.push(party);
                }
            }
        }
        next = found;
    }
    None
}

/// Returns the path from start to end; `from` maps each party to its predecessor.
fn path(from: &BTreeMap<Party, Party>, start: Party, end: Party) -> Vec<Party> {
    let mut path = vec![end];
    let mut at = end;
    while let Some(before) = from.get(&at).filter(|_| at != start) {
        path.push(*before);
        at = *before;
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use layouts::{ChipId, EthId};

    fn sender(chip: u16) -> Party {
        Party::Sender(EthId { chip: ChipId(chip), channel: 8 }, 1)
    }

    fn wait(who: Party, on: Party, mark: u64) -> Wait {
        Wait { waiter: who, on, reason: WaitReason::Slot, mark }
    }

    fn graph(all: Vec<Wait>) -> WaitGraph {
        WaitGraph::from(&Waits { all, ..Waits::default() })
    }

    #[test]
    fn who_waits_for_any_of_several_is_freed_by_one() {
        let [a, b, c] = [0, 1, 2].map(sender);
        let pages = |who, on| Wait { reason: WaitReason::Pages, ..wait(who, on, 7) };
        let cycles = |all: Vec<Wait>| graph(all).cycles();
        // b alone could free a, and waits for it: but c could as well.
        assert!(cycles(vec![pages(a, b), pages(a, c), wait(b, a, 7)]).is_empty());
        assert_eq!(cycles(vec![pages(a, b), pages(a, c), wait(b, a, 7), wait(c, a, 7)]).len(), 1);
        assert_eq!(cycles(vec![wait(a, b, 7), wait(a, c, 7), wait(b, a, 7)]), [[a, b]]);
    }

    #[test]
    fn circles_and_roots_are_found_and_what_moves_is_no_wait() {
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(sender);
        // e waits for the cycle of b, c and d; a waits for the host.
        let all = [(a, Party::Host), (b, c), (c, d), (d, b), (e, b)];
        let waits = graph(all.iter().map(|(who, on)| wait(*who, *on, 7)).collect());
        assert_eq!(waits.cycles(), [[b, c, d]]);
        assert_eq!(waits.roots(), [Party::Host]);
        // The cycle, its waiter, the host, and its waiter: each party once.
        let lines: Vec<_> = waits.tree().into_iter().map(|l| (l.depth, l.who, l.again)).collect();
        let expected = [(0, b), (1, e), (0, c), (0, d), (0, Party::Host), (1, a)];
        assert_eq!(lines, expected.map(|(depth, who)| (depth, who, false)));
        let mut later = waits.clone();
        later.waits.all[2].mark = 8;
        let lasting = later.lasting(&waits);
        assert_eq!(lasting.all.len(), 4);
        assert!(lasting.cycles().is_empty());
        assert_eq!(lasting.roots(), [c, Party::Host]);
    }
}
