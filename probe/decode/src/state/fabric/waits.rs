//! The wait graph: waits, roots and cycles.

mod tree;
mod words;

pub use tree::WaitLine;

use layouts::{CoreId, EthId};
use machine::fabric::Direction;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// A party that waits, or is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Party {
    /// The n-th connection of a kernel.
    Client(CoreId, u8),
    /// A channel of a mux.
    MuxChannel(CoreId, u8),
    /// A mux.
    Mux(CoreId),
    /// A sender channel of a router.
    Sender(EthId, u8),
    /// A receiver channel of a router.
    Receiver(EthId, u8),
    /// A router.
    Router(EthId),
    /// The link of a router.
    Link(EthId),
    /// The NoC, as a router uses it.
    Noc(EthId),
    /// A core and the kernel on it.
    Core(CoreId),
    /// A channel of an EDM.
    Channel(EthId, u8),
    /// The host that brings the fabric up.
    Host,
}

/// The thing that a party waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitReason {
    /// A free slot of a channel.
    Slot,
    /// An answer to its close.
    Teardown,
    /// `READY_FOR_TRAFFIC`.
    Ready,
    /// Its turn: the mux waits for another channel.
    Turn,
    /// A free slot of the peer's receiver channel.
    Credit,
    /// Completions of packets that it sent.
    Completion,
    /// A free slot of the router downstream in a direction.
    Downstream(Direction),
    /// The NoC to take a packet.
    Noc,
    /// The link to take or bring packets.
    Link,
    /// The peer's identity.
    Handshake,
    /// Other routers of the chip.
    LocalSync,
    /// The signal to begin.
    Begin,
    /// The peer to drain.
    Leave,
    /// Other clients of the mux that it ends.
    Clients,
    /// One of its channels to drain.
    Drain,
    /// Its router to run.
    Router,
    /// The next message.
    Message,
    /// A free buffer.
    Buffer,
    /// A message to be read.
    Read,
    /// Pages of a circular buffer, from any processor of its tile.
    Pages,
    /// Room in a circular buffer, from any processor of its tile.
    Room,
    /// A signal of its partner.
    Signal,
    /// The sibling on its chip.
    Sibling,
    /// Cores to report that they are done.
    Done,
    /// The core to execute its kernel.
    Core,
}

impl WaitReason {
    /// Whether any one of the parties that are waited for can end the wait; else all must act.
    pub fn is_any(self) -> bool {
        matches!(self, Self::Pages | Self::Room)
    }
}

/// A wait of one party for another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The waiting party.
    pub waiter: Party,
    /// The party waited for.
    pub on: Party,
    /// The thing waited for.
    pub reason: WaitReason,
    /// The progress count of `who`: unchanged if it has not moved.
    pub mark: u64,
}

/// The loop of a serving router makes many passes in this many cycles, even if base firmware has
/// the core now and then.
const STANDSTILL_CYCLES: u64 = 20_000;

/// The wait graph of one snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// The target's time when the snapshot began, in device cycles.
    pub cycles: u64,
    /// All waits, by waiting party.
    pub all: Vec<Wait>,
    /// Problems of parties that are waited for.
    pub notes: BTreeMap<Party, String>,
    /// Loop passes of each router that should serve.
    pub turns: BTreeMap<Party, u64>,
    /// Routers whose loop has not turned since an earlier snapshot, even if no party waits for
    /// them. Empty in a single snapshot.
    pub still: BTreeSet<Party>,
}

impl Waits {
    /// Returns the waits that have lasted since an earlier snapshot without progress, and the
    /// routers whose loop has not turned since.
    #[must_use]
    pub fn lasting(&self, before: &Self) -> Self {
        let same = |wait: &&Wait| before.all.contains(wait);
        let apart = self.cycles.saturating_sub(before.cycles);
        let unmoved = |(party, turns): &(&Party, &u64)| before.turns.get(*party) == Some(*turns);
        let still = self.turns.iter().filter(|_| apart >= STANDSTILL_CYCLES).filter(unmoved);
        let still: BTreeSet<Party> = still.map(|(party, _)| *party).collect();
        let mut lasting = self.clone();
        lasting.all = self.all.iter().filter(same).cloned().collect();
        for party in &still {
            lasting
                .notes
                .entry(*party)
                .or_insert_with(|| format!("its loop has not turned for {apart} cycles"));
        }
        Self { still, ..lasting }
    }

    /// Returns the waits of a party.
    pub fn of(&self, who: Party) -> impl Iterator<Item = &Wait> {
        self.all.iter().filter(move |wait| wait.waiter == who)
    }

    /// Returns the waits for a party.
    pub fn on(&self, on: Party) -> impl Iterator<Item = &Wait> {
        self.all.iter().filter(move |wait| wait.on == on)
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
}

impl Waits {
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
    use layouts::ChipId;

    fn sender(chip: u16) -> Party {
        Party::Sender(EthId { chip: ChipId(chip), channel: 8 }, 1)
    }

    fn wait(who: Party, on: Party, mark: u64) -> Wait {
        Wait { waiter: who, on, reason: WaitReason::Slot, mark }
    }

    #[test]
    fn who_waits_for_any_of_several_is_freed_by_one() {
        let [a, b, c] = [0, 1, 2].map(sender);
        let pages = |who, on| Wait { reason: WaitReason::Pages, ..wait(who, on, 7) };
        let cycles = |all: Vec<Wait>| Waits { all, ..Waits::default() }.cycles();
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
        let waits = Waits {
            all: all.iter().map(|(who, on)| wait(*who, *on, 7)).collect(),
            ..Waits::default()
        };
        assert_eq!(waits.cycles(), [[b, c, d]]);
        assert_eq!(waits.roots(), [Party::Host]);
        // The cycle, its waiter, the host, and its waiter: each party once.
        let lines: Vec<_> = waits.tree().into_iter().map(|l| (l.depth, l.who, l.again)).collect();
        let expected = [(0, b), (1, e), (0, c), (0, d), (0, Party::Host), (1, a)];
        assert_eq!(lines, expected.map(|(depth, who)| (depth, who, false)));
        let mut later = waits.clone();
        later.all[2].mark = 8;
        let lasting = later.lasting(&waits);
        assert_eq!(lasting.all.len(), 4);
        assert!(lasting.cycles().is_empty());
        assert_eq!(lasting.roots(), [c, Party::Host]);
    }
}
