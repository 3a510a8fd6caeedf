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
use super::record::Record;
use super::search::Search;
use super::step::Touched;
use super::stride::Strided;
use super::{Nature, Stored};
use crate::memory::{LINE_BYTES, TileMemory};

/// Shortest pause between two observations of a hart, in instructions.
const SHORTEST_PAUSE: u64 = 64;
/// Longest pause, so that a hart that starts to wait after long work is found within some microseconds of host time.
const LONGEST_PAUSE: u64 = 16384;
/// A hart that fails to sleep again and again spends at most this part of its instructions under observation.
const PAUSE_PER_OBSERVED: u64 = 64;

/// A step without result. Slots are 32 registers, then the words of private RAM.
pub(crate) const NO_SLOT: u16 = u16::MAX;
/// The first slot of private RAM.
pub(crate) const FIRST_LOCAL: u16 = 32;

/// How a running hart is being executed.
#[derive(Debug, Clone)]
pub(crate) enum Mode {
    /// By the fast loop, until its next observation is due.
    Plain,
    Search(Box<Search>),
    Record(Box<Record>),
    Sleep(Box<Sleep>),
}

/// When a hart is to be observed next.
#[derive(Debug, Clone)]
pub(crate) struct Pace {
    pub(crate) next: u64,
    pause: u64,
}

impl Pace {
    /// For a hart that starts or wakes at a cycle: it likely comes back to a loop soon.
    pub(crate) fn from(cycle: u64) -> Self {
        Self { next: cycle + SHORTEST_PAUSE, pause: SHORTEST_PAUSE }
    }

    /// After an observation in vain.
    fn later(&mut self, cycle: u64, observed: u64) {
        // Patient with the first failures: the hart may still be on its way into the loop.
        let per_observed = (self.pause / 16).min(PAUSE_PER_OBSERVED);
        self.next = cycle + self.pause.max(observed * per_observed);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }
}

/// What one instruction of a loop leaves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) pc: u32,
    pub(crate) slot: u16,
    pub(crate) result: Strided,
}

/// A proved loop, not executed.
#[derive(Debug, Clone)]
pub(crate) struct Sleep {
    /// When iteration 0, the recorded one, began.
    pub(crate) start: u64,
    pub(crate) period: u64,
    /// All slots that the loop has to do with, as they were then.
    pub(crate) initial: Vec<(u16, Strided)>,
    pub(crate) steps: Vec<Step>,
    /// The cycle at which it must be executed again, `u64::MAX` for never.
    pub(crate) until: u64,
    /// When it fell asleep.
    pub(crate) since: u64,
    /// Whether it read devices.
    pub(crate) devices: bool,
}

impl Sleep {
    /// Where the loop begins.
    pub(crate) fn head(&self) -> Option<u32> {
        self.steps.first().map(|step| step.pc)
    }

    /// Iteration and step that are due at a cycle.
    fn position(&self, cycle: u64) -> (u64, usize) {
        let passed = cycle - self.start;
        (passed / self.period, (passed % self.period) as usize)
    }

    /// Instructions skipped so far.
    pub(crate) fn slept(&self, cycle: u64) -> u64 {
        cycle - self.since
    }

    /// The pc at a cycle.
    pub(crate) fn pc(&self, cycle: u64) -> u32 {
        self.steps.get(self.position(cycle).1).map_or(0, |step| step.pc)
    }

    /// Registers and private RAM at a cycle, handed over slot by slot; a later value of a slot replaces an earlier one.
    pub(crate) fn state(&self, cycle: u64, mut put: impl FnMut(u16, u32)) {
        let (iteration, done) = self.position(cycle);
        for (slot, value) in &self.initial {
            put(*slot, value.at(iteration));
        }
        for step in self.steps.iter().take(done).filter(|step| step.slot != NO_SLOT) {
            put(step.slot, step.result.at(iteration));
        }
    }
}

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

/// Whether an instruction did something that a skipped iteration would have to repeat.
pub(crate) fn has_effect(touched: Touched) -> bool {
    match touched {
        Touched::L1Store { changed, .. } => changed,
        Touched::DeviceStore { stored } => stored != Stored::Same,
        Touched::DeviceLoad { nature } => nature == Nature::Volatile,
        Touched::CsrChanged => true,
        Touched::Nothing
        | Touched::LocalLoad { .. }
        | Touched::LocalStore { .. }
        | Touched::L1Load { .. } => false,
    }
}
