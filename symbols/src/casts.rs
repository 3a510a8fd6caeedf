//! Values and places from numbers: casts, `type@address` and `&x`, within 32 bits.

use crate::error::Error;
use crate::resolved::Resolved;
use crate::storage::{Storage, to_bytes};
use crate::synthetic;
use crate::types::{Encoding, Kind, Type};

/// The address after the last one that a core has.
const END: u64 = 1 << 32;

pub(crate) fn address_of(operand: &Resolved) -> Result<Resolved, Error> {
    let in_type = operand.ty.name().to_owned();
    match operand.storage {
        Storage::Address(address) if operand.bits.is_none() => {
            Ok(Resolved::computed(synthetic::pointer_to(&operand.ty), to_bytes(address, 4)))
        }
        Storage::Address(_) => Err(Error::NoParts { in_type, step: "&".to_owned() }),
        ref other => Err(Error::NoAddress { name: in_type, storage: other.to_string() }),
    }
}

pub(crate) fn cast(ty: Type, number: i128) -> Result<Resolved, Error> {
    let number = match ty.plain().kind() {
        // A core wraps a negative number, and users write `(char *)-1`.
        Kind::Pointer(_) if i32::try_from(number).is_err() => address(number)? as i128,
        Kind::Base(Encoding::Bool) => i128::from(number != 0),
        Kind::Base(Encoding::Float) => return Err(Error::NoCast { to: ty.name().to_owned() }),
        Kind::Base(_) | Kind::Enum(_) | Kind::Pointer(_) => number,
        _ => return Err(Error::NoCast { to: ty.name().to_owned() }),
    };
    match ty.size() {
        Some(size @ 1..=8) => Ok(Resolved::computed(ty, to_bytes(number as u64, size))),
        _ => Err(Error::NoCast { to: ty.name().to_owned() }),
    }
}

pub(crate) fn at(ty: Type, number: i128) -> Result<Resolved, Error> {
    Ok(Resolved { ty, storage: Storage::Address(address(number)?), bits: None })
}

/// Returns a number as an address.
pub(crate) fn address(number: i128) -> Result<u64, Error> {
    let address = u64::try_from(number).ok().filter(|address| *address < END);
    address.ok_or(Error::OutsideMemory { address: number })
}

/// Refuses a place without an address, or one that reaches past the last address.
pub(crate) fn within(found: Resolved) -> Result<Resolved, Error> {
    let Storage::Address(start) = found.storage else { return Ok(found) };
    let address = address(start.into())?;
    let length = found.size().unwrap_or(0);
    if length > END - address {
        return Err(Error::PastMemory { address, length });
    }
    Ok(found)
}
