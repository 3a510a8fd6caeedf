//! Waits as trees: a party above those that wait for it.

use super::WaitGraph;
use decode::state::{Party, WaitReason};
use std::collections::BTreeSet;

/// A line of a wait tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitLine {
    /// Depth in the tree; 0 for a party that does not wait, or that is in a cycle.
    pub depth: usize,
    /// The party.
    pub who: Party,
    /// The thing it waits for from the party above; in a cycle, from `on`.
    pub reason: Option<WaitReason>,
    /// In a cycle, the party it waits for.
    pub on: Option<Party>,
    /// Whether an earlier line lists its waiters.
    pub again: bool,
}

impl WaitGraph {
    /// Returns the trees: cycles first, then each root, with all waiters.
    pub fn tree(&self) -> Vec<WaitLine> {
        let (listed, cycles) = (BTreeSet::new(), BTreeSet::new());
        let mut tree = Tree { waits: self, listed, cycles, lines: Vec::new() };
        for cycle in self.cycles() {
            tree.listed.extend(&cycle);
            let next = cycle.iter().cycle().skip(1);
            let pairs: Vec<_> = cycle.iter().copied().zip(next.copied()).collect();
            tree.cycles.extend(&pairs);
            for (who, on) in pairs {
                let reason = self.of(who).find(|wait| wait.on == on).map(|wait| wait.reason);
                tree.lines.push(WaitLine { depth: 0, who, reason, on: Some(on), again: false });
                tree.waiters(who, 1);
            }
        }
        for who in self.roots() {
            tree.listed.insert(who);
            tree.lines.push(WaitLine { depth: 0, who, reason: None, on: None, again: false });
            tree.waiters(who, 1);
        }
        tree.lines
    }
}

struct Tree<'a> {
    waits: &'a WaitGraph,
    listed: BTreeSet<Party>,
    /// Waits inside cycles, which have their own lines.
    cycles: BTreeSet<(Party, Party)>,
    lines: Vec<WaitLine>,
}

impl Tree<'_> {
    fn waiters(&mut self, on: Party, depth: usize) {
        for wait in self.waits.on(on) {
            if self.cycles.contains(&(wait.waiter, on)) {
                continue;
            }
            let again = !self.listed.insert(wait.waiter);
            let reason = Some(wait.reason);
            self.lines.push(WaitLine { depth, who: wait.waiter, reason, on: None, again });
            if !again {
                self.waiters(wait.waiter, depth + 1);
            }
        }
    }
}
