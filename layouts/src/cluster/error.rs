//! What is wrong with a cluster descriptor, and in which line.

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DescriptorProblem {
    /// Line in the file, from 1; 0 for what is wrong with the file as a whole.
    pub line: u64,
    /// What, in a few words.
    pub what: String,
}

/// A descriptor that cannot be used: its name and all that is wrong with it, at least one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptorError {
    /// Name or path of the file, as given.
    pub name: String,
    /// All problems by line.
    pub problems: Vec<DescriptorProblem>,
}

impl fmt::Display for DescriptorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(first) = self.problems.first() {
            if first.line > 0 {
                write!(f, ":{}", first.line)?;
            }
            write!(f, ": {}", first.what)?;
        }
        match self.problems.len() {
            0 | 1 => Ok(()),
            more => write!(f, " (and {} more)", more - 1),
        }
    }
}

impl std::error::Error for DescriptorError {}

/// Collects problems while a descriptor is read.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<DescriptorProblem>);

impl Problems {
    pub(crate) fn add(&mut self, line: u64, what: impl Into<String>) {
        self.0.push(DescriptorProblem { line, what: what.into() });
    }

    /// The value, if nothing was wrong.
    pub(crate) fn finish<T>(mut self, name: &str, value: T) -> Result<T, DescriptorError> {
        self.0.sort();
        if self.0.is_empty() {
            Ok(value)
        } else {
            Err(DescriptorError { name: name.into(), problems: self.0 })
        }
    }
}
