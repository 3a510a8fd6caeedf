//! A value, or the reason why it is missing.

use machine::snapshot::AccessError;

/// A value, or the reason why it is missing. Each variant has its own word and glyph on screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reading<T> {
    /// Read and decoded.
    Known(T),
    /// Read, but the bytes have no known meaning: the raw number.
    Unknown(u64),
    /// Not read, and the reason.
    Unread(AccessError),
    /// This target or this core has no such thing.
    #[default]
    Absent,
}

impl<T> Reading<T> {
    /// Applies `of` to a known value.
    pub fn map<U>(self, of: impl FnOnce(T) -> U) -> Reading<U> {
        self.and_then(|value| Reading::Known(of(value)))
    }

    /// Replaces a known value by the reading that `of` makes of it.
    pub fn and_then<U>(self, of: impl FnOnce(T) -> Reading<U>) -> Reading<U> {
        match self {
            Self::Known(value) => of(value),
            other => other.without(),
        }
    }

    /// Keeps the reason of a missing value; a known value becomes [`Reading::Absent`].
    pub fn without<U>(self) -> Reading<U> {
        match self {
            Self::Known(_) | Self::Absent => Reading::Absent,
            Self::Unknown(bytes) => Reading::Unknown(bytes),
            Self::Unread(reason) => Reading::Unread(reason),
        }
    }

    /// Returns the value, if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            _ => None,
        }
    }
}
