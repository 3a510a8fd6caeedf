//! Runs on the mesh screen: progress of the current run, and the rows of its table.

use super::pane::titled;
use crate::model::Model;
use console::run::{Going, Measured, Sheet, SheetState};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// Rows of a sheet besides its table: title, status, head.
const FIXED: u16 = 3;
/// Width of the progress bar.
const BAR: usize = 10;

const HEAD: &str =
    "      size    count     type redop root  time us algbw busbw #wrong skew us chip";

/// Rows that runs need, out of `room`.
pub(super) fn height(model: &Model, width: u16, room: u16) -> u16 {
    let Some(last) = model.sheets().last() else { return 0 };
    let rows = table(model, last, usize::from(width)).len();
    let rows = u16::try_from(rows).unwrap_or(u16::MAX);
    let fixed = if rows == 0 { FIXED - 1 } else { FIXED };
    let status_rows = standing(model, last, usize::from(width)).len() as u16;
    rows.saturating_add(fixed + status_rows - 1).min((room / 3).max(FIXED + 1)).min(room)
}

/// Draws the newest sheet, and as many rows of the older ones as fit.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let Some(last) = model.sheets().last() else { return };
    let block = titled(model, &format!(" run: {} ", last.title), !last.is_over());
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let width = usize::from(inner.width);
    let table = table(model, last, width);
    let mut lines = standing(model, last, width);
    let room = usize::from(inner.height).saturating_sub(lines.len() + 1);
    if !table.is_empty() && room > 0 {
        lines.push(Line::styled(HEAD, model.theme.dim()));
        let skip = table.len().saturating_sub(room);
        lines.extend(table.into_iter().skip(skip));
    }
    frame.render_widget(Paragraph::new(lines), inner);
}

/// The rows of all sheets. If there are several, each has its title above and its outcome below.
fn table(model: &Model, last: &Sheet, width: usize) -> Vec<Line<'static>> {
    let several = model.sheets().len() > 1;
    let mut table = Vec::new();
    for sheet in model.sheets() {
        let is_last = std::ptr::eq(sheet, last);
        // The status of the last sheet is above the table, under its title.
        if several && !(is_last && sheet.rows.is_empty()) {
            table.push(Line::styled(format!("  {}", sheet.title), model.theme.dim()));
        }
        table.extend(sheet.rows.iter().map(|row| line(model, row)));
        match &sheet.state {
            SheetState::Failed(why) if !is_last => {
                let lines = broken(&format!("failed: {why}"), width.saturating_sub(4));
                table.extend(lines.into_iter().map(|line| Line::styled(line, model.theme.bad())));
            }
            SheetState::Stopped if !is_last => {
                table.push(Line::styled("  stopped", model.theme.warn()));
            }
            _ => {}
        }
    }
    table
}

/// The status of a sheet: one line, or several for the reason of a failure.
fn standing(model: &Model, sheet: &Sheet, width: usize) -> Vec<Line<'static>> {
    let theme = model.theme;
    let wrong: u64 = sheet.rows.iter().filter_map(|row| row.wrong).sum();
    let dismiss = Span::styled("  (Esc hides it)", theme.dim());
    let impossible = sheet.rows.iter().find_map(Measured::impossible);
    if let (SheetState::Done, Some(why)) = (&sheet.state, impossible) {
        return vec![Line::styled(format!("  done: {why}"), theme.bad())];
    }
    let line = match &sheet.state {
        SheetState::Going(None) => Line::raw("  starting"),
        SheetState::Going(Some(going)) => Line::from(vec![
            Span::styled(format!("  {} ", bar(model, going)), theme.traffic()),
            Span::raw(going.words()),
        ]),
        SheetState::Stopping => Line::styled("  tearing down", theme.warn()),
        SheetState::Stopped => {
            Line::from(vec![Span::styled("  stopped and torn down", theme.warn()), dismiss])
        }
        SheetState::Failed(why) => {
            let lines = broken(&format!("failed: {why}"), width.saturating_sub(4));
            return lines.into_iter().map(|line| Line::styled(line, theme.bad())).collect();
        }
        SheetState::Done if wrong > 0 => {
            let text = format!("  done: {wrong} elements are WRONG");
            Line::from(vec![Span::styled(text, theme.bad()), dismiss])
        }
        SheetState::Done => {
            let checked = sheet.rows.iter().all(|row| row.wrong.is_some());
            let text =
                if checked { "  done: data is correct" } else { "  done: data was not checked" };
            Line::from(vec![Span::styled(text, theme.ok()), dismiss])
        }
    };
    vec![line]
}

/// A sentence in lines of at most `width` columns, at most four.
fn broken(text: &str, width: usize) -> Vec<String> {
    const MOST: usize = 4;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut().filter(|line| line.chars().count() + word.chars().count() < width) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(format!("  {word}")),
        }
    }
    lines.truncate(MOST);
    lines
}

/// How much is done.
fn bar(model: &Model, going: &Going) -> String {
    let (done, of) = going.share();
    let filled = (done * BAR as u64).checked_div(of).unwrap_or(0).min(BAR as u64);
    let filled = filled as usize;
    let (full, empty) = model.glyphs.bar();
    full.repeat(filled) + &empty.repeat(BAR - filled)
}

fn line(model: &Model, row: &Measured) -> Line<'static> {
    let root = row.root.map_or_else(|| "-".to_owned(), |root| root.to_string());
    let wrong = row.wrong.map_or_else(|| "N/A".to_owned(), |wrong| wrong.to_string());
    let text = format!(
        "{:>10}{:>9}{:>9}{:>6}{root:>5}{:>9.2}{:>6.2}{:>6.2}",
        row.size_bytes,
        row.count,
        row.data_type,
        row.redop,
        row.time_us(),
        row.algbw(),
        row.busbw(),
    );
    let bad = row.wrong.is_some_and(|wrong| wrong > 0);
    let style = if bad { model.theme.bad() } else { ratatui::style::Style::new() };
    let skew = row.start_skew_cycles as f64 / 1e3;
    Line::from(vec![
        Span::raw(text),
        Span::styled(format!("{wrong:>7}"), style),
        Span::raw(format!("{skew:>8.2}{:>5}", row.last.to_string())),
    ])
}
