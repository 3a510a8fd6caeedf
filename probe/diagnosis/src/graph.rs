//! The lasting waits as a graph: who depends on a party, and the chain that leads there.

use crate::finding::Step;
use decode::state::{Party, Waits};
use petgraph::Direction::Incoming;
use petgraph::graphmap::DiGraphMap;
use petgraph::visit::{Bfs, EdgeRef, Reversed};
use std::collections::BTreeMap;

/// The lasting waits: an edge from each waiting party to the one it waits for.
pub(crate) struct Graph {
    edges: DiGraphMap<Party, decode::state::WaitReason>,
}

impl Graph {
    pub(crate) fn of(waits: &Waits) -> Self {
        let edges = waits.all.iter().map(|wait| (wait.waiter, wait.on, wait.reason));
        Self { edges: DiGraphMap::from_edges(edges) }
    }

    /// Returns the number of parties that wait for this one, directly or through others.
    pub(crate) fn dependants(&self, on: Party) -> usize {
        self.steps(on).len()
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
        if !self.edges.contains_node(on) {
            return steps;
        }
        let mut search = Bfs::new(Reversed(&self.edges), on);
        while let Some(at) = search.next(Reversed(&self.edges)) {
            for edge in self.edges.edges_directed(at, Incoming) {
                let step = Step { waiter: edge.source(), reason: *edge.weight(), on: at };
                if step.waiter != on {
                    steps.entry(step.waiter).or_insert(step);
                }
            }
        }
        steps
    }
}
