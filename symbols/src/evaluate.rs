//! What an expression means in one file: its type, where it is and, with memory to read, its value.

use crate::expression::Expression;
use crate::resolve::Resolver;
use crate::resolved::{EvalError, Resolved};
use crate::storage::Storage;
use crate::symbols::Symbols;
use crate::types::{Bits, Type};
use crate::value::Value;

/// An expression with its value.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The type at its end.
    pub ty: Type,
    /// Where its value is.
    pub storage: Storage,
    /// For bit-fields: how many bits, and from which bit of the first byte on (0 to 7).
    pub bits: Option<Bits>,
    /// What stands there; `Unread` where `storage` is no place that can be read.
    pub value: Value,
}

impl Symbols {
    /// Finds out where an expression leads to. `read` is asked for memory, by the address that the
    /// core itself uses, only where a pointer is followed or an index is not a number: `a.b[2]` needs
    /// none, `p->m` the four bytes of `p`. A reference stands for what it refers to, if it can be read.
    pub fn resolve<E>(
        &self,
        expression: &Expression,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<Resolved, EvalError<E>> {
        Resolver { symbols: self, expression, read: &mut read }.whole()
    }

    /// Like `resolve`, and then reads the value itself, in one access. A value too large to be decoded
    /// at once is refused.
    pub fn evaluate<E>(
        &self,
        expression: &Expression,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<Evaluated, EvalError<E>> {
        let found = self.resolve(expression, &mut read)?;
        if found.bits.is_none() {
            found.ty.check_size().map_err(|error| EvalError::Wrong {
                part: expression.text().trim().to_owned(),
                error,
            })?;
        }
        let value = found.value(&mut read).map_err(|(address, length, error)| {
            let part = expression.text().trim().to_owned();
            EvalError::Memory { part, address, length, error }
        })?;
        Ok(Evaluated { ty: found.ty, storage: found.storage, bits: found.bits, value })
    }
}
