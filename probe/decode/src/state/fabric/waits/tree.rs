//! Waits as trees: whoever is waited for stands above those who wait.

use super::{Party, WaitReason, Waits};
use std::collections::BTreeSet;

/// A line of such a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitLine {
    /// How many stand above; 0 for one who waits for nobody, or for one of a circle.
    pub depth: usize,
    /// Who it is.
    pub who: Party,
    /// What it waits for from the one above; in a circle, from `on`.
    pub reason: Option<WaitReason>,
    /// In a circle: for whom.
    pub on: Option<Party>,
    /// Its waiters have been told before.
    pub again: bool,
}

impl Waits {
    /// Circles first, then each one who is waited for and waits for nobody, with all who wait for them.
    pub fn tree(&self) -> Vec<WaitLine> {
        let (told, circles) = (BTreeSet::new(), BTreeSet::new());
        let mut tree = Tree { waits: self, told, circles, lines: Vec::new() };
        for cycle in self.cycles() {
            tree.told.extend(&cycle);
            let next = cycle.iter().cycle().skip(1);
            let pairs: Vec<_> = cycle.iter().copied().zip(next.copied()).collect();
            tree.circles.extend(&pairs);
            for (who, on) in pairs {
                let reason = self.of(who).find(|wait| wait.on == on).map(|wait| wait.reason);
                tree.lines.push(WaitLine { depth: 0, who, reason, on: Some(on), again: false });
                tree.waiters(who, 1);
            }
        }
        for who in self.roots() {
            tree.told.insert(who);
            tree.lines.push(WaitLine { depth: 0, who, reason: None, on: None, again: false });
            tree.waiters(who, 1);
        }
        tree.lines
    }
}

struct Tree<'a> {
    waits: &'a Waits,
    told: BTreeSet<Party>,
    /// Who waits for whom in a circle, which has its own lines.
    circles: BTreeSet<(Party, Party)>,
    lines: Vec<WaitLine>,
}

impl Tree<'_> {
    fn waiters(&mut self, on: Party, depth: usize) {
        for wait in self.waits.on(on) {
            if self.circles.contains(&(wait.who, on)) {
                continue;
            }
            let again = !self.told.insert(wait.who);
            let reason = Some(wait.reason);
            self.lines.push(WaitLine { depth, who: wait.who, reason, on: None, again });
            if !again {
                self.waiters(wait.who, depth + 1);
            }
        }
    }
}
