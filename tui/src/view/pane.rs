//! What all panes share: the line with their title, and the visible rows of a list.

use crate::geometry;
use crate::model::Model;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, Borders};

/// A line with a title above a pane; style and mark distinguish the focused one.
pub(super) fn titled(model: &Model, title: &str, focused: bool) -> Block<'static> {
    let mark = if focused { model.glyphs.cursor() } else { " " };
    let set = if model.glyphs.ascii { ASCII } else { ratatui::symbols::border::PLAIN };
    Block::new()
        .borders(Borders::TOP)
        .border_set(set)
        .border_style(model.theme.border(focused))
        .title(format!("{mark}{title}"))
        .style(Style::new())
}

/// Borders of ASCII only.
const ASCII: ratatui::symbols::border::Set = ratatui::symbols::border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

/// The range of rows of a list that are visible.
pub(super) fn window(selected: usize, count: usize, height: u16) -> std::ops::Range<usize> {
    let first = geometry::first_row(selected, count, height);
    first..(first + usize::from(height)).min(count)
}

/// The row of a list at a row of the terminal, below this many lines of its area.
pub(super) fn row_at(
    area: Rect,
    head: u16,
    selected: usize,
    count: usize,
    y: u16,
) -> Option<usize> {
    let from = y.checked_sub(area.y + head).filter(|_| y < area.bottom())?;
    let range = window(selected, count, area.height.saturating_sub(head));
    let at = range.start + usize::from(from);
    range.contains(&at).then_some(at)
}
