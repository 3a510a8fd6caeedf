//! Loops that only a change of what they read can end: kernels that wait without a waypoint, or whose
//! image is not known, in the instructions that they execute.
//!
//! The loop is the smallest one around all sampled program counters. It spins if it stores nothing,
//! calls nothing, and each turn begins with the same registers, so that only memory can end it. What
//! it compares is found by executing one turn of it, without the core, on the words that L1 holds.

mod instruction;

use instruction::{AT_LEAST, Alu, Compare, Instruction, MORE_THAN};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

/// Words of text before the sampled program counters that are read: the loop, and what comes before
/// it, where the compiler puts what does not change in it.
const BEFORE: u32 = 256;
/// Words of text that are read behind them.
const BEHIND: u32 = 64;
/// Instructions of the longest turn that is followed.
const LONGEST_TURN: usize = 512;
/// Registers of RV32I.
const REGISTERS: usize = 32;

/// `gp`, which code sets once.
const GLOBAL_POINTER: usize = 3;

/// A loop that nothing but a change of what it reads ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spin {
    /// What ends it, as far as that is known: one of these.
    pub ends: Vec<End>,
    /// Whether it reads nothing, so that nothing ends it.
    pub endless: bool,
}

/// A comparison that ends a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// The address of the word that was compared, in the address space of the core.
    pub at: u32,
    /// Its name, if it is a register that has one.
    pub name: Option<String>,
    /// The word as it was read, if it was.
    pub value: Option<u32>,
    /// The comparison that ends the loop, such as `at least `, and what the word is compared with; none if
    /// that is not known.
    pub awaited: Option<(&'static str, Operand)>,
    /// The least value that ends the loop, of the word or of what was computed of it, if it is known.
    pub least: Option<u32>,
}

/// What a word is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Its value.
    pub value: u32,
    /// Where that was read, if it was.
    pub at: Option<u32>,
}

impl fmt::Display for Spin {
    /// How long it goes on: `until 0x12190 (63) is 64`, as far as it is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.endless {
            return f.write_str("for ever: it reads nothing");
        }
        if self.ends.is_empty() {
            return f.write_str("until something that it reads changes");
        }
        for (number, end) in self.ends.iter().enumerate() {
            write!(f, "{}{end}", if number == 0 { "until " } else { ", or " })?;
        }
        Ok(())
    }
}

impl fmt::Display for End {
    /// `0x12190 (63) is at least 64 (0x12184)`, as far as it is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name)?,
            None => write!(f, "{:#x}", self.at)?,
        }
        if let Some(value) = self.value {
            write!(f, " ({value})")?;
        }
        match self.awaited {
            None => f.write_str(" changes"),
            Some((how, Operand { value, at: None })) => write!(f, " is {how}{value}"),
            Some((how, Operand { value, at: Some(at) })) => write!(f, " is {how}{value} ({at:#x})"),
        }
    }
}

/// What a register holds.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    value: Option<u32>,
    /// Where it was read, or what it was computed from.
    from: Option<u32>,
    /// What was read there.
    read: Option<u32>,
    /// Whether it was computed.
    computed: bool,
}

type Registers = [Held; REGISTERS];

/// What a core reads.
pub trait Reads {
    /// Returns the word at an address of its address space; none if it cannot be read from outside.
    fn word(&mut self, at: u32) -> Option<u32>;
    /// Returns the name of a register.
    fn name(&self, at: u32) -> Option<String>;
    /// Whether time passes at an address: a loop that reads it is a delay.
    fn is_time(&self, at: u32) -> bool;
    /// Returns what the global pointer holds, if that is known.
    fn global_pointer(&self) -> Option<u32>;
}

/// Returns the range of text, in bytes, in which the loop around these program counters is searched.
#[must_use]
pub fn text_of(pcs: &[u32]) -> Option<Range<u32>> {
    let (first, last) = pcs.iter().min().zip(pcs.iter().max())?;
    let near = last.checked_sub(*first)? <= 4 * BEFORE && first % 4 == 0 && last % 4 == 0;
    near.then(|| first.saturating_sub(4 * BEFORE)..last.saturating_add(4 * BEHIND))
}

/// Returns the loop in which a core spins that was sampled at these program counters, if it does. The
/// words are those of [`text_of`], from its start.
#[must_use]
pub fn spin(pcs: &[u32], words: &[u32], reads: &mut dyn Reads) -> Option<Spin> {
    let start = text_of(pcs)?.start;
    let decoded = (0..).zip(words).map(|(at, word)| Instruction::of(*word, start + 4 * at));
    let text = Text { start, all: decoded.collect() };
    let looped = text.smallest_loop(pcs)?;
    if !text.spins(&looped) {
        return None;
    }
    let endless = !text.all.get(looped.clone())?.iter().any(Instruction::is_load);
    let before = text.before(&looped, reads);
    Some(Spin { ends: text.turn(&looped, before, reads)?, endless })
}

struct Text {
    start: u32,
    all: Vec<Instruction>,
}

impl Text {
    fn index(&self, at: u32) -> Option<usize> {
        let index = (at.checked_sub(self.start)? / 4) as usize;
        (index < self.all.len()).then_some(index)
    }

    /// Returns each branch and jump: where it is, and where it leads.
    fn jumps(&self) -> impl Iterator<Item = (usize, usize)> {
        let all = self.all.iter().enumerate();
        all.filter_map(|(from, it)| Some((from, self.index(it.target()?)?)))
    }

    fn smallest_loop(&self, pcs: &[u32]) -> Option<Range<usize>> {
        let first = self.index(*pcs.iter().min()?)?;
        let last = self.index(*pcs.iter().max()?)?;
        let around = self.jumps().filter(|(from, to)| *to <= first && last <= *from);
        around.map(|(from, to)| to..from + 1).min_by_key(ExactSizeIterator::len)
    }

    /// Whether a loop changes nothing, and each of its turns begins with the same registers.
    fn spins(&self, looped: &Range<usize>) -> bool {
        let Some(body) = self.all.get(looped.clone()) else { return false };
        // Code that leaves the loop and comes back is part of it, unless it enters it.
        let enters = |from| from + 1 == looped.start;
        let mut outside = self.jumps().filter(|(from, _)| !looped.contains(from) && !enters(*from));
        if outside.any(|(_, to)| to > looped.start && looped.contains(&to)) {
            return false;
        }
        if body.iter().any(Instruction::acts) {
            return false;
        }
        let written = body.iter().fold(0, |all, it| all | it.writes());
        // The registers that are written on every way from the start of the turn.
        let mut known = vec![u32::MAX; body.len()];
        known[0] = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for (at, instruction) in body.iter().enumerate() {
                let behind = known[at] | instruction.writes();
                let target = instruction.target().and_then(|to| self.index(to));
                let next = (!instruction.is_jump()).then_some(looped.start + at + 1);
                for to in [target, next].into_iter().flatten().filter(|to| looped.contains(to)) {
                    let to = to - looped.start;
                    // A turn begins at the start with nothing written.
                    if to > 0 && known[to] & behind != known[to] {
                        known[to] &= behind;
                        changed = true;
                    }
                }
            }
        }
        let carries = |(it, known): (&Instruction, &u32)| it.reads() & written & !known != 0;
        !body.iter().zip(&known).any(carries)
    }

    /// Returns the registers before a loop, as far as the text before it tells: by one way through it, on
    /// which branches are taken as what they compare is now.
    fn before(&self, looped: &Range<usize>, reads: &mut dyn Reads) -> Registers {
        let mut registers = Registers::default();
        registers[0].value = Some(0);
        registers[GLOBAL_POINTER].value = reads.global_pointer();
        let writes = |range: Range<usize>| {
            let range = self.all.get(range).map_or(&[][..], |range| range);
            range.iter().fold(0, |all, it| all | it.writes())
        };
        let (mut at, mut followed) = (0, BTreeSet::new());
        loop {
            for (from, to) in
                self.jumps().filter(|(from, to)| *to == at && !followed.contains(from))
            {
                // What is written on one of two ways, or in a loop, is not known where they meet.
                forget(&mut registers, writes(if from < to { from..to } else { to..from + 1 }));
            }
            let Some(instruction) = self.all.get(at).filter(|_| at < looped.start) else { break };
            let enters = at + 1 == looped.start;
            let mut next = at + 1;
            match *instruction {
                Instruction::Jump { .. } | Instruction::Other if !enters => {
                    forget(&mut registers, u32::MAX);
                }
                Instruction::Branch { how, a, b, target } => {
                    let target = self.index(target).filter(|to| *to > at && *to <= looped.start);
                    let values = registers[a].value.zip(registers[b].value);
                    if let Some((target, (a, b))) = target.zip(values) {
                        followed.insert(at);
                        next = if how.holds(a, b) { target } else { next };
                    }
                }
                Instruction::Load { rd, .. } => {
                    let held = match load(instruction, &registers, reads) {
                        Some(held) if held.value.is_some() => held,
                        _ => Held::default(),
                    };
                    set(&mut registers, rd, held);
                }
                _ => compute(&mut registers, instruction),
            }
            at = next;
        }
        registers
    }

    /// Returns what ends a loop, by one turn of it; none if it ends now, or is a delay.
    fn turn(
        &self,
        looped: &Range<usize>,
        mut registers: Registers,
        reads: &mut dyn Reads,
    ) -> Option<Vec<End>> {
        let (mut at, mut ends) = (looped.start, Vec::new());
        for _ in 0..LONGEST_TURN {
            let instruction = self.all.get(at)?;
            let next = at + 1;
            at = match *instruction {
                Instruction::Load { rd, .. } => {
                    let held = load(instruction, &registers, reads)?;
                    set(&mut registers, rd, held);
                    next
                }
                Instruction::Branch { how, a, b, target } => {
                    let target = self.index(target).filter(|to| looped.contains(to));
                    let stays = Some(next).filter(|next| looped.contains(next));
                    let (a, b) = (registers[a], registers[b]);
                    let taken = a.value.zip(b.value).map(|(a, b)| how.holds(a, b));
                    let (on, ended) = match (target, stays) {
                        (Some(target), Some(next)) => match taken {
                            Some(taken) => (if taken { target } else { next }, None),
                            // Which way the turn takes is not known.
                            None => return Some(ends),
                        },
                        (None, Some(next)) => (next, Some(how)),
                        (Some(target), None) => (target, Some(how.opposite())),
                        (None, None) => return None,
                    };
                    if let Some(how) = ended {
                        // A loop that ends now does not wait.
                        if a.value.zip(b.value).is_some_and(|(a, b)| how.holds(a, b)) {
                            return None;
                        }
                        ends.extend(
                            end(how, a, b).map(|end| End { name: reads.name(end.at), ..end }),
                        );
                    }
                    on
                }
                Instruction::Jump { target } => self.index(target)?,
                _ => {
                    compute(&mut registers, instruction);
                    next
                }
            };
            if at == looped.start {
                return Some(ends);
            }
            if !looped.contains(&at) {
                return None;
            }
        }
        Some(ends)
    }
}

/// Returns a comparison that ends a loop, if it is one of a word.
fn end(how: Compare, a: Held, b: Held) -> Option<End> {
    let (word, other, how) = match (a.from, b.from) {
        (Some(_), _) => (a, b, how.words()),
        (None, Some(_)) => (b, a, how.reversed_words()),
        (None, None) => return None,
    };
    let least = match how {
        AT_LEAST => other.value,
        MORE_THAN => other.value.and_then(|value| value.checked_add(1)),
        _ => None,
    };
    // Of a number, `more than 6` is `at least 7`.
    let (how, other) = match least.filter(|_| other.from.is_none()) {
        Some(least) => (AT_LEAST, Held { value: Some(least), ..other }),
        None => (how, other),
    };
    let awaited = other.value.filter(|_| !word.computed && !other.computed);
    Some(End {
        at: word.from?,
        name: None,
        value: word.read,
        awaited: awaited.map(|value| (how, Operand { value, at: other.from })),
        least,
    })
}

/// Returns what a load reads; none if that is the time.
fn load(instruction: &Instruction, registers: &Registers, reads: &mut dyn Reads) -> Option<Held> {
    let Instruction::Load { size, signed, base, offset, .. } = *instruction else { return None };
    let from = registers[base].value.map(|base| base.wrapping_add(offset));
    if from.is_some_and(|from| reads.is_time(from)) {
        return None;
    }
    let word = from.and_then(|from| reads.word(from & !3));
    let value = word.zip(from).map(|(word, from)| part(word, from, size, signed));
    Some(Held { value, from, read: value, computed: size < 4 })
}

fn part(word: u32, from: u32, size: u32, signed: bool) -> u32 {
    let bits = 8 * size;
    let value = word >> (8 * (from & 3));
    match (bits, signed) {
        (32, _) => value,
        (_, true) => ((value << (32 - bits)) as i32 >> (32 - bits)) as u32,
        (_, false) => value & ((1 << bits) - 1),
    }
}

fn set(registers: &mut Registers, rd: usize, held: Held) {
    if rd != 0 {
        registers[rd] = held;
    }
}

fn forget(registers: &mut Registers, written: u32) {
    let (_, all) = registers.split_at_mut(1);
    for (number, register) in (1..).zip(all) {
        if number != GLOBAL_POINTER && written >> number & 1 == 1 {
            *register = Held::default();
        }
    }
}

/// Computes an instruction that neither reads memory nor jumps; what another one writes is not known.
fn compute(registers: &mut Registers, instruction: &Instruction) {
    match *instruction {
        Instruction::Constant { rd, value } => {
            set(registers, rd, Held { value: Some(value), ..Held::default() });
        }
        Instruction::Compute { how, rd, a, b } => {
            let (a, b) = (
                registers[a],
                b.map_or_else(|imm| Held { value: Some(imm), ..Held::default() }, |b| registers[b]),
            );
            let is_move = how == Alu::Add && b.from.is_none() && b.value == Some(0);
            let value = a.value.zip(b.value).and_then(|(a, b)| how.of_values(a, b));
            let of = if a.from.is_some() { a } else { b };
            let computed = of.from.is_some() && (a.computed || b.computed || !is_move);
            set(registers, rd, Held { value, computed, ..of });
        }
        _ => forget(registers, instruction.writes()),
    }
}

#[cfg(test)]
mod tests;
