//! Ticks: a hart that waits in a loop until a clock reaches a time, does the same little work, and
//! waits again. The heartbeat of firmware is such work: it counts a word of L1 up.
//!
//! A tick is a loop over the waiting loop. Sleep in the waiting loop ends at a known cycle; when two
//! such ends in sequence are equally far apart, the hart is observed over whole ticks like over any
//! loop ([`super::sleep`]). Ticks are for a hart that is alone in its tile.

use super::core::Hart;
use super::mode::{Mode, PeriodRecord, PeriodSearch, Sleep, slot_addr};
use crate::memory::TileMemory;
use std::ops::Range;

impl Hart {
    /// Observes the hart over its ticks, if a sleep that ended by the clock shows that it may have
    /// some. One that woke inside its last tick, and not from it, is likely to begin the next.
    pub(crate) fn observe_ticks(&mut self, memory: &TileMemory, from_tick: bool) {
        let period = self.ticks.period(self.at);
        let known = if from_tick { None } else { self.record_known(true, memory) };
        self.mode = match (known, period) {
            (Some(record), _) => Mode::Record(Box::new(record)),
            (None, Some(period)) => {
                Mode::Search(Box::new(PeriodSearch::new(self, true, Some(period))))
            }
            (None, None) => return,
        };
    }

    pub(crate) fn fall_asleep(&mut self, sleep: Sleep) {
        if sleep.tick {
            self.ticks.slept();
        } else {
            self.ticks.back(sleep.start);
        }
        self.mode = Mode::Sleep(Box::new(sleep));
    }

    /// Replaces bytes read at an L1 address by those that change while the hart sleeps.
    pub(crate) fn overlay_l1(&self, cycle: u64, addr: u32, bytes: &mut [u8]) {
        self.changed_l1(cycle, |word, value| {
            for (at, byte) in (word..).zip(value.to_le_bytes()) {
                let place = at.checked_sub(addr).and_then(|at| bytes.get_mut(at as usize));
                if let Some(place) = place {
                    *place = byte;
                }
            }
        });
    }

    /// Sets the words of L1 that change while the hart sleeps to their values at a cycle.
    pub(crate) fn update_l1(&self, memory: &mut TileMemory, cycle: u64) {
        self.changed_l1(cycle, |addr, value| memory.set_word(addr, value));
    }

    /// Whether the hart sleeps, or may fall asleep, in a loop that stores into L1.
    pub(crate) fn stores_asleep(&self) -> bool {
        let asleep = matches!(&self.mode, Mode::Sleep(sleep) if sleep.stores);
        asleep || self.recording().is_some_and(|record| record.stores)
    }

    /// Whether the hart sleeps, or may fall asleep, in a loop that changes L1 in a range of addresses.
    pub(crate) fn changes_asleep(&self, range: &Range<usize>) -> bool {
        let asleep = match &self.mode {
            Mode::Sleep(sleep) => &sleep.initial[..],
            _ => &[],
        };
        let recorded = self.recording().map_or(&[][..], |record| &record.initial);
        let words = asleep.iter().chain(recorded).filter_map(|(slot, _)| slot_addr(*slot));
        words.map(|addr| addr as usize).any(|addr| addr < range.end && range.start < addr + 4)
    }

    fn recording(&self) -> Option<&PeriodRecord> {
        match &self.mode {
            Mode::Record(record) => Some(record),
            Mode::Sleep(sleep) => sleep.outer.as_deref(),
            _ => None,
        }
    }

    /// Passes the addresses and values of words of L1 that change while the hart sleeps to `put`; a
    /// later value of a word replaces an earlier one.
    fn changed_l1(&self, cycle: u64, mut put: impl FnMut(u32, u32)) {
        if let Mode::Sleep(sleep) = &self.mode
            && !sleep.l1_stores.is_empty()
        {
            let (iteration, done) = sleep.position(cycle);
            let stores = sleep.l1_stores.iter().take_while(|step| (**step as usize) < done);
            let stores = stores.filter_map(|step| sleep.steps.get(*step as usize));
            let stores = stores.map(|step| (step.slot, step.result));
            for (slot, value) in sleep.initial.iter().copied().chain(stores) {
                if let Some(addr) = slot_addr(slot) {
                    put(addr, value.at(iteration));
                }
            }
        }
    }
}
