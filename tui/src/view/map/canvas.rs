//! A window onto a map that may be larger than the terminal.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;

/// A window onto a map.
pub(super) struct Canvas<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
    left: i32,
    top: i32,
}

impl<'a> Canvas<'a> {
    /// A window whose upper left corner is this column and row of the map.
    pub(super) fn new(buffer: &'a mut Buffer, area: Rect, (left, top): (i32, i32)) -> Self {
        Self { buffer, area, left, top }
    }

    /// Columns of the window.
    pub(super) fn width(&self) -> u16 {
        self.area.width
    }

    /// Writes one character, if it is inside the window.
    pub(super) fn char(&mut self, (x, y): (i32, i32), c: char, style: Style) {
        let (x, y) = (x - self.left, y - self.top);
        let inside = (0..i32::from(self.area.width)).contains(&x)
            && (0..i32::from(self.area.height)).contains(&y);
        if !inside {
            return;
        }
        let at = (self.area.x + x as u16, self.area.y + y as u16);
        if let Some(cell) = self.buffer.cell_mut(at) {
            cell.set_char(c).set_style(style);
        }
    }

    /// Writes a text; what lies outside the window is cut.
    pub(super) fn text(&mut self, (x, y): (i32, i32), text: &str, style: Style) {
        for (x, c) in (x..).zip(text.chars()) {
            self.char((x, y), c, style);
        }
    }

    /// Writes a span; returns the column after it.
    pub(super) fn span(&mut self, x: i32, y: i32, span: &Span) -> i32 {
        self.text((x, y), &span.content, span.style);
        x + span.content.chars().count() as i32
    }
}
