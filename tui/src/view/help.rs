//! The help screen.

use super::pane::titled;
use crate::help;
use crate::model::Model;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::Paragraph;

/// Draws help from line `first` on.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect, first: usize) {
    let block = titled(model, " help: j k scroll, Esc back ", true);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let lines: Vec<_> = help::lines(&model.keys, (model.theme, model.glyphs), model.size.0)
        .into_iter()
        .skip(first)
        .collect();
    frame.render_widget(Paragraph::new(lines), inner);
}
