//! Readings as text: the value, or the glyph (with its word, if there is room) of the reason for
//! its absence.

use crate::glyph::{Glyphs, Missing};
use images::Reading;
use machine::snapshot::AccessError;

/// The value or a glyph.
pub fn short<T>(glyphs: Glyphs, reading: &Reading<T>, show: impl Fn(&T) -> String) -> String {
    match (reading, Missing::of(reading)) {
        (Reading::Known(value), _) => show(value),
        (_, Some(missing)) => glyphs.missing(missing).to_owned(),
        (_, None) => String::new(),
    }
}

/// The value, or a glyph with its word.
pub fn long<T>(glyphs: Glyphs, reading: &Reading<T>, show: impl Fn(&T) -> String) -> String {
    match reading {
        Reading::Known(value) => show(value),
        Reading::Unknown(raw) => format!("{} unknown {raw:#x}", glyphs.missing(Missing::Unknown)),
        Reading::Unread(error) => access(glyphs, error),
        Reading::Absent => format!("{} absent", glyphs.missing(Missing::Absent)),
    }
}

/// An access error with its glyph.
pub fn access(glyphs: Glyphs, error: &AccessError) -> String {
    format!("{} {error}", glyphs.missing(Missing::of_error(error)))
}
