//! The foot of the screen: the typed line with its completions, a notice, or the keys of the
//! screen.

use super::pane::window;
use super::timeline;
use crate::model::{Choices, Model, Prompt, PromptKind};
use crate::palette;
use crate::theme::Theme;
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
            offer(frame, area, choices);
        }
        if prompt.kind == PromptKind::Palette {
            palette(model, frame, area, prompt);
        }
    } else if let Some(notice) = &model.notice {
        sentence(frame, area, notice, model.theme.title());
    } else if let Some(why) = &model.lost {
        sentence(frame, area, &format!("the target is gone: {why}"), model.theme.bad());
    } else {
        let area = timeline::draw_brief(model, frame, area);
        frame.render_widget(Paragraph::new(Line::from(keys_line(model, area.width))), area);
    }
}

fn line(frame: &mut Frame, area: Rect, prompt: &Prompt) {
    let sign = match prompt.kind {
        PromptKind::Find => "/",
        PromptKind::Line => ":",
        PromptKind::Palette => ">",
    };
    let room = usize::from(area.width).saturating_sub(2);
    let skip = prompt.input.visual_scroll(room);
    let text: String = prompt.input.value().chars().skip(skip).collect();
    frame.render_widget(Paragraph::new(format!("{sign}{text}")), area);
    let column = prompt.input.visual_cursor().saturating_sub(skip) as u16;
    frame.set_cursor_position((area.x + 1 + column.min(area.width.saturating_sub(2)), area.y));
}

/// Draws lines in rows above the foot, the chosen one in sight.
fn above(frame: &mut Frame, foot: Rect, mut lines: Vec<Line<'static>>, chosen: usize) {
    let most = (foot.y / 2).max(1);
    let high = u16::try_from(lines.len()).unwrap_or(u16::MAX).min(most);
    let Some(y) = foot.y.checked_sub(high) else { return };
    let area = Rect { y, height: high, ..foot };
    let range = window(chosen, lines.len(), high);
    lines.truncate(range.end);
    lines.drain(..range.start.min(lines.len()));
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines), area);
}

/// The rows above the line: all completions, in columns.
fn offer(frame: &mut Frame, foot: Rect, choices: &Choices) {
    let wide = choices.all.iter().map(|name| name.chars().count() + 2).max().unwrap_or(1);
    let columns = (usize::from(foot.width) / wide).max(1);
    let name = |(at, name): (usize, &String)| {
        let chosen = choices.at == Some(at);
        let style = if chosen { Theme::selected() } else { Theme::key() };
        let gap = wide.saturating_sub(name.chars().count());
        [Span::styled(name.clone(), style), Span::raw(" ".repeat(gap))]
    };
    let names: Vec<_> = choices.all.iter().enumerate().map(name).collect();
    let rows = names.chunks(columns).map(|row| Line::from(row.concat())).collect();
    above(frame, foot, rows, choices.at.unwrap_or(0) / columns);
}

/// The rows above the line: the entries of the palette.
fn palette(model: &Model, frame: &mut Frame, foot: Rect, prompt: &Prompt) {
    let entries = palette::entries(&model.keys, model.screen, prompt.input.value().trim());
    if entries.is_empty() {
        let none = Line::styled("nothing has these letters in this order", model.theme.dim());
        return above(frame, foot, vec![none], 0);
    }
    let line = |(at, entry): (usize, palette::Entry)| {
        let chosen = at == prompt.picked;
        let mark = if chosen { model.glyphs.cursor() } else { " " };
        let name = Span::styled(format!("{mark} {:<24} ", entry.name), Theme::key());
        let line = Line::from(vec![name, Span::raw(entry.about)]);
        if chosen { line.style(Theme::selected()) } else { line }
    };
    above(frame, foot, entries.into_iter().enumerate().map(line).collect(), prompt.picked);
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
    for (keys, word) in model.keys.foot(model.screen, model.timeline().is_some()) {
        let needs = keys.len() + word.len() + 3;
        if needs > room + 2 {
            break;
        }
        let needs = needs.min(room);
        room -= needs;
        line.push(Span::styled(keys, Theme::key()));
        line.push(Span::raw(format!(" {word}  ")));
    }
    line
}
