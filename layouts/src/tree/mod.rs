//! Text in YAML or TOML as one tree of values with their lines, from which serde's structs are read. Both formats share
//! one deserializer: the compiler makes the reader of each struct once.

mod de;
mod toml;
mod yaml;

pub use de::Spanned;

use serde::de::DeserializeOwned;
use std::fmt;

/// A value and the line it begins in.
#[derive(Clone, Debug)]
pub struct Node {
    line: u64,
    value: Value,
}

#[derive(Clone, Debug)]
enum Value {
    /// A word or a number; `plain` is without quotes.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    /// Keys and values in the order of the text.
    Map(Vec<(Node, Node)>),
}

/// What is wrong with a text, and in which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// Line in the text, from 1; 0 for the text as a whole.
    pub line: u64,
    /// What, in a few words.
    pub what: String,
}

impl Node {
    /// Reads one document.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn from_yaml(text: &str) -> Result<Self, TextError> {
        yaml::tree(text)
    }

    /// Reads one document.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn from_toml(text: &str) -> Result<Self, TextError> {
        toml::tree(text)
    }

    /// Reads a value of this type from the tree.
    ///
    /// # Errors
    /// The first thing that is not as the type wants it.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, TextError> {
        T::deserialize(self).map_err(|error| error.at(self.line))
    }

    /// Keys and values, or nothing at all.
    pub(crate) fn is_mapping(&self) -> bool {
        matches!(self.value, Value::Map(_)) || self.is_null()
    }

    pub(crate) fn wrong(&self, what: &str) -> TextError {
        TextError::new(self.line, what)
    }

    /// Nothing stands where a value could.
    fn is_null(&self) -> bool {
        self.plain()
            .is_some_and(|text| matches!(text, "" | "~") || text.eq_ignore_ascii_case("null"))
    }

    /// The text of a scalar without quotes.
    fn plain(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, plain: true } => Some(text),
            _ => None,
        }
    }
}

impl TextError {
    fn new(line: u64, what: impl Into<String>) -> Self {
        Self { line, what: what.into() }
    }

    /// With this line, if none is known yet.
    fn at(mut self, line: u64) -> Self {
        if self.line == 0 {
            self.line = line;
        }
        self
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for TextError {}

#[cfg(test)]
mod tests;
