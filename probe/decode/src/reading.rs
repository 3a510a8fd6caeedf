//! A value with the ways in which it can be missing.

use machine::snapshot::AccessError;

/// A value with the ways in which it can be missing; each has its own word and glyph on screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reading<T> {
    /// Read and decoded.
    Known(T),
    /// Read, but the bytes mean nothing known; they are given as they are.
    Unknown(u64),
    /// Not read, and why.
    Unread(AccessError),
    /// This target or this core has no such thing.
    #[default]
    Absent,
}

impl<T> Reading<T> {
    /// The same with another value where it is known.
    pub fn map<U>(self, of: impl FnOnce(T) -> U) -> Reading<U> {
        self.and_then(|value| Reading::Known(of(value)))
    }

    /// The same with another reading where it is known.
    pub fn and_then<U>(self, of: impl FnOnce(T) -> Reading<U>) -> Reading<U> {
        match self {
            Self::Known(value) => of(value),
            other => other.without(),
        }
    }

    /// How it is missing; a known value is missing from what was looked for.
    pub fn without<U>(self) -> Reading<U> {
        match self {
            Self::Known(_) | Self::Absent => Reading::Absent,
            Self::Unknown(bytes) => Reading::Unknown(bytes),
            Self::Unread(reason) => Reading::Unread(reason),
        }
    }

    /// The value, if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            _ => None,
        }
    }
}
