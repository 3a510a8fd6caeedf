//! The largest value decoded at once.

use crate::error::Error;
use crate::types::{Kind, Type};
use crate::walk::element;

/// The most bytes of one value; the largest L1 has 1.5 MiB.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// The most values of one decoding: unions and empty elements make more values than bytes.
pub(crate) const MAX_VALUES: usize = 1 << 20;

/// The deepest nesting of records decoded.
pub(crate) const MAX_DEPTH: usize = 96;

impl Type {
    /// Checks that a value of this type can be decoded at once. A part of a larger value may pass.
    ///
    /// # Errors
    /// `TooLarge` with the limits.
    pub fn check_size(&self) -> Result<(), Error> {
        let mut left = MAX_VALUES as u64;
        let bytes = self.size().unwrap_or(0);
        match charge(self, &mut left, MAX_DEPTH).filter(|()| bytes <= MAX_BYTES) {
            Some(()) => Ok(()),
            None => Err(Error::TooLarge {
                in_type: self.name().into(),
                bytes: MAX_BYTES,
                values: MAX_VALUES as u64,
            }),
        }
    }
}

/// Subtracts from `left` what a decoding of this type costs; none if that is too much.
fn charge(ty: &Type, left: &mut u64, depth: usize) -> Option<()> {
    *left = left.checked_sub(1)?;
    let Some(depth) = depth.checked_sub(1) else { return Some(()) };
    match ty.plain().kind() {
        Kind::Record(record) => {
            for member in record.members.iter().filter(|member| member.bits.is_none()) {
                charge(&member.ty, left, depth)?;
            }
            // A record that uses the last value counts as too large.
            (*left > 0).then_some(())
        }
        Kind::Array(array) => {
            let count = array.lengths.first().copied().flatten().unwrap_or(0);
            let Some(more) = count.checked_sub(1) else { return Some(()) };
            let before = *left;
            charge(&element(ty.plain(), array), left, depth)?;
            *left = left.checked_sub(more.checked_mul(before - *left)?)?;
            Some(())
        }
        _ => Some(()),
    }
}
