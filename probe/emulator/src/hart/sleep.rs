//! Loops without effect: found, proved over one iteration, then skipped until something they depend on changes.
//!
//! Now and then a running hart is observed. The *search* executes it until its pc comes back and registers and private RAM
//! have moved twice by the same amounts: that names a period, and a stride for every register and every word of private RAM
//! (zero for most; the clock readings of a polling loop and its counters have others). The *recording* executes one more
//! period and proves it: every result is again strided, every branch keeps its outcome for a known number of iterations, every
//! load reads something that is watched or private or a clock, every store outside private RAM stores what is there already.
//! Then the state in iteration n is known arithmetically, and the hart *sleeps* until a watched line changes, a device says
//! that it changed, or the first iteration whose path is not proved. The instructions are the same ones in all modes.

use super::core::{Hart, LOCAL_BYTES};
use super::decode::{self as d, Op};
use super::step::Touched;
use super::stride::{self, NEVER, Strided};
use super::{IRAM, Nature, Stored};
use crate::memory::{LINE_BYTES, TileMemory};

/// Shortest pause between two observations of a hart, in instructions.
const SHORTEST_PAUSE: u64 = 64;
/// A hart that does not sleep spends at most this part of its instructions under observation.
const PAUSE_PER_OBSERVED: u64 = 128;
/// Longest stretch observed in search of a period, in instructions.
const LONGEST_SEARCH: usize = 4096;
/// Most returns to one pc within a search.
const MOST_VISITS: usize = 24;
/// A sleep must be worth its recording.
const SHORTEST_SLEEP_CYCLES: u64 = 64;

/// A step without result. Slots are 32 registers, then the words of private RAM.
const NO_SLOT: u16 = u16::MAX;

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
    /// For a hart that starts at a cycle.
    pub(crate) fn from(cycle: u64) -> Self {
        Self { next: cycle + SHORTEST_PAUSE, pause: SHORTEST_PAUSE }
    }

    /// After sleep: the hart likely comes back to the same loop soon.
    fn soon(&mut self, cycle: u64) {
        *self = Self::from(cycle);
    }

    /// After an observation in vain.
    fn later(&mut self, cycle: u64, observed: u64) {
        self.next = cycle + self.pause;
        self.pause = (self.pause * 2).min((observed * PAUSE_PER_OBSERVED).max(SHORTEST_PAUSE));
    }
}

/// Registers and private RAM at one visit of the head of the loop.
#[derive(Debug, Clone)]
struct Visit {
    cycle: u64,
    slots: Vec<u32>,
}

impl Visit {
    fn of(hart: &Hart) -> Self {
        let local = hart.local.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
        Self { cycle: hart.at, slots: hart.regs[..32].iter().copied().chain(local).collect() }
    }

    fn strides_since(&self, earlier: &Self) -> Vec<u32> {
        self.slots.iter().zip(&earlier.slots).map(|(now, then)| now.wrapping_sub(*then)).collect()
    }
}

/// Looking for a period.
#[derive(Debug, Clone)]
pub(crate) struct Search {
    head: u32,
    visits: Vec<Visit>,
    observed: usize,
}

/// Proving one iteration.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    head: u32,
    start: u64,
    period: u64,
    /// The state at the start.
    initial: Vec<Strided>,
    /// Present strides.
    strides: Vec<u32>,
    steps: Vec<Step>,
    /// The first iteration that is not proved.
    bound: u64,
    devices: bool,
}

/// What one instruction of the loop leaves.
#[derive(Debug, Clone, Copy)]
struct Step {
    pc: u32,
    slot: u16,
    result: Strided,
}

/// A proved loop, not executed.
#[derive(Debug, Clone)]
pub(crate) struct Sleep {
    start: u64,
    period: u64,
    /// All registers, and the words of private RAM that have a stride.
    initial: Vec<(u16, Strided)>,
    steps: Vec<Step>,
    /// The cycle at which it must be executed again, `u64::MAX` for never.
    pub(crate) until: u64,
    /// When it fell asleep.
    since: u64,
    pub(crate) devices: bool,
}

impl Sleep {
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

    /// Registers and private RAM at a cycle, handed over slot by slot.
    pub(crate) fn state(&self, cycle: u64, mut put: impl FnMut(usize, u32)) {
        let (iteration, done) = self.position(cycle);
        for (slot, value) in &self.initial {
            put(*slot as usize, value.at(iteration));
        }
        for step in self.steps.iter().take(done).filter(|step| step.slot != NO_SLOT) {
            put(step.slot as usize, step.result.at(iteration));
        }
    }
}

impl Hart {
    /// Starts an observation if one is due.
    pub(crate) fn observe(&mut self) {
        let search = Search { head: self.pc, visits: vec![Visit::of(self)], observed: 0 };
        self.mode = Mode::Search(Box::new(search));
    }

    /// Ends observation or recording because something outside changed.
    pub(crate) fn disturb(&mut self, memory: &mut TileMemory) {
        match self.mode {
            Mode::Search(_) | Mode::Record(_) => {
                self.pace.soon(self.at);
                self.plain(memory);
            }
            Mode::Plain | Mode::Sleep(_) => {}
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
            self.pace.soon(cycle);
        }
    }

    fn put(&mut self, slot: usize, value: u32) {
        match slot.checked_sub(32) {
            None => self.regs[slot] = value,
            Some(word) => self.local.as_chunks_mut::<4>().0[word] = value.to_le_bytes(),
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

    fn watch(&mut self, memory: &mut TileMemory, addr: u32) {
        let line = addr / LINE_BYTES;
        if memory.watch(line, 1 << self.index) {
            self.watched.push(line);
        }
    }

    fn give_up(&mut self, memory: &mut TileMemory, observed: u64) {
        self.pace.later(self.at, observed);
        self.plain(memory);
    }

    /// Called with the state before the instruction, after it was executed by `step`.
    pub(crate) fn observed(&mut self, before: Before, touched: Touched, memory: &mut TileMemory) {
        match std::mem::replace(&mut self.mode, Mode::Plain) {
            Mode::Search(search) => self.searched(search, touched, memory),
            Mode::Record(record) => self.recorded(record, before, touched, memory),
            other => self.mode = other,
        }
    }

    fn searched(&mut self, mut search: Box<Search>, touched: Touched, memory: &mut TileMemory) {
        search.observed += 1;
        let effect = match touched {
            Touched::L1Store { changed, .. } => changed,
            Touched::DeviceStore { stored } => stored != Stored::Same,
            Touched::DeviceLoad { nature } => nature == Nature::Volatile,
            Touched::CsrChanged => true,
            _ => false,
        };
        if effect || search.observed > LONGEST_SEARCH {
            return self.give_up(memory, search.observed as u64);
        }
        if self.pc == search.head {
            search.visits.push(Visit::of(self));
            if let Some(record) = search.period() {
                self.mode = Mode::Record(Box::new(record));
                return;
            }
            if search.visits.len() > MOST_VISITS {
                return self.give_up(memory, search.observed as u64);
            }
        }
        self.mode = Mode::Search(search);
    }

    fn recorded(
        &mut self,
        mut record: Box<Record>,
        before: Before,
        touched: Touched,
        memory: &mut TileMemory,
    ) {
        let observed = record.steps.len() as u64;
        let Some(step) = record.step(self, &before, touched) else {
            return self.give_up(memory, 3 * observed);
        };
        record.steps.push(step);
        if before.pc < IRAM {
            self.watch(memory, before.pc);
        }
        if let Touched::L1Load { addr } | Touched::L1Store { addr, .. } = touched {
            self.watch(memory, addr);
        }
        if self.at < record.start + record.period {
            self.mode = Mode::Record(record);
            return;
        }
        let head = record.head;
        match (self.pc == head).then(|| record.finish(self)).flatten() {
            Some(sleep) => self.mode = Mode::Sleep(Box::new(sleep)),
            None => self.give_up(memory, 3 * observed),
        }
    }
}

impl Search {
    /// A period, once the last two stretches between visits moved everything by the same amounts.
    fn period(&self) -> Option<Record> {
        let last = self.visits.len() - 1;
        if !last.is_multiple_of(2) {
            return None;
        }
        let (first, middle, last) = (&self.visits[0], &self.visits[last / 2], &self.visits[last]);
        let period = last.cycle - middle.cycle;
        if middle.cycle - first.cycle != period {
            return None;
        }
        let strides = last.strides_since(middle);
        if strides != middle.strides_since(first) {
            return None;
        }
        let initial = last.slots.iter().zip(&strides);
        Some(Record {
            head: self.head,
            start: last.cycle,
            period,
            initial: initial.map(|(&value, &stride)| Strided { value, stride }).collect(),
            strides,
            steps: Vec::with_capacity(period as usize),
            bound: NEVER,
            devices: false,
        })
    }
}

/// What the recording needs from before an instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Before {
    pub(crate) op: Op,
    pub(crate) pc: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
}

impl Record {
    fn limit(&mut self, bound: u64) {
        self.bound = self.bound.min(bound);
    }

    /// Follows one instruction; `None` if the loop cannot be proved.
    fn step(&mut self, hart: &Hart, before: &Before, touched: Touched) -> Option<Step> {
        let op = before.op;
        let (kind, imm) = (d::kind(op), d::imm(op));
        let a = Strided { value: before.a, stride: self.strides[d::rs1(op) as usize & 31] };
        let b = Strided { value: before.b, stride: self.strides[d::rs2(op) as usize & 31] };
        let stride = match kind {
            d::BEQ..=d::BGEU => return self.branch(kind, a, b).map(|()| Step::nothing(before.pc)),
            d::BRANCH_ODD => {
                return self.branch(d::rd(op), a, b).map(|()| Step::nothing(before.pc));
            }
            d::NOP => return Some(Step::nothing(before.pc)),
            d::SB..=d::SW => return self.store(kind, hart, before, a, b, touched),
            d::JALR | d::CSR if a.stride != 0 || touched != Touched::Nothing => return None,
            d::JAL | d::JALR | d::CSR => 0,
            d::LB..=d::LHU if a.stride != 0 => return None,
            d::LB..=d::LHU => self.load(kind, a.value.wrapping_add(imm), touched, hart.at - 1)?,
            _ => {
                let (stride, bound) = stride::compute_stride(kind, a, b, imm)?;
                self.limit(bound);
                stride
            }
        };
        let slot = d::rd(op);
        if slot == d::DISCARD {
            return Some(Step::nothing(before.pc));
        }
        self.strides[slot as usize] = stride;
        let result = Strided { value: hart.regs[slot as usize], stride };
        Some(Step { pc: before.pc, slot: u16::from(slot), result })
    }

    fn branch(&mut self, kind: u8, a: Strided, b: Strided) -> Option<()> {
        self.limit(stride::branch_bound(kind, a, b));
        (self.bound > 1).then_some(())
    }

    /// The stride of a loaded value.
    fn load(&mut self, kind: u8, addr: u32, touched: Touched, cycle: u64) -> Option<u32> {
        match touched {
            Touched::L1Load { .. } => Some(0),
            Touched::LocalLoad => {
                let stride = self.strides[local_slot(addr)];
                (stride == 0 || kind == d::LW).then_some(stride)
            }
            Touched::DeviceLoad { nature } => {
                self.devices = true;
                match nature {
                    Nature::Stable => Some(0),
                    Nature::Until(end) => {
                        self.limit(end.saturating_sub(cycle).div_ceil(self.period));
                        Some(0)
                    }
                    Nature::Clock => (kind == d::LW).then_some(self.period as u32),
                    Nature::Volatile => None,
                }
            }
            _ => None,
        }
    }

    fn store(
        &mut self,
        kind: u8,
        hart: &Hart,
        before: &Before,
        a: Strided,
        b: Strided,
        touched: Touched,
    ) -> Option<Step> {
        if a.stride != 0 {
            return None;
        }
        match touched {
            Touched::L1Store { changed: false, .. } if b.stride == 0 => {
                Some(Step::nothing(before.pc))
            }
            Touched::DeviceStore { stored: Stored::Same } if b.stride == 0 => {
                self.devices = true;
                Some(Step::nothing(before.pc))
            }
            Touched::LocalStore => {
                let slot = local_slot(a.value.wrapping_add(d::imm(before.op)));
                if kind != d::SW && (b.stride != 0 || self.strides[slot] != 0) {
                    return None;
                }
                self.strides[slot] = b.stride;
                let word = hart.local.as_chunks::<4>().0.get(slot - 32)?;
                let result = Strided { value: u32::from_le_bytes(*word), stride: b.stride };
                Some(Step { pc: before.pc, slot: slot as u16, result })
            }
            _ => None,
        }
    }

    /// The proved loop, if the iteration ended in the state that it started in, one stride on.
    fn finish(self, hart: &Hart) -> Option<Sleep> {
        let end = Visit::of(hart);
        let returned =
            self.initial.iter().zip(&end.slots).zip(&self.strides).all(
                |((initial, &value), &stride)| initial.at(1) == value && initial.stride == stride,
            );
        let until =
            self.bound.checked_mul(self.period).and_then(|cycles| cycles.checked_add(self.start));
        let until = until.unwrap_or(u64::MAX);
        let worth = until - self.start >= SHORTEST_SLEEP_CYCLES + self.period;
        let kept =
            (0u16..).zip(self.initial).filter(|(slot, value)| *slot < 32 || value.stride != 0);
        (returned && worth).then_some(Sleep {
            start: self.start,
            period: self.period,
            initial: kept.collect(),
            steps: self.steps,
            until,
            since: hart.at,
            devices: self.devices,
        })
    }
}

impl Step {
    fn nothing(pc: u32) -> Self {
        Self { pc, slot: NO_SLOT, result: Strided::fixed(0) }
    }
}

/// The slot of the word of private RAM that holds an address there.
fn local_slot(addr: u32) -> usize {
    32 + (addr as usize & (LOCAL_BYTES - 1)) / 4
}
