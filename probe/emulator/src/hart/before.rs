//! What is kept of harts that run ahead ([`super::ahead`]), to return them to where they were.

use super::burst::Replaced;
use super::core::Hart;

/// Longest time to run ahead, in cycles.
const LONGEST: u64 = 1024;
/// Shortest time to run ahead: less does not pay for keeping the registers.
pub(super) const SHORTEST: u64 = 64;
/// Most stores that are kept.
const MOST_STORES: usize = 1024;
/// Most runs without running ahead, after attempts that gained little.
const MOST_SKIPPED: u32 = 64;

/// What a group needs to undo the instructions that it executed ahead.
#[derive(Debug, Clone)]
pub(crate) struct Ahead {
    /// The cycle from which harts ran ahead.
    pub(super) from: u64,
    /// Empty if none did.
    pub(super) harts: Vec<HartBefore>,
    pub(super) stores: Stores,
    /// The cycles of the next attempt.
    pub(super) span: u64,
    /// Runs to skip now, and after the next attempt that gains little.
    pub(super) skip: u32,
    skip_next: u32,
}

/// A hart before it ran ahead.
#[derive(Debug, Clone)]
pub(super) struct HartBefore {
    pub(super) hart: usize,
    pub(super) pc: u32,
    pub(super) at: u64,
    pub(super) retired: u64,
    pub(super) regs: [u32; 32],
}

/// Bytes replaced by a store.
#[derive(Debug, Clone, Copy)]
pub(super) struct OldBytes {
    pub(super) addr: u32,
    pub(super) old: u32,
    pub(super) bytes: u8,
    pub(super) hart: u8,
}

/// Bytes replaced by stores, oldest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Stores(pub(super) Vec<OldBytes>);

impl Replaced for Stores {
    #[inline]
    fn keep(&mut self, hart: u8, addr: u32, bytes: u8, old: u32) -> bool {
        let room = self.0.len() < MOST_STORES;
        if room {
            self.0.push(OldBytes { addr, old, bytes, hart });
        }
        room
    }
}

impl Default for Ahead {
    fn default() -> Self {
        let (harts, stores) = (Vec::new(), Stores::default());
        Self { from: 0, harts, stores, span: SHORTEST, skip: 0, skip_next: 1 }
    }
}

impl Ahead {
    /// Makes the instructions executed ahead final.
    pub(super) fn keep(&mut self) {
        self.harts.clear();
        self.stores.0.clear();
    }

    /// Adapts the next attempt to the cycles gained by this one.
    pub(super) fn adapt(&mut self, gained: u64) {
        if gained >= SHORTEST.min(self.span) {
            self.span = (2 * self.span).min(LONGEST);
            self.skip_next = 1;
        } else {
            self.skip = self.skip_next;
            self.skip_next = (2 * self.skip_next).min(MOST_SKIPPED);
        }
    }

    /// Makes the next attempt shorter and later, after one that was undone.
    pub(super) fn shrink(&mut self) {
        self.span = (self.span / 2).max(SHORTEST);
        self.skip = self.skip_next;
    }
}

impl HartBefore {
    pub(super) fn new(index: usize, hart: &Hart) -> Self {
        let mut regs = [0; 32];
        regs.copy_from_slice(&hart.regs[..32]);
        Self { hart: index, pc: hart.pc, at: hart.at, retired: hart.retired, regs }
    }
}
