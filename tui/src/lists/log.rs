//! The rows of what was done and reported: commands, writes of the audit log, findings, notices; and
//! the marks and notes of a recording.

use crate::model::Model;
use crate::table::{Cell, Rank, Row};
use console::words;
use ratatui::style::Style;
use ratatui::text::Span;

/// All rows, the newest first.
pub(crate) fn log_rows(model: &Model) -> Vec<Row> {
    let board = model.newest.as_deref().map(|it| &it.board.log[..]).unwrap_or_default();
    let session = board.iter().map(|line| {
        let age = words::age(model.now_micros.saturating_sub(line.host_micros));
        (format!("{age} ago"), None, line.kind, line.text.clone())
    });
    let mut all: Vec<_> = recorded(model);
    all.extend(session);
    let number = |(item, line)| row(model, line, item);
    let mut rows: Vec<Row> = all.into_iter().enumerate().map(number).collect();
    rows.reverse();
    rows
}

/// A line: its time in words and in cycles, what it is, and its text.
type Told = (String, Option<u64>, &'static str, String);

/// The marks and notes of a recording, in the order of its moments.
fn recorded(model: &Model) -> Vec<Told> {
    let Some(timeline) = model.timeline() else { return Vec::new() };
    let time = |moment: usize| timeline.moments.times.get(moment).copied();
    let told = |moment, kind, text| {
        let cycles = time(moment);
        (cycles.map(words::cycles).unwrap_or_default(), cycles, kind, text)
    };
    let notes = timeline.moments.notes.iter();
    let notes = notes.map(|(at, note)| told(*at, note.kind(), note.to_string()));
    let kind = |found: bool| if found { "finding" } else { "mark" };
    let marks = timeline.marks.iter();
    let marks = marks.map(|(at, it)| told(*at, kind(it.condition.is_some()), it.text.clone()));
    let mut all: Vec<Told> = notes.chain(marks).collect();
    all.sort_by_key(|(_, cycles, ..)| *cycles);
    all
}

fn row(model: &Model, (time, cycles, kind, text): Told, item: usize) -> Row {
    let (rank, style) = match kind {
        "finding" => (Rank::Fault, model.theme.bad()),
        "audit" => (Rank::Moves, model.theme.dim()),
        "command" => (Rank::Moves, model.theme.title()),
        _ => (Rank::Moves, Style::new()),
    };
    Row {
        key: format!("{item}"),
        item,
        // In the order of time, unless faults only are listed.
        rank,
        place: None,
        cells: vec![
            Cell::number("time", Span::raw(time), cycles),
            Cell::text("kind", Span::styled(kind, style)),
            Cell::text("text", Span::styled(text, style)),
        ],
        hidden: Vec::new(),
    }
}
