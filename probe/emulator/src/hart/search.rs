//! The search for the period of a loop.
//!
//! The search starts from a guess: the head of the loop is the pc at which the search begins. The
//! guess fails if the search began before the loop or in an inner loop. The present pc is then the
//! next guess, with twice the time.

use super::core::Hart;
use super::mode::{LoopVisit, Mode, PeriodRecord, PeriodSearch, PeriodWord, l1_slot};
use super::step::Touched;
use super::stride::Strided;
use crate::memory::TileMemory;

/// Longest search, in instructions.
const LONGEST: u64 = 2048;
/// Length of the search for the first guess, in instructions.
const FIRST_SPAN: u64 = 64;
/// Maximum number of returns to one pc.
const MOST_VISITS: usize = 24;
/// Maximum number of words of private RAM that a loop may store into.
const MOST_WORDS: usize = 64;

impl PeriodSearch {
    /// Starts a search for a hart that is `alone` in its tile or not; `tick` is the period in cycles
    /// of a search over ticks.
    pub(crate) fn new(hart: &Hart, alone: bool, tick: Option<u64>) -> Self {
        Self {
            head: hart.pc,
            tick,
            alone,
            visits: vec![LoopVisit::new(hart)],
            words: Vec::new(),
            observed: 0,
            end: FIRST_SPAN,
        }
    }

    /// Observes one executed instruction.
    pub(crate) fn follow(
        mut self: Box<Self>,
        hart: &mut Hart,
        touched: Touched,
        memory: &mut TileMemory,
    ) {
        self.observed += 1;
        if let Some((slot, old)) = self.stored(touched)
            && !self.words.iter().any(|word| word.slot == slot)
        {
            self.words.push(PeriodWord { slot, values: vec![old; self.visits.len()] });
        }
        if self.lost(touched, hart) {
            hart.abandon(memory, self.observed, self.tick.is_some());
        } else if self.tick.is_none() && hart.resume_recording(memory) {
            // The recording of the last loop replaces the search.
        } else if let Some(record) = self.at_head(hart).then(|| self.visit(hart, memory)).flatten()
        {
            hart.mode = Mode::Record(Box::new(record));
        } else if self.tick.is_some() {
            hart.mode = Mode::Search(self);
        } else {
            if self.observed >= self.end || self.visits.len() > MOST_VISITS {
                self.guess_again(hart);
            }
            hart.mode = Mode::Search(self);
        }
    }

    /// Returns the slot that the loop changes by a store, with its previous value.
    fn stored(&self, touched: Touched) -> Option<(u32, u32)> {
        match touched {
            Touched::LocalStore { slot, old } => Some((slot, old)),
            Touched::L1Store { addr, changed: true, old } if self.alone => {
                Some((l1_slot(addr), old))
            }
            _ => None,
        }
    }

    fn lost(&self, touched: Touched, hart: &Hart) -> bool {
        let own = self.alone && matches!(touched, Touched::L1Store { .. });
        let effect = !own && touched.has_effect();
        // Three visits that do not agree, or one at another pc.
        let missed = |period| {
            self.visits.len() > 2 || hart.at == self.next_visit(period) && hart.pc != self.head
        };
        let too_long = self.tick.map_or(self.observed > LONGEST, missed);
        effect || too_long || self.words.len() > MOST_WORDS
    }

    fn next_visit(&self, period: u64) -> u64 {
        self.visits[0].cycle + self.visits.len() as u64 * period
    }

    fn at_head(&self, hart: &Hart) -> bool {
        hart.pc == self.head && self.tick.is_none_or(|period| hart.at == self.next_visit(period))
    }

    fn guess_again(&mut self, hart: &Hart) {
        self.head = hart.pc;
        self.visits.clear();
        self.visits.push(LoopVisit::new(hart));
        self.words.clear();
        self.end = 2 * self.observed;
    }

    fn visit(&mut self, hart: &Hart, memory: &TileMemory) -> Option<PeriodRecord> {
        self.visits.push(LoopVisit::new(hart));
        for word in &mut self.words {
            word.values.push(hart.slot(word.slot, memory));
        }
        self.period()
    }

    /// Returns a period, once all slots changed by the same amounts between the last three visits.
    fn period(&self) -> Option<PeriodRecord> {
        let last = self.visits.len() - 1;
        if !last.is_multiple_of(2) {
            return None;
        }
        let [a, b, c] = [0, last / 2, last];
        let period = self.visits[c].cycle - self.visits[b].cycle;
        if self.visits[b].cycle - self.visits[a].cycle != period {
            return None;
        }
        let strided = |values: [u32; 3]| {
            let stride = values[2].wrapping_sub(values[1]);
            (values[1].wrapping_sub(values[0]) == stride)
                .then_some(Strided { value: values[2], stride })
        };
        let regs = (0..32u32)
            .map(|reg| (reg, [a, b, c].map(|visit| self.visits[visit].regs[reg as usize])));
        let words =
            self.words.iter().map(|word| (word.slot, [a, b, c].map(|visit| word.values[visit])));
        let initial: Option<Vec<_>> =
            regs.chain(words).map(|(slot, values)| Some((slot, strided(values)?))).collect();
        let start = self.visits[c].cycle;
        Some(PeriodRecord::new(self.head, start, period, self.tick.is_some(), initial?))
    }
}

impl LoopVisit {
    fn new(hart: &Hart) -> Self {
        let mut regs = [0; 32];
        regs.copy_from_slice(&hart.regs[..32]);
        Self { cycle: hart.at, regs }
    }
}
