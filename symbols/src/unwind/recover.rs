//! Recovers a caller's registers from those of the frame it called.

use super::end::StackEnd;
use super::expression::{ExpressionFault, evaluate};
use super::registers::{COUNT, RA, Registers, SP, preserved};
use crate::call_frames::{Cfa, Rule, Rules};

/// Failed reads of registers, reported when a register is needed.
type Failures<E> = [Option<(u32, E)>; COUNT];

/// Recovers values by rules; `read` reads memory.
pub(super) struct Recovery<R, E> {
    read: R,
    failures: Failures<E>,
}

impl<R: FnMut(u64, &mut [u8]) -> Result<(), E>, E> Recovery<R, E> {
    pub(super) fn new(read: R) -> Self {
        Self { read, failures: [const { None }; COUNT] }
    }

    /// Returns the canonical frame address of the frame at `pc`.
    pub(super) fn cfa(
        &mut self,
        pc: u32,
        rules: &Rules,
        registers: &Registers,
    ) -> Result<u32, StackEnd<E>> {
        let value = match &rules.cfa {
            Cfa::Register { register, offset } => {
                let base = registers.get(*register).ok_or(ExpressionFault::Unknown(*register));
                base.map(|base| base.wrapping_add(*offset as u32))
            }
            Cfa::Expression(bytes) => {
                evaluate(bytes, rules.encoding, None, registers, &mut self.read)
            }
        };
        value.map_err(|fault| self.end(pc, "frame address", fault))
    }

    /// Returns the registers of the caller of the frame at `pc`: its pc is certain, others may be
    /// lost.
    pub(super) fn caller(
        &mut self,
        pc: u32,
        rules: &Rules,
        cfa: u32,
        registers: &Registers,
    ) -> Result<Registers, StackEnd<E>> {
        let link = self.value(rules.link, rules, cfa, registers);
        let back = link.map_err(|fault| self.end(pc, "return address", fault))?;
        let mut caller = Registers::default();
        let mut failures: Failures<E> = [const { None }; COUNT];
        for (number, failure) in (0..).zip(&mut failures) {
            let value = match rules.rule(number) {
                // The call itself sets the link register; a trap saves it elsewhere.
                _ if number == rules.link && rules.interrupts => {
                    Err(ExpressionFault::Unknown(number))
                }
                _ if number == rules.link => Ok(back),
                None if number == SP => Ok(cfa),
                None if !keeps_value(number, rules.link) => Err(ExpressionFault::Unknown(number)),
                _ => self.value(number, rules, cfa, registers),
            };
            *failure = match value {
                Ok(value) => {
                    caller.set(number, Some(value));
                    None
                }
                Err(ExpressionFault::Unreadable(address, error)) => Some((address, error)),
                Err(ExpressionFault::Unknown(lost))
                    if lost == number && same(rules.rule(number)) =>
                {
                    self.failures.get_mut(usize::from(number)).and_then(Option::take)
                }
                Err(ExpressionFault::Unknown(_) | ExpressionFault::Broken(_)) => None,
            };
        }
        self.failures = failures;
        // A jump to a register ignores its lowest bit.
        caller.pc = Some(back & !1);
        Ok(caller)
    }

    fn value(
        &mut self,
        number: u16,
        rules: &Rules,
        cfa: u32,
        registers: &Registers,
    ) -> Result<u32, ExpressionFault<E>> {
        let known = |number| registers.get(number).ok_or(ExpressionFault::Unknown(number));
        let mut expression =
            |bytes| evaluate(bytes, rules.encoding, Some(cfa), registers, &mut self.read);
        let address = match rules.rule(number) {
            None | Some(Rule::Same) => return known(number),
            Some(Rule::Undefined) => return Err(ExpressionFault::Unknown(number)),
            Some(Rule::ValOffset(offset)) => return Ok(cfa.wrapping_add(*offset as u32)),
            Some(Rule::Register(other)) => return known(*other),
            Some(Rule::ValExpression(bytes)) => return expression(bytes),
            Some(Rule::Offset(offset)) => cfa.wrapping_add(*offset as u32),
            Some(Rule::Expression(bytes)) => expression(bytes)?,
        };
        let mut word = [0; 4];
        let read = (self.read)(address.into(), &mut word);
        read.map_err(|error| ExpressionFault::Unreadable(address, error))?;
        Ok(u32::from_le_bytes(word))
    }

    /// Returns the end of the backtrace for a fault in a required value.
    fn end(&mut self, pc: u32, what: &'static str, fault: ExpressionFault<E>) -> StackEnd<E> {
        match fault {
            ExpressionFault::Broken(reason) => StackEnd::BrokenCallFrames { pc, reason },
            ExpressionFault::Unreadable(address, error) => {
                StackEnd::Unreadable { pc, what, address, error }
            }
            ExpressionFault::Unknown(number) => {
                let register = Registers::name(number).unwrap_or("a nonexistent register");
                match self.failures.get_mut(usize::from(number)).and_then(Option::take) {
                    Some((address, error)) => {
                        StackEnd::Unreadable { pc, what: register, address, error }
                    }
                    None => StackEnd::Unknown { pc: Some(pc), register },
                }
            }
        }
    }
}

/// Whether a function without a rule for a register preserves it. A function called through another
/// link register, such as GCC's save and restore routines, leaves `ra` to its caller.
fn keeps_value(number: u16, link: u16) -> bool {
    preserved(number) || (number == RA && link != RA)
}

/// Whether a register keeps its value through the frame.
fn same(rule: Option<&Rule>) -> bool {
    matches!(rule, None | Some(Rule::Same))
}
