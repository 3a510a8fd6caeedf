//! A cursor over the file's JSON that knows the path of each value, so that every error names it.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The longest text of a file that an error repeats, in characters.
const MOST_QUOTED: usize = 60;
/// The longest path that an error repeats, in characters.
const MOST_PATH: usize = 200;

/// Why a manifest is refused: the file, the path of the key in it, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestError {
    /// Name or path of the file, as given.
    pub file: String,
    /// Path of the key, such as `meshes/M0/chips/C7`; empty for an error of the whole file.
    pub key: String,
    /// The reason, as the rest of a sentence that begins with the key.
    pub what: String,
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, key, what } = self;
        if key.is_empty() {
            write!(f, "{file}: {what}")
        } else {
            write!(f, "{file}: `{key}` {what}")
        }
    }
}

impl std::error::Error for ManifestError {}

/// An error without the name of the file.
#[derive(Debug)]
pub(super) struct Refused {
    key: String,
    what: String,
}

impl Refused {
    pub(super) fn within(self, file: &str) -> ManifestError {
        ManifestError { file: file.to_owned(), key: self.key, what: self.what }
    }
}

pub(super) type Parsed<T> = Result<T, Refused>;

/// A value of the file and its path.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    value: &'a Value,
    key: &'a str,
    parent: Option<&'a Cursor<'a>>,
}

impl<'a> Cursor<'a> {
    pub(super) fn root(value: &'a Value) -> Self {
        Self { value, key: "", parent: None }
    }

    /// Returns the key of this value.
    pub(super) fn key(&self) -> &'a str {
        self.key
    }

    fn path(&self) -> String {
        let mut keys = Vec::new();
        let mut next = Some(self);
        while let Some(Self { key, parent, .. }) = next {
            keys.push(*key);
            next = *parent;
        }
        let path = keys.iter().rev().skip(1).copied().collect::<Vec<_>>().join("/");
        shortened(&path, MOST_PATH)
    }

    /// Makes an error of this value; `what` completes a sentence that begins with the path.
    pub(super) fn refused(&self, what: impl Into<String>) -> Refused {
        Refused { key: self.path(), what: what.into() }
    }

    /// Returns a value that the format requires; it may be null.
    pub(super) fn get<'b>(&'b self, key: &'b str) -> Parsed<Cursor<'b>> {
        let Some(object) = self.value.as_object() else { return Err(self.refused("is no object")) };
        let missing = Cursor { value: self.value, key, parent: Some(self) };
        let found = object.get(key).map(|value| Cursor { value, ..missing });
        found.ok_or_else(|| missing.refused("is missing"))
    }

    /// Returns a value unless it is null or left out.
    pub(super) fn find<'b>(&'b self, key: &'b str) -> Option<Cursor<'b>> {
        let value = self.value.as_object()?.get(key).filter(|value| !value.is_null())?;
        Some(Cursor { value, key, parent: Some(self) })
    }

    /// Returns this value unless it is null.
    pub(super) fn present(self) -> Option<Self> {
        (!self.value.is_null()).then_some(self)
    }

    /// Returns the entries of an object.
    pub(super) fn entries<'b>(&'b self) -> Parsed<impl Iterator<Item = Cursor<'b>>> {
        let object = self.value.as_object().ok_or_else(|| self.refused("is no object"))?;
        let of = |(key, value): (&'b String, &'b Value)| Cursor { value, key, parent: Some(self) };
        Ok(object.iter().map(of))
    }

    /// Returns the entries of an object whose keys are a prefix and a number, in the order of the
    /// numbers.
    pub(super) fn numbered<'b, T>(&'b self, prefix: &str) -> Parsed<BTreeMap<T, Cursor<'b>>>
    where
        T: TryFrom<u64> + Ord,
    {
        let number = |entry: Cursor<'b>| {
            let number = entry.key.strip_prefix(prefix).and_then(decimal);
            let number = number.and_then(|number| T::try_from(number).ok());
            let what = || format!("is unknown: a key `{prefix}` and a number is expected");
            number.map(|number| (number, entry)).ok_or_else(|| entry.refused(what()))
        };
        self.entries()?.map(number).collect()
    }

    pub(super) fn number<T: TryFrom<u64>>(&self) -> Parsed<T> {
        let number = self.value.as_u64().ok_or_else(|| self.refused("is no natural number"))?;
        T::try_from(number).map_err(|_| self.refused(format!("is {number}, which is too large")))
    }

    pub(super) fn numbers<T: TryFrom<u64>>(&self) -> Parsed<Vec<T>> {
        self.list()?.map(|value| value.number()).collect()
    }

    /// Returns the elements of a list; the path of each is the list's.
    pub(super) fn list(&self) -> Parsed<impl Iterator<Item = Self>> {
        let list = self.value.as_array().ok_or_else(|| self.refused("is no list"))?;
        Ok(list.iter().map(|value| Self { value, ..*self }))
    }

    pub(super) fn flag(&self) -> Parsed<bool> {
        self.value.as_bool().ok_or_else(|| self.refused("is neither true nor false"))
    }

    pub(super) fn text(&self) -> Parsed<&'a str> {
        self.value.as_str().ok_or_else(|| self.refused("is no string"))
    }

    pub(super) fn texts(&self) -> Parsed<Vec<&'a str>> {
        self.list()?.map(|value| value.text()).collect()
    }

    /// Returns the value of the entry that a word names.
    pub(super) fn one_of<T: Copy>(&self, words: &[(&str, T)]) -> Parsed<T> {
        let text = self.text()?;
        let found = words.iter().find(|(word, _)| *word == text).map(|&(_, value)| value);
        found.ok_or_else(|| {
            let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            self.refused(format!("is {}, not one of {}", quoted(text), words.join(", ")))
        })
    }

    /// Returns a short form of the value for an error.
    pub(super) fn shown(&self) -> String {
        match self.value {
            Value::String(text) => quoted(text),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "an object".to_owned(),
            other => other.to_string(),
        }
    }
}

/// Parses a number that is written in the shortest form.
pub(super) fn decimal(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let shortest = text == "0" || !text.starts_with('0');
    (digits && shortest).then(|| text.parse().ok())?
}

pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", shortened(text, MOST_QUOTED))
}

fn shortened(text: &str, most: usize) -> String {
    let mut short: String = text.escape_debug().take(most).collect();
    if text.escape_debug().nth(most).is_some() {
        short.push('…');
    }
    short
}
