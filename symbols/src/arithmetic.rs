//! Arithmetic with integers, as C++ defines it for a 32-bit core.

use crate::error::Error;
use crate::expression::Operator;
use crate::types::Type;

/// A number with the type that C++ calculates with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Integer {
    pub(crate) value: i128,
    /// Its size in bytes: 4 or 8.
    pub(crate) size: u64,
    pub(crate) signed: bool,
}

impl Integer {
    /// Promotes the value of a type: smaller types become `int`.
    pub(crate) fn of(ty: &Type, value: i128) -> Integer {
        match ty.size() {
            Some(8) => Integer { value, size: 8, signed: ty.is_signed() },
            Some(4) => Integer { value, size: 4, signed: ty.is_signed() },
            _ => Integer { value, size: 4, signed: true },
        }
    }

    fn bits(self) -> u64 {
        self.size * 8
    }

    fn name(self) -> &'static str {
        if self.size == 8 { "long long int" } else { "int" }
    }

    /// Returns a result in this type; unsigned ones wrap.
    fn holding(self, value: i128) -> Result<Integer, Error> {
        let wrapped = self.wrapping(value);
        if self.signed && wrapped.value != value {
            return Err(Error::Overflow { in_type: self.name(), number: value });
        }
        Ok(wrapped)
    }

    /// Returns the lowest bits of a value in this type.
    fn wrapping(self, value: i128) -> Integer {
        let modulus = 1i128 << self.bits();
        let low = value.rem_euclid(modulus);
        let negative = self.signed && low >= modulus / 2;
        Integer { value: if negative { low - modulus } else { low }, ..self }
    }

    /// `-x`
    pub(crate) fn negated(self) -> Result<Integer, Error> {
        self.holding(-self.value)
    }

    /// `~x`
    pub(crate) fn complement(self) -> Integer {
        self.wrapping(!self.value)
    }

    pub(crate) fn with(self, operator: Operator, right: Integer) -> Result<Integer, Error> {
        if let Operator::ShiftLeft | Operator::ShiftRight = operator {
            return self.shifted(operator, right.value);
        }
        let size = self.size.max(right.size);
        // A type gives way to a larger one, and a signed one to an unsigned one of its size.
        let is_signed = |operand: Integer| operand.size < size || operand.signed;
        let common = Integer { value: 0, size, signed: is_signed(self) && is_signed(right) };
        let (left, right) = (common.wrapping(self.value).value, common.wrapping(right.value).value);
        let value = match operator {
            Operator::Multiply => left.wrapping_mul(right),
            Operator::Divide => left.checked_div(right).ok_or(Error::DivisionByZero)?,
            Operator::Remainder => left.checked_rem(right).ok_or(Error::DivisionByZero)?,
            Operator::Add => left + right,
            Operator::Subtract => left - right,
            Operator::And => left & right,
            Operator::Xor => left ^ right,
            Operator::Or => left | right,
            Operator::ShiftLeft | Operator::ShiftRight => return Ok(common),
        };
        common.holding(value)
    }

    fn shifted(self, operator: Operator, by: i128) -> Result<Integer, Error> {
        let bits = self.bits();
        let amount = u32::try_from(by).ok().filter(|by| u64::from(*by) < bits);
        let amount = amount.ok_or(Error::Shift { by, bits })?;
        Ok(match operator {
            Operator::ShiftLeft => self.wrapping(self.value << amount),
            _ => self.wrapping(self.value >> amount),
        })
    }
}
