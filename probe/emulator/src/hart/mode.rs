//! The execution modes of a hart, and the data of each; see [`super::sleep`].

use super::steps::{LoopSteps, NO_SLOT};
use super::stride::Strided;
use super::{DeviceSet, LOCAL_BYTES};
use std::sync::Arc;

/// Shortest pause between two observations of a hart, in instructions.
const SHORTEST_PAUSE: u64 = 64;
/// Longest pause: a hart that starts to wait after long work is found within some microseconds of
/// host time.
const LONGEST_PAUSE: u64 = 16384;
/// A hart that repeatedly fails to sleep executes at most this fraction of its instructions under
/// observation.
const PAUSE_PER_OBSERVED: u64 = 64;

/// Longest tick, in instructions. Each step of the loop takes up to 16 bytes.
const LONGEST_TICK: u64 = 8192;
/// Longest time away from its loop that is expected again, in cycles.
const LONGEST_AWAY: u64 = 4096;
/// Most recordings of a known loop in vain, before it is forgotten.
pub(super) const MOST_RECORDS: u8 = 4;
/// Longest pause between two observations over ticks, in ticks.
const LONGEST_TICK_PAUSE: u32 = 1 << 10;

/// The first slot of private RAM.
pub(crate) const FIRST_LOCAL: u32 = 32;
/// The first slot of L1.
pub(crate) const FIRST_L1: u32 = FIRST_LOCAL + LOCAL_BYTES as u32 / 4;

/// Returns the slot of the L1 word that holds an address.
pub(crate) fn l1_slot(addr: u32) -> u32 {
    FIRST_L1 + addr / 4
}

/// Returns the L1 address of a slot, if it is in L1.
pub(crate) fn slot_addr(slot: u32) -> Option<u32> {
    if slot == NO_SLOT { None } else { slot.checked_sub(FIRST_L1)?.checked_mul(4) }
}

/// The execution mode of a running hart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The fast loop, until the next observation is due.
    Plain,
    Search(Box<PeriodSearch>),
    Record(Box<PeriodRecord>),
    Sleep(Box<Sleep>),
}

/// When to observe a hart next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ObservationPace {
    pub(crate) next: u64,
    pause: u64,
}

impl ObservationPace {
    /// Starts at the shortest pause, for a hart that starts or wakes: it is likely to return to a
    /// loop soon.
    pub(crate) fn from(cycle: u64) -> Self {
        Self { next: cycle + SHORTEST_PAUSE, pause: SHORTEST_PAUSE }
    }

    /// Schedules the next observation after one in vain.
    pub(super) fn later(&mut self, cycle: u64, observed: u64) {
        // The first failures extend the pause little: the hart may still be approaching the loop.
        let per_observed = (self.pause / 16).min(PAUSE_PER_OBSERVED);
        self.next = cycle + self.pause.max(observed * per_observed);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }
}

/// A hart executed in search of a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PeriodSearch {
    pub(super) head: u32,
    /// The expected period in cycles, if the hart is observed over its ticks.
    pub(super) tick: Option<u64>,
    /// Whether the hart is alone in its tile, so that its loop may change L1.
    pub(super) alone: bool,
    pub(super) visits: Vec<LoopVisit>,
    pub(super) words: Vec<PeriodWord>,
    pub(super) observed: u64,
    /// The count of observed instructions at which the search for this head ends.
    pub(super) end: u64,
}

impl PeriodSearch {
    /// Returns the size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let values = self.words.iter().map(|word| size_of_val(&word.values[..]));
        size_of::<Self>()
            + size_of_val(&self.visits[..])
            + size_of_val(&self.words[..])
            + values.sum::<usize>()
    }
}

/// Cycle and registers at one visit to the head of the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LoopVisit {
    pub(super) cycle: u64,
    pub(super) regs: [u32; 32],
}

/// A word that the hart stored into, with its value at each visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PeriodWord {
    pub(super) slot: u32,
    pub(super) values: Vec<u32>,
}

/// A hart executed for one period, with the known stride of every slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PeriodRecord {
    pub(super) head: u32,
    pub(super) start: u64,
    pub(super) period: u64,
    /// Whether the loop is a tick; see [`super::tick`].
    pub(super) tick: bool,
    /// The state at the start: all registers, then the words that the loop stores into.
    pub(super) initial: Vec<(u32, Strided)>,
    /// Present strides, in the same order.
    pub(super) strides: Vec<u32>,
    pub(super) steps: LoopSteps,
    /// The first iteration that is not verified.
    pub(super) bound: u64,
    /// The fewest cycles from a load to the end of the time for which the device gives its value.
    pub(super) stable: u64,
    /// The devices that it reads.
    pub(super) devices: DeviceSet,
    /// Whether the loop stores into L1.
    pub(super) stores: bool,
    /// The indices of the steps that change L1.
    pub(super) l1_stores: Vec<u32>,
    /// A loop inside a tick, of which one iteration is recorded at the same time.
    pub(super) inner: Option<Box<InnerRecord>>,
    /// The cycle of the end of the last one, which is not over yet.
    pub(super) resumed: u64,
}

/// The recording of a loop inside a tick; see [`super::inner`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InnerRecord {
    pub(super) record: PeriodRecord,
    /// The strides of the tick at its start.
    pub(super) strides: Vec<u32>,
}

impl PeriodRecord {
    /// Returns the size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&self.initial[..])
            + size_of_val(&self.strides[..])
            + size_of_val(&self.l1_stores[..])
            + self.steps.bytes()
            + self.inner.as_ref().map_or(0, |inner| inner.record.bytes())
    }
}

/// A verified loop that is not executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sleep {
    /// The cycle at which iteration 0, the recorded one, began.
    pub(crate) start: u64,
    pub(crate) period: u64,
    /// All slots that the loop uses, as of that cycle.
    pub(crate) initial: Vec<(u32, Strided)>,
    pub(crate) steps: Arc<LoopSteps>,
    /// The cycle at which the loop must be executed again, `u64::MAX` for never.
    pub(crate) until: u64,
    /// The cycle at which the hart fell asleep.
    pub(crate) since: u64,
    /// The devices that the loop reads.
    pub(crate) devices: DeviceSet,
    /// Whether the loop is a tick; see [`super::tick`].
    pub(crate) tick: bool,
    /// The indices of the steps that change L1.
    pub(crate) l1_stores: Vec<u32>,
    /// Whether the loop stores into L1, changing it or not.
    pub(crate) stores: bool,
    /// The recording of a tick that continues when the clock ends this sleep.
    pub(crate) outer: Option<Box<PeriodRecord>>,
}

impl Sleep {
    /// Returns the pc at which the loop begins.
    pub(crate) fn head(&self) -> Option<u32> {
        self.steps.get(0).map(|step| step.pc)
    }

    /// Makes the steps take less memory, if they can.
    pub(crate) fn compact(&mut self) {
        if !self.steps.is_compact() {
            self.steps = Arc::new(self.steps.compact());
        }
    }

    /// Returns the size in bytes without the steps.
    pub(crate) fn own_bytes(&self) -> usize {
        let outer = self.outer.as_ref().map_or(0, |outer| outer.bytes());
        let own = size_of_val(&self.initial[..]) + size_of_val(&self.l1_stores[..]);
        size_of::<Self>() + own + outer
    }

    /// Returns the iteration and step that are due at a cycle.
    pub(super) fn position(&self, cycle: u64) -> (u64, usize) {
        let passed = cycle - self.start;
        (passed / self.period, (passed % self.period) as usize)
    }

    /// Returns the number of instructions skipped so far.
    pub(crate) fn slept(&self, cycle: u64) -> u64 {
        cycle - self.since
    }

    /// Returns the pc at a cycle.
    pub(crate) fn pc(&self, cycle: u64) -> u32 {
        self.steps.get(self.position(cycle).1).map_or(0, |step| step.pc)
    }

    /// Passes the state at a cycle to `put`, slot by slot; a later value of a slot replaces an
    /// earlier one.
    pub(crate) fn state(&self, cycle: u64, mut put: impl FnMut(u32, u32)) {
        let (iteration, done) = self.position(cycle);
        for (slot, value) in &self.initial {
            put(*slot, value.at(iteration));
        }
        for step in self.steps.results(done) {
            put(step.slot, step.result.at(iteration));
        }
    }
}

/// A loop in which a hart slept, and to which it is likely to return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownLoop {
    pub(crate) sleep: Box<Sleep>,
    /// How often it was recorded again since.
    pub(super) records: u8,
}

/// What is known about the ticks of a hart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ticks {
    /// The cycle of the last end of a sleep by the clock.
    at: u64,
    /// The cycles between the last two.
    gap: u64,
    /// The number of ends since the hart was last observed over its ticks.
    ends: u32,
    /// How many there must be before it is observed again.
    pause: u32,
    /// The tick of the last sleep.
    pub(crate) last: Option<KnownLoop>,
    /// The cycle of the end of the last sleep over ticks, until the hart is back in its loop.
    left: Option<u64>,
    /// How long it was away last.
    away: u64,
}

impl Default for Ticks {
    fn default() -> Self {
        Self { at: 0, gap: 0, ends: 0, pause: 1, last: None, left: None, away: 0 }
    }
}

impl Ticks {
    /// Notes the end of a sleep by the clock; returns the period of the ticks if they are to be
    /// observed now.
    pub(super) fn period(&mut self, cycle: u64) -> Option<u64> {
        let gap = cycle - self.at;
        let equal = gap == self.gap;
        (self.at, self.gap) = (cycle, gap);
        self.ends += 1;
        if !equal || self.ends < self.pause || gap > LONGEST_TICK {
            return None;
        }
        self.ends = 0;
        self.pause = (2 * self.pause).min(LONGEST_TICK_PAUSE);
        Some(gap)
    }

    /// Notes that the hart sleeps over its ticks.
    pub(super) fn slept(&mut self) {
        self.pause = 1;
    }

    /// Notes the end of a sleep over ticks; returns when the hart is likely to be back in its loop.
    pub(super) fn leave(&mut self, cycle: u64) -> u64 {
        self.left = Some(cycle);
        cycle + self.away
    }

    /// Notes that the hart is in its loop.
    pub(super) fn back(&mut self, cycle: u64) {
        if let Some(left) = self.left.take() {
            // The next observation begins earlier: the loop may have begun before it was seen.
            self.away = (cycle - left).min(LONGEST_AWAY) * 3 / 4;
        }
    }
}
