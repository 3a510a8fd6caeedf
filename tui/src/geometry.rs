//! Positions on the terminal: pure functions of its size, shared by `update` and `view`.

use crate::panes::CorePane;
use ratatui::layout::{Constraint, Layout, Rect};

/// Below this many columns or rows only "too small" is shown.
const LEAST: (u16, u16) = (40, 10);
/// Columns and rows of the tile grid.
pub(crate) const GRID: (u8, u8) = (10, 12);
/// Rows of the header and of the footer.
const CHROME: u16 = 3;
/// Rows of the summary that opens the core screen.
const CORE_SUMMARY: u16 = 6;

/// Whether the terminal is too small.
pub(crate) fn too_small(size: (u16, u16)) -> bool {
    size.0 < LEAST.0 || size.1 < LEAST.1
}

/// Header (status and tabs), body, footer.
pub(crate) fn chrome(area: Rect) -> [Rect; 4] {
    let rows =
        [Constraint::Length(1), Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)];
    Layout::vertical(rows).areas(area)
}

/// Rows that a page key moves by.
pub(crate) fn page(size: (u16, u16)) -> usize {
    usize::from(size.1.saturating_sub(CHROME) / 2).max(1)
}

/// Whether the core screen has room for all panes at once.
pub(crate) fn core_is_wide(size: (u16, u16)) -> bool {
    size.0 >= 120 && size.1 >= 36
}

/// The areas of the core screen; a pane without room is `None`.
pub(crate) struct CoreAreas {
    pub(crate) summary: Rect,
    pub(crate) words: Option<Rect>,
    pub(crate) channels: Option<Rect>,
    pub(crate) memory: Option<Rect>,
}

/// Splits the body of the core screen: all panes if they fit, else the focused one.
pub(crate) fn core_areas(body: Rect, size: (u16, u16), focus: CorePane) -> CoreAreas {
    let rows = [Constraint::Length(CORE_SUMMARY), Constraint::Min(1)];
    let [summary, rest] = Layout::vertical(rows).areas(body);
    if core_is_wide(size) {
        let [upper, memory] =
            Layout::vertical([Constraint::Percentage(50), Constraint::Min(1)]).areas(rest);
        let [words, channels] =
            Layout::horizontal([Constraint::Percentage(50), Constraint::Min(1)]).areas(upper);
        return CoreAreas {
            summary,
            words: Some(words),
            channels: Some(channels),
            memory: Some(memory),
        };
    }
    let only = |pane| (focus == pane).then_some(rest);
    CoreAreas {
        summary,
        words: only(CorePane::Words),
        channels: only(CorePane::Channels),
        memory: only(CorePane::Memory),
    }
}

/// Rows of bytes in the memory pane, without its title and the line about the cursor.
pub(crate) fn memory_rows(size: (u16, u16)) -> u16 {
    let area = Rect::new(0, 0, size.0, size.1);
    let [_, _, body, _] = chrome(area);
    let memory = core_areas(body, size, CorePane::Memory).memory;
    memory.map_or(1, |m| m.height.saturating_sub(2)).clamp(1, 64)
}

/// The first row of a list to show, so that the selected one is visible.
pub(crate) fn first_row(selected: usize, count: usize, height: u16) -> usize {
    let height = usize::from(height);
    selected.saturating_sub(height / 2).min(count.saturating_sub(height))
}
