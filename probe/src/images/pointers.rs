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

/// The expression with a structure's pointer written out as a number, if it begins with one of which the debug
/// information says what it points to but not where.
pub fn written_out(symbols: &Symbols, expression: &str) -> Option<String> {
    let text = expression.trim_start();
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end)?;
    let told =
        symbols.variable(name).is_some_and(|found| matches!(found.storage, Storage::Constant(_)));
    let at = known(name).filter(|_| !told)?;
    let of = pointed(symbols, name)?;
    Some(format!("(({} *){at:#x}){rest}", of.ty.name()))
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
