//! Loops without effect: found, proved over one iteration, then skipped until something they depend on changes.
//!
//! Now and then a running hart is observed. The *search* ([`super::search`]) executes it until its pc comes back and registers
//! and private RAM have moved twice by the same amounts: that names a period, and a stride for every register and every word
//! of private RAM (zero for most; the clock readings of a polling loop and its counters have others). The *recording*
//! ([`super::record`]) executes one more period and proves it: every result is again strided, every branch keeps its outcome
//! for a known number of iterations, every load reads something that is watched or private or a clock, every store outside
//! private RAM stores what is there already. Then the state in iteration n is known arithmetically, and the hart *sleeps*
//! until a watched line changes, a device says that it changed, or the first iteration whose path is not proved.
//!
//! Instructions have the same effect in all modes; when a hart is observed is a heuristic that nothing depends on.

use super::core::{Hart, State};
use super::mode::{FIRST_LOCAL, Mode, Pace, Record, Search};
use crate::memory::{LINE_BYTES, TileMemory};

impl Hart {
    /// Starts an observation.
    pub(crate) fn observe(&mut self) {
        self.mode = Mode::Search(Box::new(Search::new(self)));
        self.record_again();
    }

    /// Back at the head of the loop that it slept in last, the hart is taken to repeat it, which is then to be proved.
    /// Says whether that is so.
    pub(crate) fn record_again(&mut self) -> bool {
        if self.last.as_ref().and_then(|last| last.head()) != Some(self.pc) {
            return false;
        }
        let record = self.last.take().map(|last| Record::again(*last, self));
        self.mode = record.map_or(Mode::Plain, |record| Mode::Record(Box::new(record)));
        true
    }

    /// Whether the hart is observed and may go on before `end`.
    pub(crate) fn observing(&self, end: u64) -> bool {
        self.at < end
            && self.state == State::Running
            && matches!(self.mode, Mode::Search(_) | Mode::Record(_))
    }

    /// Ends an observation because something outside changed.
    pub(crate) fn disturb(&mut self, memory: &mut TileMemory) {
        if matches!(self.mode, Mode::Search(_) | Mode::Record(_)) {
            self.pace = Pace::from(self.at);
            self.plain(memory);
        }
    }

    /// Ends sleep: the state becomes that of a cycle at or after the one in which the hart fell asleep.
    pub(crate) fn wake(&mut self, cycle: u64) {
        if let Mode::Sleep(sleep) = std::mem::replace(&mut self.mode, Mode::Plain) {
            self.pc = sleep.pc(cycle);
            sleep.state(cycle, |slot, value| self.put(slot, value));
            self.at = cycle;
            self.retired += sleep.slept(cycle);
            self.slept += sleep.slept(cycle);
            self.pace = Pace::from(cycle);
            self.last = Some(sleep);
        }
    }

    /// Back to the fast loop, watching nothing.
    pub(crate) fn plain(&mut self, memory: &mut TileMemory) {
        self.mode = Mode::Plain;
        self.unwatch(memory);
    }

    /// Ends all watches.
    pub(crate) fn unwatch(&mut self, memory: &mut TileMemory) {
        for line in self.watched.drain(..) {
            memory.unwatch(line, 1 << self.index);
        }
    }

    pub(crate) fn watch(&mut self, memory: &mut TileMemory, addr: u32) {
        if memory.watch(addr / LINE_BYTES, 1 << self.index) {
            self.watched.push(addr / LINE_BYTES);
        }
    }

    /// Ends an observation in vain.
    pub(crate) fn give_up(&mut self, memory: &mut TileMemory, observed: u64) {
        self.pace.later(self.at, observed);
        self.plain(memory);
    }

    /// The slot of private RAM that holds an address.
    pub(crate) fn local_slot(&self, addr: u32) -> Option<u16> {
        Some(FIRST_LOCAL + self.local_offset(addr)? as u16 / 4)
    }

    /// The content of a slot.
    pub(crate) fn slot(&self, slot: u16) -> u32 {
        match slot.checked_sub(FIRST_LOCAL) {
            None => self.regs[slot as usize],
            Some(word) => {
                let word = self.local.as_chunks::<4>().0.get(word as usize);
                word.map_or(0, |bytes| u32::from_le_bytes(*bytes))
            }
        }
    }

    fn put(&mut self, slot: u16, value: u32) {
        match slot.checked_sub(FIRST_LOCAL) {
            None => self.regs[slot as usize] = value,
            Some(word) => {
                if let Some(bytes) = self.local.as_chunks_mut::<4>().0.get_mut(word as usize) {
                    *bytes = value.to_le_bytes();
                }
            }
        }
    }
}
