//! Structures in L1 that an image finds through a pointer of a well-known name.

use layouts::ChipLayout;
use std::fmt;
use std::ops::Range;
use symbols::{Storage, Symbols, Type};

/// A structure in L1.
#[derive(Clone, Debug)]
pub(crate) struct Pointed {
    /// The pointer's value.
    pub(crate) base: u64,
    /// The type of the structure.
    pub(crate) ty: Type,
}

/// The pointers for which [`known`] has an address.
const KNOWN: [&str; 2] = ["erisc_info", "routing_info"];

/// Returns the address of a structure of active Ethernet that host and firmware share, as the host
/// places it: a linker can keep a pointer's type in the debug information, but not its value.
fn known(layout: &ChipLayout, name: &str) -> Option<u64> {
    let l1 = &layout.eth.l1;
    match name {
        "erisc_info" => Some(l1.erisc_info.at),
        "routing_info" => Some(l1.routing_enabled.at),
        _ => None,
    }
}

/// Finds a structure; none if the image does not have the pointer, or its value is not known.
pub(crate) fn pointed(layout: &ChipLayout, symbols: &Symbols, name: &str) -> Option<Pointed> {
    let variable = symbols.variable(name)?;
    let ty = symbols.pointee(&variable.ty?)?;
    let value = match &variable.storage {
        Storage::Constant(bytes) => {
            bytes.first_chunk().map(|word| u64::from(u32::from_le_bytes(*word)))
        }
        _ => None,
    };
    Some(Pointed { base: value.or_else(|| known(layout, name))?, ty })
}

/// An expression in which a structure's pointer is replaced by a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPointer {
    /// The expression to evaluate.
    pub text: String,
    /// The pointer's name.
    pub pointer: &'static str,
    /// The address at which the host places the structure, from the layouts.
    pub at: u64,
}

impl fmt::Display for ResolvedPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, at, .. } = self;
        write!(f, "{pointer} points to {at:#x}, where the host places it (from the layouts)")
    }
}

/// Replaces a structure's pointer in an expression by a number, if the debug information has the
/// pointer's type but not its value.
pub fn resolve_pointer(
    layout: &ChipLayout,
    symbols: &Symbols,
    expression: &str,
) -> Option<ResolvedPointer> {
    KNOWN.into_iter().find_map(|pointer| {
        let range = named_in(expression, pointer)?;
        let has_value = symbols
            .variable(pointer)
            .is_some_and(|found| matches!(found.storage, Storage::Constant(_)));
        let at = known(layout, pointer).filter(|_| !has_value)?;
        let target = pointed(layout, symbols, pointer)?;
        let (before, after) = (expression.get(..range.start)?, expression.get(range.end..)?);
        let text = format!("{before}(({} *){at:#x}){after}", target.ty.name());
        Some(ResolvedPointer { text, pointer, at })
    })
}

/// Finds a name in an expression that is neither a member nor in a namespace.
fn named_in(expression: &str, name: &str) -> Option<Range<usize>> {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = expression.match_indices(name).filter(|(at, _)| {
        let (before, rest) = expression.split_at(*at);
        let before_blanks = before.trim_end();
        let inner = [".", "->", "::"].iter().any(|sign| before_blanks.ends_with(sign));
        !inner && !before.ends_with(part) && !rest[name.len()..].starts_with(part)
    });
    found.next().map(|(at, _)| at..at + name.len())
}

/// Returns the address of a member of a structure that is found through the pointer `name`.
pub fn member(layout: &ChipLayout, symbols: &Symbols, name: &str, path: &str) -> Option<u64> {
    place(layout, symbols, name, path).map(|(address, _)| address)
}

/// Returns address and type of a member of a structure that is found through the pointer `name`.
pub(super) fn place(
    layout: &ChipLayout,
    symbols: &Symbols,
    name: &str,
    path: &str,
) -> Option<(u64, Type)> {
    let target = pointed(layout, symbols, name)?;
    let place = symbols.member(&format!("{}.{path}", target.ty.plain().name())).ok()?;
    Some((target.base.checked_add(place.field.offset)?, place.ty))
}

#[cfg(test)]
mod tests {
    use super::named_in;

    #[test]
    fn a_pointer_is_written_out_wherever_it_stands_alone() {
        assert_eq!(named_in("*erisc_info", "erisc_info"), Some(1..11));
        assert_eq!(named_in("&erisc_info->channels[0]", "erisc_info"), Some(1..11));
        for other in
            ["a.erisc_info", "p -> erisc_info", "ns::erisc_info", "my_erisc_info", "erisc_info_t@0"]
        {
            assert_eq!(named_in(other, "erisc_info"), None, "{other}");
        }
    }
}
