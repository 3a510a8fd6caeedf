//! Structures of L1 that an image finds through a pointer of a well-known name.

use layouts::ChipLayout;
use std::fmt;
use std::ops::Range;
use symbols::{Storage, Symbols, Type};

/// A structure in L1.
#[derive(Clone, Debug)]
pub(crate) struct Pointed {
    /// Where it points.
    pub(crate) base: u64,
    /// What stands there.
    pub(crate) ty: Type,
}

/// The pointers of which [`known`] tells.
const KNOWN: [&str; 2] = ["erisc_info", "routing_info"];

/// The structures that host and firmware share, those of active Ethernet with the place that the host gives them:
/// a linker may leave a pointer's type in the debug information and no value of it.
fn known(layout: &ChipLayout, name: &str) -> Option<u64> {
    let l1 = &layout.eth.l1;
    match name {
        "erisc_info" => Some(l1.erisc_info.at),
        "routing_info" => Some(l1.routing_enabled.at),
        _ => None,
    }
}

/// Finds a structure; none if the image has no such pointer, or says nothing of where it points.
pub(crate) fn pointed(layout: &ChipLayout, symbols: &Symbols, name: &str) -> Option<Pointed> {
    let variable = symbols.variable(name)?;
    let ty = symbols.pointee(&variable.ty?)?;
    let told = match &variable.storage {
        Storage::Constant(bytes) => {
            bytes.first_chunk().map(|word| u64::from(u32::from_le_bytes(*word)))
        }
        _ => None,
    };
    Some(Pointed { base: told.or_else(|| known(layout, name))?, ty })
}

/// An expression in which a structure's pointer is written out as a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenOut {
    /// The expression to ask.
    pub text: String,
    /// The pointer's name.
    pub pointer: &'static str,
    /// Where the layouts say that the host puts what it points to.
    pub at: u64,
}

impl fmt::Display for WrittenOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, at, .. } = self;
        write!(f, "{pointer} points to {at:#x} by the layouts: the host puts it there")
    }
}

/// The expression with a structure's pointer written out, if it names one of which the debug information says
/// what it points to but not where.
pub fn written_out(layout: &ChipLayout, symbols: &Symbols, expression: &str) -> Option<WrittenOut> {
    KNOWN.into_iter().find_map(|pointer| {
        let range = named_in(expression, pointer)?;
        let told = symbols
            .variable(pointer)
            .is_some_and(|found| matches!(found.storage, Storage::Constant(_)));
        let at = known(layout, pointer).filter(|_| !told)?;
        let of = pointed(layout, symbols, pointer)?;
        let (before, after) = (expression.get(..range.start)?, expression.get(range.end..)?);
        let text = format!("{before}(({} *){at:#x}){after}", of.ty.name());
        Some(WrittenOut { text, pointer, at })
    })
}

/// Where a name stands alone in an expression, not as a member or in a namespace.
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

/// The address of a member of such a structure, by the name of its type.
pub fn member(layout: &ChipLayout, symbols: &Symbols, name: &str, path: &str) -> Option<u64> {
    place(layout, symbols, name, path).map(|(address, _)| address)
}

/// The address and the type of a member of such a structure.
pub(super) fn place(
    layout: &ChipLayout,
    symbols: &Symbols,
    name: &str,
    path: &str,
) -> Option<(u64, Type)> {
    let of = pointed(layout, symbols, name)?;
    let place = symbols.member(&format!("{}.{path}", of.ty.plain().name())).ok()?;
    Some((of.base.checked_add(place.field.offset)?, place.ty))
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
