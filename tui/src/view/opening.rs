//! What is shown while the target is opened: its stages, with how far each has come.

use crate::model::Model;
use crate::theme::Theme;
use console::opening::{Stage, detail, name, share};
use console::words;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// Columns of the bar of the stage that runs.
const BAR: u64 = 10;
/// Columns of the details, so that times stand in one column.
const DETAIL: usize = 46;

/// Draws the stages; the last one runs.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let waited = model.started_micros.map_or(0, |start| model.now_micros.saturating_sub(start));
    let head = format!("opening {}: {}", model.target, words::age(waited));
    let mut lines = vec![Line::raw(head), Line::default()];
    let stages = &model.opening.0;
    for (at, stage) in stages.iter().enumerate() {
        let next = stages.get(at + 1).map(|next| next.began_micros);
        lines.push(line(model, stage, next));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

/// A stage with its time, and a bar if it runs and its end is known.
fn line(model: &Model, stage: &Stage, ended: Option<u64>) -> Line<'static> {
    let Stage { progress, began_micros } = *stage;
    let (style, mark) = match ended {
        Some(_) => (model.theme.dim(), " "),
        None => (Theme::key(), model.glyphs.cursor()),
    };
    let took = ended.unwrap_or(model.now_micros).saturating_sub(began_micros);
    let text = format!(
        "{mark} {:<10} {:<DETAIL$} {:>6}",
        name(progress),
        detail(progress),
        words::age(took)
    );
    let mut spans = vec![Span::styled(text, style)];
    if let (None, Some((done, of @ 1..))) = (ended, share(progress)) {
        let (full, empty) = model.glyphs.bar();
        let length = (done.min(of) * BAR / of) as usize;
        let bar = full.repeat(length) + &empty.repeat(BAR as usize - length);
        spans.push(Span::raw(format!("  {bar}")));
    }
    Line::from(spans)
}
