//! Sleep: a loop without effect is found, verified over one iteration, then skipped until something
//! it depends on changes.
//!
//! A running hart is observed at intervals. The *search* ([`super::search`]) executes it until its
//! pc returns, with registers and private RAM changed twice by the same amounts. The search yields
//! a period, and a stride for every register and every word of private RAM: zero for most, but not
//! for the clock readings and counters of a polling loop. The *recording* ([`super::record`])
//! executes one more period and verifies it. Every result must be strided again. Every branch must
//! keep its outcome for a known number of iterations. Every load must read something watched,
//! private RAM or a clock. Every store outside private RAM must store the value already present,
//! but words of L1 may be strided, too, where the hart is alone in its tile: nobody looks at them
//! in between, and [`super::HartGroup::run`] keeps them up to date while the hart sleeps.
//! The state in iteration n then follows by arithmetic, and the hart *sleeps* until a watched line
//! changes, a device signals a change, or the first iteration whose path is not verified.
//!
//! Instructions have the same effect in all modes. The choice of when to observe a hart is a
//! heuristic without effect on results.

use super::core::{Hart, State};
use super::mode::{
    FIRST_LOCAL, KnownLoop, MOST_RECORDS, Mode, ObservationPace, PeriodRecord, PeriodSearch,
    slot_addr,
};
use crate::memory::{LINE_BYTES, TileMemory};

impl Hart {
    /// Starts an observation of a hart that is `alone` in its tile or not.
    pub(crate) fn observe(&mut self, memory: &TileMemory, alone: bool) {
        self.mode = Mode::Search(Box::new(PeriodSearch::new(self, alone, None)));
        self.resume_recording(memory);
    }

    /// If the hart is back at the head of the loop it last slept in, starts a recording of that
    /// loop. Returns whether it did.
    pub(crate) fn resume_recording(&mut self, memory: &TileMemory) -> bool {
        let record = self.record_known(false, memory).map(|record| Mode::Record(Box::new(record)));
        record.map(|record| self.mode = record).is_some()
    }

    /// Returns a recording of the last loop, or the last tick, if the hart is back at its head.
    pub(super) fn record_known(&mut self, tick: bool, memory: &TileMemory) -> Option<PeriodRecord> {
        let (pc, last) = (self.pc, if tick { &mut self.ticks.last } else { &mut self.last });
        let mut known = last.take_if(|known| known.sleep.head() == Some(pc))?;
        let record = PeriodRecord::resume(&known.sleep, self, memory);
        known.records += 1;
        if known.records < MOST_RECORDS {
            *(if tick { &mut self.ticks.last } else { &mut self.last }) = Some(known);
        }
        Some(record)
    }

    /// Whether the hart is observed and may continue before `end`.
    pub(crate) fn observing(&self, end: u64) -> bool {
        self.at < end
            && self.state == State::Running
            && matches!(self.mode, Mode::Search(_) | Mode::Record(_))
    }

    /// Ends an observation because of a change from outside.
    pub(crate) fn disturb(&mut self, memory: &mut TileMemory) {
        if matches!(self.mode, Mode::Search(_) | Mode::Record(_)) {
            self.pace = ObservationPace::from(self.at);
            self.plain(memory);
        }
    }

    /// Ends sleep: sets the state to that of a cycle at or after the one in which the hart fell
    /// asleep. The recording of a tick around the loop continues if the clock ends the sleep.
    pub(crate) fn wake(&mut self, cycle: u64) {
        if let Mode::Sleep(mut sleep) = std::mem::replace(&mut self.mode, Mode::Plain) {
            self.pc = sleep.pc(cycle);
            sleep.state(cycle, |slot, value| self.put(slot, value));
            self.at = cycle;
            self.retired += sleep.slept(cycle);
            self.slept += sleep.slept(cycle);
            self.pace = ObservationPace::from(cycle);
            if sleep.tick && cycle == sleep.until {
                self.pace.next = self.pace.next.max(self.ticks.leave(cycle));
            }
            if let Some(mut outer) = sleep.outer.take().filter(|_| cycle == sleep.until) {
                outer.continue_after(&sleep);
                self.mode = Mode::Record(outer);
            }
            let last = if sleep.tick { &mut self.ticks.last } else { &mut self.last };
            *last = Some(KnownLoop { sleep, records: 0 });
        }
    }

    /// Returns the hart to the fast loop and drops its watches.
    pub(crate) fn plain(&mut self, memory: &mut TileMemory) {
        self.mode = Mode::Plain;
        self.unwatch(memory);
    }

    /// Drops all watches.
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

    /// Ends a failed observation. A hart with ticks is likely to be back in its loop soon.
    pub(crate) fn abandon(&mut self, memory: &mut TileMemory, observed: u64, tick: bool) {
        if tick {
            self.pace = ObservationPace::from(self.at);
        } else {
            self.pace.later(self.at, observed);
        }
        self.plain(memory);
    }

    /// Returns the slot of private RAM that holds an address.
    pub(crate) fn local_slot(&self, addr: u32) -> Option<u32> {
        Some(FIRST_LOCAL + self.local_offset(addr)? as u32 / 4)
    }

    /// Returns the content of a slot.
    pub(crate) fn slot(&self, slot: u32, memory: &TileMemory) -> u32 {
        match (slot.checked_sub(FIRST_LOCAL), slot_addr(slot)) {
            (None, _) => self.regs[slot as usize],
            (_, Some(addr)) => memory.read_u32(addr).unwrap_or(0),
            (Some(word), None) => {
                let word = self.local.as_chunks::<4>().0.get(word as usize);
                word.map_or(0, |bytes| u32::from_le_bytes(*bytes))
            }
        }
    }

    /// Undoes a store into private RAM.
    pub(super) fn put_back(&mut self, addr: u32, old: &[u8]) {
        let at = self.local_offset(addr);
        let room = at.and_then(|at| self.local_mut().get_mut(at..at + old.len()));
        if let Some(room) = room {
            room.copy_from_slice(old);
        }
    }

    /// Sets a register or a word of private RAM; [`HartGroup::run`](super::HartGroup::run) keeps
    /// L1 itself up to date.
    fn put(&mut self, slot: u32, value: u32) {
        match slot.checked_sub(FIRST_LOCAL) {
            None => self.regs[slot as usize] = value,
            Some(word) => {
                if let Some(bytes) = self.local_mut().as_chunks_mut::<4>().0.get_mut(word as usize)
                {
                    *bytes = value.to_le_bytes();
                }
            }
        }
    }
}
