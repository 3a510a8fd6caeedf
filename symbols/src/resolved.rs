//! Where an expression leads to, and why it has no value.

use std::fmt;

use crate::decode::decode_bits;
use crate::error::Error;
use crate::storage::Storage;
use crate::types::{Bits, Type};
use crate::value::Value;

/// Where an expression leads to.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The type at its end.
    pub ty: Type,
    /// Where its value is.
    pub storage: Storage,
    /// For bit-fields: how many bits, and from which bit of the first byte on (0 to 7).
    pub bits: Option<Bits>,
}

/// Why an expression has no value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum EvalError<E> {
    /// It makes no sense in this file.
    Wrong {
        /// The part of the expression that does not, as written.
        part: String,
        /// Why.
        error: Error,
    },
    /// Memory that it needs cannot be read.
    Memory {
        /// The part of the expression whose value was asked for, as written.
        part: String,
        /// Where in memory, as the core sees it.
        address: u64,
        /// How many bytes.
        length: u64,
        /// What whoever reads memory said.
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

/// An access that failed: where, how many bytes, and why.
pub(crate) type Failed<E> = (u64, u64, E);

impl Resolved {
    pub(crate) fn constant(ty: Type, bytes: Vec<u8>) -> Resolved {
        Resolved { ty, storage: Storage::Constant(bytes), bits: None }
    }

    pub(crate) fn computed(ty: Type, bytes: Vec<u8>) -> Resolved {
        Resolved { ty, storage: Storage::Computed(bytes), bits: None }
    }

    /// How many bytes from its address on hold the value; for a bit-field the bytes that its bits
    /// touch. None for a type without a size.
    pub fn size(&self) -> Option<u64> {
        match self.bits {
            Some(bits) => Some(bits.offset.saturating_add(bits.size).div_ceil(8)),
            None => self.ty.size(),
        }
    }

    /// The value, read in one access; `Unread` where `storage` is no place that can be read.
    pub fn read<E>(
        &self,
        mut read: impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<Value, E> {
        self.value(&mut read).map_err(|(_, _, error)| error)
    }

    /// The value, and with an error where it was.
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
