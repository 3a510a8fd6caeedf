//! The search for the period of a loop.
//!
//! The search starts from a guess: the head of the loop is the pc at which the search begins. The
//! guess fails if the search began before the loop or in an inner loop. The present pc is then the
//! next guess, with twice the time.

use super::core::Hart;
use super::mode::{LoopVisit, Mode, PeriodRecord, PeriodSearch, PeriodWord};
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
    pub(crate) fn new(hart: &Hart) -> Self {
        Self {
            head: hart.pc,
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
        if let Touched::LocalStore { slot, old } = touched
            && !self.words.iter().any(|word| word.slot == slot)
        {
            self.words.push(PeriodWord { slot, values: vec![old; self.visits.len()] });
        }
        let lost = touched.has_effect() || self.observed > LONGEST || self.words.len() > MOST_WORDS;
        if lost {
            hart.abandon(memory, self.observed);
        } else if hart.resume_recording() {
            // The recording of the last loop replaces the search.
        } else if let Some(record) = (hart.pc == self.head).then(|| self.visit(hart)).flatten() {
            hart.mode = Mode::Record(Box::new(record));
        } else {
            if self.observed >= self.end || self.visits.len() > MOST_VISITS {
                self.guess_again(hart);
            }
            hart.mode = Mode::Search(self);
        }
    }

    fn guess_again(&mut self, hart: &Hart) {
        self.head = hart.pc;
        self.visits.clear();
        self.visits.push(LoopVisit::new(hart));
        self.words.clear();
        self.end = 2 * self.observed;
    }

    fn visit(&mut self, hart: &Hart) -> Option<PeriodRecord> {
        self.visits.push(LoopVisit::new(hart));
        for word in &mut self.words {
            word.values.push(hart.slot(word.slot));
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
        let regs = (0..32u16)
            .map(|reg| (reg, [a, b, c].map(|visit| self.visits[visit].regs[reg as usize])));
        let words =
            self.words.iter().map(|word| (word.slot, [a, b, c].map(|visit| word.values[visit])));
        let initial: Option<Vec<_>> =
            regs.chain(words).map(|(slot, values)| Some((slot, strided(values)?))).collect();
        Some(PeriodRecord::new(self.head, self.visits[c].cycle, period, initial?))
    }
}

impl LoopVisit {
    fn new(hart: &Hart) -> Self {
        let mut regs = [0; 32];
        regs.copy_from_slice(&hart.regs[..32]);
        Self { cycle: hart.at, regs }
    }
}
