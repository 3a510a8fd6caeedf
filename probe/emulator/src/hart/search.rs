//! The search for the period of a loop.
//!
//! The head of the loop is guessed: it is the pc at which the search begins. If that leads nowhere, because the search began
//! on the way into the loop or in a smaller loop inside, the present pc is the next guess, and is given twice the time.

use super::core::Hart;
use super::mode::{Mode, Record, Search, Visit, Word};
use super::step::Touched;
use super::stride::Strided;
use crate::memory::TileMemory;

/// Longest stretch observed, in instructions.
const LONGEST: u64 = 2048;
/// Time of the first guess of a head, in instructions.
const FIRST_SPAN: u64 = 64;
/// Most returns to one pc.
const MOST_VISITS: usize = 24;
/// Most words of private RAM that a loop may store into.
const MOST_WORDS: usize = 64;

impl Search {
    pub(crate) fn new(hart: &Hart) -> Self {
        Self {
            head: hart.pc,
            visits: vec![Visit::of(hart)],
            words: Vec::new(),
            observed: 0,
            end: FIRST_SPAN,
        }
    }

    /// Looks at one more instruction that has been executed.
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
            self.words.push(Word { slot, values: vec![old; self.visits.len()] });
        }
        let lost = touched.has_effect() || self.observed > LONGEST || self.words.len() > MOST_WORDS;
        if lost {
            hart.give_up(memory, self.observed);
        } else if hart.record_again() {
            // The search is over before it has found anything.
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
        self.visits.push(Visit::of(hart));
        self.words.clear();
        self.end = 2 * self.observed;
    }

    fn visit(&mut self, hart: &Hart) -> Option<Record> {
        self.visits.push(Visit::of(hart));
        for word in &mut self.words {
            word.values.push(hart.slot(word.slot));
        }
        self.period()
    }

    /// A period, once the last two stretches between visits moved everything by the same amounts.
    fn period(&self) -> Option<Record> {
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
        Some(Record::new(self.head, self.visits[c].cycle, period, initial?))
    }
}

impl Visit {
    fn of(hart: &Hart) -> Self {
        let mut regs = [0; 32];
        regs.copy_from_slice(&hart.regs[..32]);
        Self { cycle: hart.at, regs }
    }
}
