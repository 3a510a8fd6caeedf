//! The tokens of an expression: names with template arguments, numbers, and the text of types.

use super::Literal;

/// Returns the length of the name at the start of `text`: identifiers joined by `::`, each with its
/// template arguments, and unnamed namespaces. 0 if there is none.
pub(crate) fn name(text: &str) -> usize {
    const NAMELESS: &str = "(anonymous namespace)";
    let mut end = text.len() - text.trim_start_matches("::").len();
    loop {
        let rest = text.get(end..).unwrap_or_default();
        let part = if rest.starts_with(NAMELESS) { NAMELESS.len() } else { identifier(rest) };
        if part == 0 {
            return 0;
        }
        end += part;
        let rest = text.get(end..).unwrap_or_default();
        if rest.starts_with('<') && !is_shift(rest) {
            let Some(arguments) = bracketed(rest) else { return 0 };
            end += arguments;
        }
        match text.get(end..).and_then(|rest| rest.strip_prefix("::")) {
            Some(_) => end += 2,
            None => return end,
        }
    }
}

/// Whether `<<` shifts: a template argument that begins with `<` is an unnamed function.
fn is_shift(text: &str) -> bool {
    text.starts_with("<<") && !text.starts_with("<<lambda")
}

/// Returns the length of the identifier at the start of `text`.
pub(crate) fn identifier(text: &str) -> usize {
    let first = |c: char| c.is_alphabetic() || c == '_';
    if !text.starts_with(first) {
        return 0;
    }
    let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    text.find(|c| !inside(c)).unwrap_or(text.len())
}

/// Returns the length of the bracketed part at the start of `text`, brackets included.
pub(crate) fn bracketed(text: &str) -> Option<usize> {
    let mut open = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' => open.push(b'>'),
            b'(' => open.push(b')'),
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            // The tip of `->` is not a bracket.
            b'>' if text.as_bytes().get(at.wrapping_sub(1)) == Some(&b'-') => {}
            b'>' | b')' | b']' | b'}' if open.pop() != Some(byte) => return None,
            _ => {}
        }
        if open.is_empty() {
            return Some(at + 1);
        }
    }
    None
}

/// Returns the number at the start of `text` and its length: decimal, `0x`, `0b` or octal after a
/// `0`, with `_` or `'` between digits and C++ suffixes.
pub(crate) fn number(text: &str) -> Option<(Literal, usize)> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'';
    let end = text.find(|c| !word(c)).unwrap_or(text.len());
    let digits: String = text.get(..end)?.chars().filter(|c| !matches!(c, '_' | '\'')).collect();
    let written = digits.to_ascii_lowercase();
    let digits = written.trim_end_matches(['u', 'l']);
    let suffix = written.get(digits.len()..)?;
    if !matches!(suffix, "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu") {
        return None;
    }
    let (digits, radix) = match digits.get(..2) {
        Some("0x") => (digits.get(2..)?, 16),
        Some("0b") => (digits.get(2..)?, 2),
        Some(_) if digits.starts_with('0') => (digits, 8),
        _ => (digits, 10),
    };
    let value = u64::from_str_radix(digits, radix).ok()?.into();
    let unsigned = suffix.contains('u');
    let longs = suffix.len() - usize::from(unsigned);
    Some((Literal { value, decimal: radix == 10, unsigned, longs }, end))
}

/// Returns the length of the type before an `@`; none if no `@` belongs to the type at the start.
pub(crate) fn type_before_at(text: &str) -> Option<usize> {
    let (mut at, mut starred) = (0, false);
    loop {
        let rest = text.get(at..)?;
        match rest.bytes().next()? {
            b'@' => return Some(at),
            b'<' | b'[' => at += bracketed(rest)?,
            b'(' if rest.starts_with("(anonymous namespace)") => at += bracketed(rest)?,
            b'*' => {
                starred |= at > 0;
                at += 1;
            }
            b' ' | b':' => at += 1,
            _ => {
                let word = identifier(rest);
                // A name after a star is a factor.
                if starred && !matches!(rest.get(..word), Some("const" | "volatile")) {
                    return None;
                }
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                at += Some(word.max(digits)).filter(|length| *length > 0)?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{bracketed, name, number, type_before_at};

    #[test]
    fn names_end_where_they_end() {
        let checks = [
            ("a.b", "a"),
            ("ns::x[1]", "ns::x"),
            ("::ns::x", "::ns::x"),
            ("Ring<u, (e)1, A<2> >::slot_t.x", "Ring<u, (e)1, A<2> >::slot_t"),
            ("f<&g>->x", "f<&g>"),
            ("(anonymous namespace)::x", "(anonymous namespace)::x"),
            ("p->m", "p"),
            ("a<<2", "a"),
            ("f<<lambda()> >::x", "f<<lambda()> >::x"),
            ("1a", ""),
            ("a::", ""),
            ("a<b", ""),
        ];
        for (text, want) in checks {
            assert_eq!(&text[..name(text)], want, "{text}");
        }
    }

    #[test]
    fn numbers_have_many_forms() {
        let checks = [
            ("12]", Some((12, 2))),
            ("0x1_0u", Some((16, 6))),
            ("0b101", Some((5, 5))),
            ("0777", Some((511, 4))),
            ("0", Some((0, 1))),
            ("5ULL", Some((5, 4))),
            ("089", None),
            ("5lul", None),
            ("x", None),
            ("0xfffffffffffffffff", None),
        ];
        for (text, want) in checks {
            assert_eq!(number(text).map(|(found, end)| (found.value, end)), want, "{text}");
        }
    }

    #[test]
    fn brackets_must_pair() {
        assert_eq!(bracketed("[a<b>(c)]d"), Some(9));
        assert_eq!(bracketed("[a)"), None);
        assert_eq!(bracketed("(p->x)"), Some(6));
    }

    #[test]
    fn types_stand_before_their_address() {
        assert_eq!(type_before_at("struct a::b<1> *[4]@0x10"), Some(19));
        assert_eq!(type_before_at("a[b@1]"), None);
        assert_eq!(type_before_at("a.b@1"), None);
        assert_eq!(type_before_at("a * b_t@1"), None);
        assert_eq!(type_before_at("a_t * const@1"), Some(11));
    }
}
