//! Readings as text: the value, or the glyph (with its word, if there is room) of the reason for
//! its absence.

use crate::glyph::{Glyphs, Missing};
use crate::theme::Theme;
use images::Reading;
use machine::snapshot::AccessError;
use ratatui::style::Style;
use ratatui::text::Span;
use std::fmt::Display;

/// The value or a glyph.
pub(crate) fn short<T>(
    glyphs: Glyphs,
    reading: &Reading<T>,
    show: impl Fn(&T) -> String,
) -> String {
    match (reading, Missing::of(reading)) {
        (Reading::Known(value), _) => show(value),
        (_, Some(missing)) => glyphs.missing(missing).to_owned(),
        (_, None) => String::new(),
    }
}

/// The value, or a glyph with its word.
pub(crate) fn long<T>(glyphs: Glyphs, reading: &Reading<T>, show: impl Fn(&T) -> String) -> String {
    match reading {
        Reading::Known(value) => show(value),
        Reading::Unknown(raw) => format!("{} unknown {raw:#x}", glyphs.missing(Missing::Unknown)),
        Reading::Unread(error) => access(glyphs, error),
        Reading::Absent => format!("{} absent", glyphs.missing(Missing::Absent)),
    }
}

/// An access error with its glyph.
pub(crate) fn access(glyphs: Glyphs, error: &AccessError) -> String {
    format!("{} {error}", glyphs.missing(Missing::of_error(error)))
}

/// The short text in its style.
pub(crate) fn span<T: Display>(
    glyphs: Glyphs,
    theme: Theme,
    reading: &Reading<T>,
    known: Style,
) -> Span<'static> {
    Span::styled(short(glyphs, reading, T::to_string), theme.reading(reading, known))
}
