//! Errors of a cluster descriptor, with their lines.

use std::fmt;

/// An error of a descriptor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DescriptorProblem {
    /// Line in the file, from 1; 0 for an error of the whole file.
    pub line: u64,
    /// The error, in a few words.
    pub what: String,
}

/// An unusable descriptor: its name and its errors, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptorError {
    /// Name or path of the file, as given.
    pub name: String,
    /// All errors by line.
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

/// Collects the errors of a descriptor.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<DescriptorProblem>);

impl Problems {
    pub(crate) fn add(&mut self, line: u64, what: impl Into<String>) {
        self.0.push(DescriptorProblem { line, what: what.into() });
    }

    /// Returns the value if there was no error.
    pub(crate) fn finish<T>(mut self, name: &str, value: T) -> Result<T, DescriptorError> {
        self.0.sort();
        if self.0.is_empty() {
            Ok(value)
        } else {
            Err(DescriptorError { name: name.into(), problems: self.0 })
        }
    }
}
