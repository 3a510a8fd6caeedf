//! Structures of L1 that an image finds through a pointer of a well-known name.

use layouts::wormhole;
use symbols::{Storage, Symbols, Type};

/// A structure in L1.
#[derive(Clone, Debug)]
pub(crate) struct Pointed {
    /// Where it points.
    pub(crate) base: u64,
    /// What stands there.
    pub(crate) ty: Type,
}

/// The structures that host and firmware share, those of active Ethernet with the place that the host gives them:
/// a linker may leave a pointer's type in the debug information and no value of it.
fn known(name: &str) -> Option<u64> {
    let l1 = &wormhole().eth.l1;
    match name {
        "erisc_info" => Some(l1.erisc_info.at),
        "routing_info" => Some(l1.routing_enabled.at),
        _ => None,
    }
}

/// Finds a structure; none if the image has no such pointer, or says nothing of where it points.
pub(crate) fn pointed(symbols: &Symbols, name: &str) -> Option<Pointed> {
    let variable = symbols.variable(name)?;
    let ty = symbols.pointee(&variable.ty?)?;
    let told = match &variable.storage {
        Storage::Constant(bytes) => {
            bytes.first_chunk().map(|word| u64::from(u32::from_le_bytes(*word)))
        }
        _ => None,
    };
    Some(Pointed { base: told.or_else(|| known(name))?, ty })
}

/// The address of a member of such a structure, by the name of its type.
pub(crate) fn member(symbols: &Symbols, name: &str, path: &str) -> Option<u64> {
    place(symbols, name, path).map(|(address, _)| address)
}

/// The address and the type of a member of such a structure.
pub(super) fn place(symbols: &Symbols, name: &str, path: &str) -> Option<(u64, Type)> {
    let of = pointed(symbols, name)?;
    let place = symbols.member(&format!("{}.{path}", of.ty.plain().name())).ok()?;
    Some((of.base.checked_add(place.field.offset)?, place.ty))
}
