//! A caller's registers out of those of the frame it called.

use super::end::StackEnd;
use super::expression::{Fault, evaluate};
use super::registers::{COUNT, RA, Registers, SP, preserved};
use crate::call_frames::{Cfa, Rule, Rules};

/// Where registers were to be found and could not be read: a reason that is told when one is needed.
type Failures<E> = [Option<(u32, E)>; COUNT];

/// Finds values by rules, with memory asked for through `read`.
pub(super) struct Recovery<R, E> {
    read: R,
    failures: Failures<E>,
}

impl<R: FnMut(u64, &mut [u8]) -> Result<(), E>, E> Recovery<R, E> {
    pub(super) fn new(read: R) -> Self {
        Self { read, failures: [const { None }; COUNT] }
    }

    /// The canonical frame address of the frame at `pc`.
    pub(super) fn cfa(
        &mut self,
        pc: u32,
        rules: &Rules,
        registers: &Registers,
    ) -> Result<u32, StackEnd<E>> {
        let value = match &rules.cfa {
            Cfa::Register { register, offset } => {
                let base = registers.get(*register).ok_or(Fault::Unknown(*register));
                base.map(|base| base.wrapping_add(*offset as u32))
            }
            Cfa::Expression(bytes) => {
                evaluate(bytes, rules.encoding, None, registers, &mut self.read)
            }
        };
        value.map_err(|fault| self.end(pc, "frame address", fault))
    }

    /// The registers of the caller of the frame at `pc`: its pc is certain, others may be lost.
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
            let value = match rules.of(number) {
                // It is the call itself that sets the link register; a trap has another place for it.
                _ if number == rules.link && rules.interrupts => Err(Fault::Unknown(number)),
                _ if number == rules.link => Ok(back),
                None if number == SP => Ok(cfa),
                None if !kept(number, rules.link) => Err(Fault::Unknown(number)),
                _ => self.value(number, rules, cfa, registers),
            };
            *failure = match value {
                Ok(value) => {
                    caller.set(number, Some(value));
                    None
                }
                Err(Fault::Unreadable(address, error)) => Some((address, error)),
                Err(Fault::Unknown(lost)) if lost == number && same(rules.of(number)) => {
                    self.failures.get_mut(usize::from(number)).and_then(Option::take)
                }
                Err(Fault::Unknown(_) | Fault::Broken(_)) => None,
            };
        }
        self.failures = failures;
        // A jump to a register takes no notice of its lowest bit.
        caller.pc = Some(back & !1);
        Ok(caller)
    }

    fn value(
        &mut self,
        number: u16,
        rules: &Rules,
        cfa: u32,
        registers: &Registers,
    ) -> Result<u32, Fault<E>> {
        let known = |number| registers.get(number).ok_or(Fault::Unknown(number));
        let mut expression =
            |bytes| evaluate(bytes, rules.encoding, Some(cfa), registers, &mut self.read);
        let address = match rules.of(number) {
            None | Some(Rule::Same) => return known(number),
            Some(Rule::Undefined) => return Err(Fault::Unknown(number)),
            Some(Rule::ValOffset(offset)) => return Ok(cfa.wrapping_add(*offset as u32)),
            Some(Rule::Register(other)) => return known(*other),
            Some(Rule::ValExpression(bytes)) => return expression(bytes),
            Some(Rule::Offset(offset)) => cfa.wrapping_add(*offset as u32),
            Some(Rule::Expression(bytes)) => expression(bytes)?,
        };
        let mut word = [0; 4];
        let read = (self.read)(address.into(), &mut word);
        read.map_err(|error| Fault::Unreadable(address, error))?;
        Ok(u32::from_le_bytes(word))
    }

    /// The end that a fault makes, where what was looked for is needed.
    fn end(&mut self, pc: u32, what: &'static str, fault: Fault<E>) -> StackEnd<E> {
        match fault {
            Fault::Broken(reason) => StackEnd::BrokenCallFrames { pc, reason },
            Fault::Unreadable(address, error) => StackEnd::Unreadable { pc, what, address, error },
            Fault::Unknown(number) => {
                let register = Registers::name(number).unwrap_or("a register that is not there");
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

/// Whether a function that says nothing of a register gives it back as it was. One that is called through
/// another link register, as GCC's routines that save registers are, leaves `ra` to its caller.
fn kept(number: u16, link: u16) -> bool {
    preserved(number) || (number == RA && link != RA)
}

/// Whether a register keeps its value through the frame.
fn same(rule: Option<&Rule>) -> bool {
    matches!(rule, None | Some(Rule::Same))
}
