//! Paths such as `mailboxes_t.launch[3].kernel_config.enables`: a root, then members and indexes.

use crate::error::Error;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum PathStep<'a> {
    /// `.name`
    Member(&'a str),
    /// `[3]`
    Index(u64),
    /// `->name`
    Through(&'a str),
}

/// Splits a path into the root's name, which may contain template arguments, and the rest.
pub(crate) fn split_root(path: &str) -> (&str, &str) {
    let path = path.trim();
    let mut depth = 0usize;
    let bytes = path.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let arrow = byte == b'-' && bytes.get(at + 1) == Some(&b'>');
        match byte {
            b'<' | b'(' => depth += 1,
            b'>' | b')' => depth = depth.saturating_sub(1),
            b'.' | b'[' if depth == 0 => return path.split_at_checked(at).unwrap_or((path, "")),
            _ if arrow && depth == 0 => return path.split_at_checked(at).unwrap_or((path, "")),
            _ => {}
        }
    }
    (path, "")
}

/// The steps of the rest of a path. It does not allocate: lookups are frequent.
pub(crate) struct Steps<'a> {
    path: &'a str,
    rest: &'a str,
}

impl<'a> Steps<'a> {
    /// `rest` is a part of `path`, which errors contain.
    pub(crate) fn new(path: &'a str, rest: &'a str) -> Steps<'a> {
        Steps { path, rest }
    }

    fn step(&mut self) -> Option<PathStep<'a>> {
        if let Some(rest) = self.rest.strip_prefix("->") {
            return Some(PathStep::Through(self.word(rest)?));
        }
        if let Some(rest) = self.rest.strip_prefix('.') {
            return Some(PathStep::Member(self.word(rest)?));
        }
        let (index, rest) = self.rest.strip_prefix('[')?.split_once(']')?;
        let index = number(index.trim())?;
        self.rest = rest;
        Some(PathStep::Index(index))
    }

    fn word(&mut self, text: &'a str) -> Option<&'a str> {
        let end = text.bytes().position(|b| matches!(b, b'.' | b'[' | b'-')).unwrap_or(text.len());
        let (word, rest) = text.split_at_checked(end)?;
        let word = word.trim();
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }
}

impl<'a> Iterator for Steps<'a> {
    type Item = Result<PathStep<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.trim().is_empty() {
            return None;
        }
        let at = self.path.trim_end().len().saturating_sub(self.rest.trim_end().len());
        let step = self.step();
        if step.is_none() {
            self.rest = "";
        }
        Some(step.ok_or_else(|| Error::BadPath { path: self.path.to_owned(), at }))
    }
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::{PathStep, Steps, split_root};
    use crate::error::Error;

    fn steps(path: &str) -> Result<Vec<PathStep<'_>>, Error> {
        Steps::new(path, split_root(path).1).collect()
    }

    #[test]
    fn paths_come_apart() {
        assert_eq!(split_root("a::B<c.d, 1>::e.f[0]").0, "a::B<c.d, 1>::e");
        assert_eq!(split_root("mailboxes->launch").0, "mailboxes");
        assert_eq!(
            steps("m.launch[3].x[0x10]->y"),
            Ok(vec![
                PathStep::Member("launch"),
                PathStep::Index(3),
                PathStep::Member("x"),
                PathStep::Index(16),
                PathStep::Through("y")
            ])
        );
        assert_eq!(steps("m"), Ok(vec![]));
    }

    #[test]
    fn bad_paths_say_where() {
        for (path, at) in [("m.", 1), ("m[", 1), ("m[x]", 1), ("m.a..b", 3), ("m[1]b", 4)] {
            assert_eq!(steps(path), Err(Error::BadPath { path: path.to_owned(), at }));
        }
    }
}
