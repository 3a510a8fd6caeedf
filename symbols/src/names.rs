//! Requested names: keyword, scopes, last part, and the hash that the index uses.

use crate::types::{self, Kind};

/// FNV-1a over the bytes of a name.
pub(crate) fn hash(name: &[u8]) -> u32 {
    name.iter().fold(0x811c_9dc5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// A leading `struct`, `class`, `union` or `enum`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Keyword {
    /// `struct` or `class`, which C++ treats alike.
    Record,
    Union,
    Enum,
}

/// A parsed name: `struct a::b::c` is `Record`, `[a, b]`, `c`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Name<'a> {
    pub(crate) keyword: Option<Keyword>,
    /// The outer scopes, outermost first.
    pub(crate) scopes: Vec<&'a str>,
    pub(crate) last: &'a str,
}

impl Keyword {
    /// Whether the keyword declares a type of this kind.
    pub(crate) fn fits(self, kind: &Kind) -> bool {
        match kind {
            Kind::Record(record) => {
                (record.keyword == types::Keyword::Union) == (self == Keyword::Union)
            }
            Kind::Enum(_) => self == Keyword::Enum,
            _ => false,
        }
    }
}

impl<'a> Name<'a> {
    /// Parses a name; `::` inside template arguments does not count.
    pub(crate) fn parse(text: &'a str) -> Name<'a> {
        let (keyword, rest) = keyword(text.trim());
        let mut scopes = split_scopes(rest.trim().trim_start_matches("::"));
        let last = scopes.pop().unwrap_or_default();
        Name { keyword, scopes, last }
    }
}

fn keyword(text: &str) -> (Option<Keyword>, &str) {
    const KEYWORDS: [(&str, Keyword); 6] = [
        ("enum class ", Keyword::Enum),
        ("enum struct ", Keyword::Enum),
        ("enum ", Keyword::Enum),
        ("struct ", Keyword::Record),
        ("class ", Keyword::Record),
        ("union ", Keyword::Union),
    ];
    let stripped = KEYWORDS.iter().find_map(|&(word, k)| Some((Some(k), text.strip_prefix(word)?)));
    stripped.unwrap_or((None, text))
}

/// Splits at each `::` that is outside all brackets.
pub(crate) fn split_scopes(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0usize, 0usize);
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'<' | b'(' | b'{' => depth += 1,
            b'>' | b')' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && at >= start && bytes.get(at + 1) == Some(&b':') => {
                parts.push(text.get(start..at).unwrap_or_default());
                start = at + 2;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

#[cfg(test)]
mod tests {
    use super::{Keyword, Name};

    fn check(text: &str, keyword: Option<Keyword>, scopes: &[&str], last: &str) {
        let name = Name::parse(text);
        assert_eq!((name.keyword, name.scopes.as_slice(), name.last), (keyword, scopes, last));
    }

    #[test]
    fn names_come_apart() {
        check("mailboxes_t", None, &[], "mailboxes_t");
        check("struct X", Some(Keyword::Record), &[], "X");
        check("enum class a::E", Some(Keyword::Enum), &["a"], "E");
        check("::a::b::c", None, &["a", "b"], "c");
        check("a::B<x::y, (z::w)1>::C<d::e>", None, &["a", "B<x::y, (z::w)1>"], "C<d::e>");
        check("", None, &[], "");
        check("structure", None, &[], "structure");
    }
}
