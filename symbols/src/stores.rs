//! Stores of constants to constant addresses, found in the code itself: what a compiler makes of
//! `*(volatile uint32_t *)0x3E224 = 0x57495245`. Constants are followed through registers along all
//! branches, and through words of the stack where registers are saved, so neither the order of
//! instructions nor the distance between them matters.

use std::collections::{BTreeMap, BTreeSet};

use crate::instruction::{Arithmetic, Instruction, SP, decode};
use crate::symbols::Symbols;

/// More code is not searched: no core has more memory.
const MAX_CODE: usize = 1 << 20;
/// The most steps for each byte of code; tt-metal's router takes less than one.
const MAX_STEPS: usize = 16;
/// A register with more possible values counts as unknown.
const MAX_VALUES: usize = 4;
/// No more words of a stack are followed.
const MAX_SAVED: usize = 256;

/// The registers that a call may change: ra, t0 to t2, a0 to a7, t3 to t6.
const CHANGED_BY_CALLS: [usize; 16] = [1, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31];
/// Those that a call through t0 may change: `-msave-restore` saves registers in such calls.
const CHANGED_BY_SAVING: [usize; 2] = [5, 6];
const T0: u8 = 5;

/// A store of a constant word to a constant address.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ConstantStore {
    /// The address of the store.
    pub pc: u64,
    /// The address of the instruction that completes the constant. Several constants can share a
    /// store.
    pub made_at: u64,
    /// The address stored to.
    pub address: u32,
    /// The stored word.
    pub value: u32,
}

impl Symbols {
    /// Returns the stores of constant words to constant addresses, by pc. Code that the search does
    /// not understand hides stores.
    pub fn constant_stores(&self) -> Vec<ConstantStore> {
        let compressed = self.inner.image.compressed_code;
        let starts: Vec<u32> =
            self.inner.function_symbols().iter().map(|symbol| symbol.address as u32).collect();
        let mut left = MAX_CODE;
        let mut found = Vec::new();
        for segment in self.segments().iter().filter(|segment| segment.executable) {
            let Some(rest) = left.checked_sub(segment.bytes.len()) else { break };
            left = rest;
            let code = Code { bytes: segment.bytes, start: segment.address as u32, compressed };
            found.extend(Search::new(code).stores(&starts));
        }
        found.sort_unstable();
        found
    }
}

#[derive(Clone, Copy)]
struct Code<'a> {
    bytes: &'a [u8],
    start: u32,
    compressed: bool,
}

impl Code<'_> {
    /// Returns the instruction at an address, and the address after it.
    fn at(&self, pc: u32) -> Option<(Instruction, u32)> {
        let rest = self.bytes.get(pc.wrapping_sub(self.start) as usize..)?;
        let (instruction, length) = decode(rest, pc, self.compressed)?;
        Some((instruction, pc.wrapping_add(length)))
    }

    /// Returns the addresses after jumps, and the targets of jumps: state is kept for these.
    fn entries(&self) -> BTreeSet<u32> {
        let mut entries = BTreeSet::from([self.start]);
        let mut pc = self.start;
        while let Some((instruction, next)) = self.at(pc) {
            match instruction {
                Instruction::Branch { target } => drop(entries.insert(target)),
                Instruction::Jump { target } => entries.extend([target, next]),
                Instruction::Call { target, .. } => entries.extend(target),
                Instruction::Leave => drop(entries.insert(next)),
                _ => {}
            }
            pc = next;
        }
        entries
    }

    fn call_targets(&self) -> BTreeSet<u32> {
        let mut targets = BTreeSet::new();
        let mut pc = self.start;
        while let Some((instruction, next)) = self.at(pc) {
            if let Instruction::Call { target, .. } = instruction {
                targets.extend(target);
            }
            pc = next;
        }
        targets
    }
}

/// A number, or an address on the stack, from where `sp` was on entry.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Number {
    on_stack: bool,
    value: u32,
}

impl Number {
    const fn plain(value: u32) -> Self {
        Self { on_stack: false, value }
    }

    fn with(self, with: Arithmetic, right: Self) -> Option<Self> {
        let on_stack = match (self.on_stack, with, right.on_stack) {
            (false, _, false) => false,
            (true, Arithmetic::Add | Arithmetic::Subtract, false)
            | (false, Arithmetic::Add, true) => true,
            _ => return None,
        };
        Some(Self { on_stack, value: with.apply(self.value, right.value) })
    }
}

/// The possible values of a register or a word of the stack, each with the address of the
/// instruction that completes it; none: unknown.
type Values = BTreeMap<Number, u32>;

/// Returns the values of both paths; none if those of one are unknown.
fn joined(mine: &Values, theirs: &Values) -> Values {
    let mut both = mine.clone();
    for (&value, &made_at) in theirs {
        let known = both.entry(value).or_insert(made_at);
        *known = made_at.min(*known);
    }
    let known = !mine.is_empty() && !theirs.is_empty() && both.len() <= MAX_VALUES;
    if known { both } else { Values::new() }
}

/// The possible values of all registers, and of words of the stack by their address.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Known {
    registers: [Values; 32],
    saved: BTreeMap<u32, Values>,
}

impl Known {
    /// The state in which a function begins: only the stack pointer is known.
    fn entry() -> Self {
        let mut entry = Self { registers: Default::default(), saved: BTreeMap::new() };
        entry.set(SP, Values::from([(Number { on_stack: true, value: 0 }, 0)]));
        entry
    }

    fn of(&self, register: u8) -> Values {
        match register {
            0 => Values::from([(Number::plain(0), 0)]),
            _ => self.registers.get(usize::from(register)).cloned().unwrap_or_default(),
        }
    }

    fn set(&mut self, register: u8, values: Values) {
        let known = values.len() <= MAX_VALUES;
        let place = self.registers.get_mut(usize::from(register)).filter(|_| register > 0);
        if let Some(place) = place {
            *place = if known { values } else { Values::new() };
        }
    }

    fn forget(&mut self, registers: &[usize]) {
        for &register in registers {
            if let Some(values) = self.registers.get_mut(register) {
                values.clear();
            }
        }
    }

    /// Returns an address in memory or on the stack, if a register has only one value.
    fn address(&self, base: u8, offset: u32) -> Option<Number> {
        let values = self.of(base);
        let (base, _) = values.first_key_value().filter(|_| values.len() == 1)?;
        base.with(Arithmetic::Add, Number::plain(offset))
    }

    /// Adds the values on another path to here; returns whether anything changed.
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (mine, theirs) in self.registers.iter_mut().zip(&other.registers) {
            let both = joined(mine, theirs);
            changed |= both != *mine;
            *mine = both;
        }
        self.saved.retain(|address, mine| {
            let both = other.saved.get(address).map(|theirs| joined(mine, theirs));
            let both = both.filter(|both| !both.is_empty());
            changed |= both.as_ref() != Some(mine);
            both.map(|both| *mine = both).is_some()
        });
        changed
    }

    fn load(&mut self, rd: u8, base: u8, offset: u32) {
        let slot = self.address(base, offset).filter(|address| address.on_stack);
        let saved = slot.and_then(|slot| self.saved.get(&slot.value));
        self.set(rd, saved.cloned().unwrap_or_default());
    }

    fn store(&mut self, base: u8, offset: u32, source: Option<u8>) {
        let Some(slot) = self.address(base, offset).filter(|address| address.on_stack) else {
            return;
        };
        let values = source.map_or_else(Values::new, |source| self.of(source));
        if values.is_empty() || self.saved.len() >= MAX_SAVED {
            self.saved.remove(&(slot.value & !3));
        } else {
            self.saved.insert(slot.value, values);
        }
    }

    /// Carries out an instruction that only changes registers.
    fn step(&mut self, instruction: Instruction, pc: u32) {
        match instruction {
            Instruction::Constant { rd, value } => {
                self.set(rd, Values::from([(Number::plain(value), pc)]));
            }
            Instruction::Immediate { rd, left, with, right } => {
                let right = Number::plain(right);
                let values =
                    self.of(left).into_keys().map(|left| Some((left.with(with, right)?, pc)));
                self.set(rd, values.collect::<Option<_>>().unwrap_or_default());
            }
            Instruction::Register { rd, left, with, right } => {
                let (left, right) = (self.of(left), self.of(right));
                let pairs =
                    left.keys().flat_map(|left| right.keys().map(move |right| (left, right)));
                let values = pairs.map(|(left, right)| Some((left.with(with, *right)?, pc)));
                self.set(rd, values.collect::<Option<_>>().unwrap_or_default());
            }
            // It moves `sp` too: the words of the stack get other addresses.
            Instruction::Call { link: T0, .. } => {
                self.forget(&CHANGED_BY_SAVING);
                self.saved.clear();
            }
            Instruction::Call { .. } => self.forget(&CHANGED_BY_CALLS),
            Instruction::Load { rd, base, offset } => self.load(rd, base, offset),
            Instruction::Store { base, offset, source } => self.store(base, offset, source),
            Instruction::Other { rd } => self.set(rd, Values::new()),
            Instruction::Branch { .. } | Instruction::Jump { .. } | Instruction::Leave => {}
        }
    }
}

/// Follows constants through code, until nothing changes.
struct Search<'a> {
    code: Code<'a>,
    entries: BTreeSet<u32>,
    known: BTreeMap<u32, Known>,
    open: BTreeSet<u32>,
    steps: usize,
}

impl<'a> Search<'a> {
    fn new(code: Code<'a>) -> Self {
        Self {
            entries: code.entries(),
            steps: code.bytes.len().saturating_mul(MAX_STEPS),
            known: BTreeMap::new(),
            open: BTreeSet::new(),
            code,
        }
    }

    fn stores(mut self, functions: &[u32]) -> Vec<ConstantStore> {
        let called = self.code.call_targets();
        let begins: Vec<u32> =
            functions.iter().copied().chain(called).chain([self.code.start]).collect();
        self.entries.extend(&begins);
        for begin in begins {
            self.arrive(begin, &Known::entry());
        }
        self.follow(&mut |_, _, _| {});
        // Code to which only a computed jump leads.
        for entry in self.entries.clone() {
            if !self.known.contains_key(&entry) {
                self.arrive(entry, &Known::entry());
                self.follow(&mut |_, _, _| {});
            }
        }
        // Before the end, the values on some paths are missing.
        if self.steps == 0 {
            return Vec::new();
        }
        let mut found = Vec::new();
        self.open = self.known.keys().copied().collect();
        self.follow(&mut |known, pc, instruction| {
            let Instruction::Store { base, offset, source: Some(source) } = instruction else {
                return;
            };
            let address = known.address(base, offset).filter(|address| !address.on_stack);
            let Some(Number { value: address, .. }) = address else { return };
            let plain = known.of(source).into_iter().filter(|(number, _)| !number.on_stack);
            found.extend(plain.map(|(number, made_at)| ConstantStore {
                pc: pc.into(),
                made_at: made_at.into(),
                address,
                value: number.value,
            }));
        });
        found.dedup();
        found
    }

    /// Joins the state on a path to an entry.
    fn arrive(&mut self, at: u32, with: &Known) {
        let changed = match self.known.get_mut(&at) {
            Some(known) => known.join(with),
            None => self.known.insert(at, with.clone()).is_none(),
        };
        if changed {
            self.open.insert(at);
        }
    }

    /// Carries out the code from all open entries; shows every instruction with the state before.
    fn follow(&mut self, see: &mut impl FnMut(&Known, u32, Instruction)) {
        while let Some(entry) = self.open.pop_first() {
            let Some(mut known) = self.known.get(&entry).cloned() else { continue };
            let mut pc = entry;
            while let Some((instruction, next)) = self.code.at(pc) {
                let Some(left) = self.steps.checked_sub(1) else { return };
                self.steps = left;
                see(&known, pc, instruction);
                match instruction {
                    Instruction::Branch { target } => self.arrive(target, &known),
                    Instruction::Jump { target } => {
                        self.arrive(target, &known);
                        break;
                    }
                    Instruction::Leave => break,
                    other => known.step(other, pc),
                }
                if self.entries.contains(&next) {
                    self.arrive(next, &known);
                    break;
                }
                pc = next;
            }
        }
    }
}
