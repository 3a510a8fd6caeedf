//! Evaluates an expression in one file: its type, its place and, with memory to read, its value.

use crate::expression::Expression;
use crate::resolve::Resolver;
use crate::resolved::{EvalError, Resolved};
use crate::storage::Storage;
use crate::symbols::Symbols;
use crate::types::Type;
use crate::value::Value;

/// An expression with its value.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The type of the expression.
    pub ty: Type,
    /// The place of its value.
    pub storage: Storage,
    /// The value; `Unread` where `storage` is not readable.
    pub value: Value,
}

impl Symbols {
    /// Resolves an expression to its type and place. `read` reads memory by the core's own address.
    /// It is called only to follow a pointer or for an index that is not a number: `a.b[2]` needs
    /// no read, `p->m` the four bytes of `p`. A reference resolves to its target if it can be read.
    pub fn resolve<E>(
        &self,
        expression: &Expression,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<Resolved, EvalError<E>> {
        Resolver { symbols: self, expression, read: &mut read }.whole()
    }

    /// Resolves an expression and reads its value in one access. Refuses a value too large to be
    /// decoded at once.
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
        Ok(Evaluated { ty: found.ty, storage: found.storage, value })
    }
}
