//! The rows of what is in quarantine, of problems, of what was before, and of ranges that could not be
//! read.

use crate::model::Model;
use crate::table::{Cell, Rank, Row, Value};
use console::glyph::Missing;
use console::reading::access;
use console::words;
use diagnosis::Place;
use layouts::{ChipId, NocXy};
use machine::snapshot::{AccessError, Gap};
use machine::target::Quarantined;
use ratatui::style::Style;
use ratatui::text::Span;

/// All rows of the gaps screen.
pub(crate) fn gap_rows(model: &Model) -> Vec<Row> {
    let Some(mesh) = model.mesh() else { return Vec::new() };
    let quarantined = model.shown.as_deref().map_or(&[][..], |snapshot| &snapshot.quarantined);
    let sentence =
        |kind, rank, style| move |text: String| row((kind, rank), "", None, (text, style));
    let problems = mesh.problems.iter().cloned();
    let problems = problems.map(sentence("problem", Rank::Fault, model.theme.bad()));
    let before = words::before(&mesh.before, model.now_micros).into_iter();
    let before = before.map(sentence("before", Rank::Moves, model.theme.dim()));
    let quarantined = quarantined.iter().map(|it| quarantine(model, it));
    let gaps = mesh.gaps.iter().map(|it| gap(model, it));
    let rows = quarantined.chain(problems).chain(before).chain(gaps).enumerate();
    rows.map(|(item, row)| Row { item, ..row }).collect()
}

/// A row of a kind, about a place, with what is said of it.
fn row((kind, rank): (&str, Rank), place: &str, bytes: Option<u64>, about: (String, Style)) -> Row {
    let text = |field, text: &str| Cell::text(field, Span::raw(text.to_owned()));
    let shown = bytes.map_or_else(String::new, |bytes| bytes.to_string());
    Row {
        key: format!("{kind} {place} {}", if place.is_empty() { &about.0 } else { "" }),
        item: 0,
        rank,
        place: None,
        cells: vec![
            text("kind", kind),
            text("place", place),
            Cell::number("bytes", Span::raw(shown), bytes),
            Cell::text("why", Span::styled(about.0, about.1)),
        ],
        hidden: Vec::new(),
    }
}

/// A row about a chip or tile.
fn at(model: &Model, row: Row, chip: ChipId, tile: Option<NocXy>) -> Row {
    let core = tile.and_then(|tile| model.mesh()?.tile(chip, tile)?.cores.first());
    let place = core.map_or(Place::Chip(chip), |core| Place::Core(core.id));
    let hidden = vec![("chip", Value::Number(Some(chip.0.into())))];
    Row { place: Some(place), hidden, ..row }
}

fn reason(model: &Model, why: &AccessError) -> (String, Style) {
    (access(model.glyphs, why), model.theme.missing(Missing::of_error(why)))
}

fn gap(model: &Model, Gap { span, reason: why }: &Gap) -> Row {
    // What a recording does not have is no fault of the mesh.
    let absent = Missing::of_error(why) == Missing::Unread;
    let rank = if absent { Rank::Unread } else { Rank::Slow };
    let place = span.addr.to_string();
    let row = row(("gap", rank), &place, Some(span.len.into()), reason(model, why));
    at(model, row, span.addr.chip, Some(span.addr.tile))
}

/// What is in quarantine, and why.
fn quarantine(model: &Model, it: &Quarantined) -> Row {
    let Quarantined { chip, tile, towards, reason: why } = it;
    let place = tile.map_or(format!("chip {chip}"), |tile| format!("tile {chip}:{tile}"));
    let place = towards.map_or(place.clone(), |far| format!("{place} to chip {far}"));
    let row = row(("quarantine", Rank::Fault), &place, None, reason(model, why));
    at(model, row, *chip, *tile)
}
