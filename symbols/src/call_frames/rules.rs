//! The call frame rules at one address, copied out of their section.

use gimli::{
    CfaRule, CommonInformationEntry, Encoding, RegisterRule, UnwindExpression, UnwindSection,
    UnwindTableRow,
};

use crate::sections::Slice;

/// How the canonical frame address is computed: the value of `sp` before the call.
#[derive(Clone, Debug)]
pub(crate) enum Cfa {
    Register { register: u16, offset: i64 },
    Expression(Vec<u8>),
}

/// Where the caller's value of a register is.
#[derive(Clone, Debug)]
pub(crate) enum Rule {
    /// Lost. For the link register: the function has no caller.
    Undefined,
    /// Unchanged.
    Same,
    /// In memory, at this offset from the frame address.
    Offset(i64),
    /// The frame address plus this number.
    ValOffset(i64),
    /// In another register.
    Register(u16),
    /// In memory, at the address that an expression computes.
    Expression(Vec<u8>),
    /// The value that an expression computes.
    ValExpression(Vec<u8>),
}

/// All rules at one address.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) cfa: Cfa,
    registers: Vec<(u16, Rule)>,
    /// The register that holds the return address on entry. In a trap's frame it may be a number
    /// beyond the integer registers.
    pub(crate) link: u16,
    /// Whether this is a trap's frame: the interrupted frame has not made a call.
    pub(crate) interrupts: bool,
    pub(crate) encoding: Encoding,
}

impl Rules {
    /// Copies one row. The error describes a rule that no unwinder could use.
    pub(crate) fn new<'a, S: UnwindSection<Slice<'a>>>(
        section: &S,
        cie: &CommonInformationEntry<Slice<'a>>,
        row: &UnwindTableRow<usize>,
    ) -> Result<Rules, String> {
        let bytes = |expression: &UnwindExpression<usize>| {
            let expression = expression.get(section).map_err(|error| error.to_string())?;
            Ok::<_, String>(expression.0.slice().to_vec())
        };
        let cfa = match row.cfa() {
            // gimli returns x0 if the row has no rule for the frame address.
            CfaRule::RegisterAndOffset { register, .. } if register.0 == 0 => {
                return Err("no rule for the frame address".to_owned());
            }
            CfaRule::RegisterAndOffset { register, offset } => {
                Cfa::Register { register: register.0, offset: *offset }
            }
            CfaRule::Expression(expression) => Cfa::Expression(bytes(expression)?),
        };
        let mut registers = Vec::new();
        for (register, rule) in row.registers() {
            let rule = match rule {
                RegisterRule::Undefined => Rule::Undefined,
                RegisterRule::SameValue => Rule::Same,
                RegisterRule::Offset(offset) => Rule::Offset(*offset),
                RegisterRule::ValOffset(offset) => Rule::ValOffset(*offset),
                RegisterRule::Register(other) => Rule::Register(other.0),
                RegisterRule::Expression(expression) => Rule::Expression(bytes(expression)?),
                RegisterRule::ValExpression(expression) => Rule::ValExpression(bytes(expression)?),
                other => return Err(format!("the rule {other:?} is not for this processor")),
            };
            registers.push((register.0, rule));
        }
        let link = cie.return_address_register().0;
        if link == 0 {
            return Err("the return address in x0".to_owned());
        }
        let interrupts = cie.is_signal_trampoline();
        Ok(Rules { cfa, registers, link, interrupts, encoding: cie.encoding() })
    }

    /// Returns the rule for a register; none if the row has none.
    pub(crate) fn rule(&self, register: u16) -> Option<&Rule> {
        self.registers.iter().find(|(number, _)| *number == register).map(|(_, rule)| rule)
    }
}
