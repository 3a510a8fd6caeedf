//! The place that an expression resolves to, and why an expression has no value.

use std::fmt;

use crate::decode::decode_bits;
use crate::error::Error;
use crate::storage::Storage;
use crate::types::{Bits, Type};
use crate::value::Value;

/// The place that an expression resolves to.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The type of the expression.
    pub ty: Type,
    /// The place of its value.
    pub storage: Storage,
    /// For bit-fields: the number of bits, and the first bit of the first byte (0 to 7).
    pub bits: Option<Bits>,
}

/// Why an expression has no value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum EvalError<E> {
    /// The expression is invalid in this file.
    Wrong {
        /// The invalid part, as written.
        part: String,
        /// The reason.
        error: Error,
    },
    /// Memory that it needs cannot be read.
    Memory {
        /// The part of the expression whose value is needed, as written.
        part: String,
        /// The address as the core sees it.
        address: u64,
        /// The number of bytes.
        length: u64,
        /// The error of the memory access.
        error: E,
    },
}

impl<E: fmt::Display> fmt::Display for EvalError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::Wrong { part, error } => {
                let text = error.to_string();
                if text.contains(&format!("`{part}`")) {
                    f.write_str(&text)
                } else {
                    write!(f, "in `{part}`: {text}")
                }
            }
            EvalError::Memory { part, address, length, error } => {
                write!(f, "`{part}`, {length} bytes at {address:#x}: {error}")
            }
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for EvalError<E> {}

/// A failed access: its address, its length, and the error.
pub(crate) type Failed<E> = (u64, u64, E);

impl Resolved {
    pub(crate) fn constant(ty: Type, bytes: Vec<u8>) -> Resolved {
        Resolved { ty, storage: Storage::Constant(bytes), bits: None }
    }

    pub(crate) fn computed(ty: Type, bytes: Vec<u8>) -> Resolved {
        Resolved { ty, storage: Storage::Computed(bytes), bits: None }
    }

    /// Returns how many bytes from its address hold the value; for a bit-field the bytes that
    /// contain its bits. None for a type without a size.
    pub fn size(&self) -> Option<u64> {
        match self.bits {
            Some(bits) => Some(bits.offset.saturating_add(bits.size).div_ceil(8)),
            None => self.ty.size(),
        }
    }

    /// Returns the value, read in one access; `Unread` if `storage` is not readable.
    pub fn read<E>(
        &self,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<Value, E> {
        self.value(&mut read).map_err(|(_, _, error)| error)
    }

    /// Returns the value, or the failed access.
    pub(crate) fn value<E>(
        &self,
        read: &mut impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<Value, Failed<E>> {
        match (&self.storage, self.bits) {
            (Storage::Address(address), Some(bits)) => {
                let mut bytes = vec![0; self.size().unwrap_or(0).min(9) as usize];
                let length = bytes.len() as u64;
                read(*address, &mut bytes).map_err(|error| (*address, length, error))?;
                Ok(decode_bits(&self.ty, bits, &bytes))
            }
            (Storage::Address(address), None) => {
                let length = self.ty.size().unwrap_or(0);
                self.ty.read(*address, read).map_err(|error| (*address, length, error))
            }
            (Storage::Constant(bytes) | Storage::Computed(bytes), Some(bits)) => {
                Ok(decode_bits(&self.ty, bits, bytes))
            }
            (Storage::Constant(bytes) | Storage::Computed(bytes), None) => {
                Ok(self.ty.decode(bytes))
            }
            (Storage::Elsewhere(_) | Storage::Moving(_), _) => Ok(Value::Unread),
        }
    }
}
