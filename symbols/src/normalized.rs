//! Converts names as written by users to GCC's spelling in DWARF.

use std::borrow::Cow;

/// The words of integer types, and `double`, which changes the meaning of `long`.
const WORDS: [&str; 7] = ["unsigned", "signed", "short", "long", "int", "char", "double"];

/// Returns GCC's spelling: `ring_t<unsigned short,4>` as `ring_t<short unsigned int, 4>`, and
/// `a<b<1>>` as `a<b<1> >`.
pub(crate) fn normalized(name: &str) -> Cow<'_, str> {
    if name.contains("operator") || !(name.contains('<') || words(name).any(is_integer_word)) {
        return Cow::Borrowed(name);
    }
    let mut text = String::with_capacity(name.len() + 8);
    let (mut run, mut rest, mut depth) = (Vec::new(), name, 0usize);
    while let Some(first) = rest.chars().next() {
        let word = rest.split(|c| !is_word_char(c)).next().unwrap_or_default();
        let length = word.len().max(if word.is_empty() { first.len_utf8() } else { 0 });
        let (part, after) = rest.split_at(length);
        rest = after;
        if is_integer_word(part) {
            run.push(part);
            continue;
        }
        // Blanks between the words of one type belong to it.
        let next = rest.trim_start().split(|c| !is_word_char(c)).next().unwrap_or_default();
        if part == " " && !run.is_empty() && (is_integer_word(next) || rest.starts_with(' ')) {
            continue;
        }
        text.push_str(&integer(&run));
        run.clear();
        match part {
            "," if depth > 0 => {
                text.push_str(", ");
                rest = rest.trim_start();
                continue;
            }
            "<" => depth += 1,
            ">" => {
                depth = depth.saturating_sub(1);
                if text.ends_with('>') {
                    text.push(' ');
                }
            }
            _ => {}
        }
        text.push_str(part);
    }
    text.push_str(&integer(&run));
    Cow::Owned(text)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word_char(c))
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_integer_word(word: &str) -> bool {
    WORDS.contains(&word)
}

/// Returns the words of one integer type in GCC's order; empty without words.
fn integer(run: &[&str]) -> String {
    let has = |word| run.contains(&word);
    if run.is_empty() || has("double") || has("char") {
        return run.join(" ");
    }
    let sizes = run.iter().filter(|word| matches!(**word, "short" | "long"));
    let sign = has("unsigned").then_some("unsigned");
    sizes.copied().chain(sign).chain(["int"]).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn names_are_spelled_as_gcc_does() {
        for (written, want) in [
            ("mailboxes_t", "mailboxes_t"),
            ("unsigned", "unsigned int"),
            ("unsigned  long", "long unsigned int"),
            ("long long unsigned", "long long unsigned int"),
            ("signed", "int"),
            ("signed char", "signed char"),
            ("long double", "long double"),
            ("ring_t<unsigned short,4>", "ring_t<short unsigned int, 4>"),
            ("ring_t<short unsigned int, 4>", "ring_t<short unsigned int, 4>"),
            ("a::b<c<1>>::d", "a::b<c<1> >::d"),
            ("b<c<1> >", "b<c<1> >"),
            ("f<(mode_t)1,  const char*>", "f<(mode_t)1, const char*>"),
            ("f<long , int>", "f<long int , int>"),
            (
                "x<(anonymous namespace)::y()::<lambda()> >",
                "x<(anonymous namespace)::y()::<lambda()> >",
            ),
            ("internals_t<unsigned>", "internals_t<unsigned int>"),
            ("a<b>>", "a<b> >"),
            ("operator<<", "operator<<"),
            ("<", "<"),
            ("", ""),
        ] {
            assert_eq!(normalized(written), want, "{written}");
        }
    }
}
