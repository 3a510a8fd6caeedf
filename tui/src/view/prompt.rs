//! The foot of the screen: the typed line with its completions, a notice, or the keys of the
//! screen.

use crate::keys;
use crate::model::{Choices, Model, Prompt, PromptKind};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph, Wrap};

/// Maximum rows of a notice.
const MOST_ROWS: u16 = 4;

/// Draws the foot.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    if let Some(prompt) = &model.prompt {
        line(frame, area, prompt);
        if let Some(choices) = &prompt.choices {
            offer(model, frame, area, choices);
        }
    } else if let Some(notice) = &model.notice {
        sentence(frame, area, notice, model.theme.warn());
    } else if let Some(why) = &model.lost {
        sentence(frame, area, &format!("the target is gone: {why}"), model.theme.bad());
    } else {
        frame.render_widget(Paragraph::new(Line::from(keys_line(model, area.width))), area);
    }
}

fn line(frame: &mut Frame, area: Rect, prompt: &Prompt) {
    let sign = if prompt.kind == PromptKind::Find { "/" } else { ":" };
    let room = usize::from(area.width).saturating_sub(2);
    let skip = prompt.input.visual_scroll(room);
    let text: String = prompt.input.value().chars().skip(skip).collect();
    frame.render_widget(Paragraph::new(format!("{sign}{text}")), area);
    let column = prompt.input.visual_cursor().saturating_sub(skip) as u16;
    frame.set_cursor_position((area.x + 1 + column.min(area.width.saturating_sub(2)), area.y));
}

/// The row above the line: completions, scrolled to the chosen one.
fn offer(model: &Model, frame: &mut Frame, foot: Rect, choices: &Choices) {
    let Some(y) = foot.y.checked_sub(1) else { return };
    let area = Rect { y, height: 1, ..foot };
    let mut first = 0;
    let width = |from: usize, to: usize| -> usize {
        choices.all.iter().take(to + 1).skip(from).map(|name| name.len() + 2).sum()
    };
    let chosen = choices.at.unwrap_or(0);
    while first < chosen && width(first, chosen) > usize::from(area.width) {
        first += 1;
    }
    let mut line = Vec::new();
    for (at, name) in choices.all.iter().enumerate().skip(first) {
        let style = if choices.at == Some(at) { model.theme.selected() } else { model.theme.key() };
        line.extend([Span::styled(name.clone(), style), Span::raw("  ")]);
    }
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(Line::from(line)), area);
}

/// Draws a sentence in as many rows as it needs, upwards from the foot.
fn sentence(frame: &mut Frame, foot: Rect, text: &str, style: Style) {
    let width = usize::from(foot.width).max(1);
    // Words are not broken, so a row may end early.
    let rows = text.chars().count().div_ceil(width.saturating_sub(8).max(1)) as u16;
    let rows = if text.chars().count() <= width { 1 } else { rows.clamp(2, MOST_ROWS) };
    let rows = rows.min(foot.y + 1);
    let area = Rect { y: foot.y + 1 - rows, height: rows, ..foot };
    frame.render_widget(Clear, area);
    let text = Paragraph::new(Line::from(Span::styled(text.to_owned(), style)));
    frame.render_widget(text.wrap(Wrap { trim: true }), area);
}

/// As many keys of the table as fit.
fn keys_line(model: &Model, width: u16) -> Vec<Span<'static>> {
    let mut line = Vec::new();
    let mut room = usize::from(width);
    for (keys, word) in keys::foot(model.screen, model.timeline().is_some()) {
        let needs = keys.len() + word.len() + 3;
        if needs > room + 2 {
            break;
        }
        let needs = needs.min(room);
        room -= needs;
        line.push(Span::styled(keys, model.theme.key()));
        line.push(Span::raw(format!(" {word}  ")));
    }
    line
}
