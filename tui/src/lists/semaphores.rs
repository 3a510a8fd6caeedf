//! The rows of semaphores, circular buffers and sockets of what runs, and who waits for them, by the verdict.

use crate::model::Model;
use crate::table::{Cell, Rank, Row, Value};
use diagnosis::{BufferWait, Place, SemaphoreWait};
use layouts::CoreId;
use machine::place::Place as Tile;
use ratatui::text::Span;

/// The rows of all semaphores, circular buffers and sockets, with the number of each that is shown.
pub(crate) fn semaphore_rows(model: &Model) -> Vec<Row> {
    let Some(verdict) = model.verdict() else { return Vec::new() };
    let semaphores = verdict.semaphores.iter().map(|it| {
        let waits: Vec<String> = it.waiting.iter().map(SemaphoreWait::words).collect();
        let first = it.waiting.first().map(|wait| wait.core);
        let (name, value) = (format!("semaphore {}", it.words()), it.value_words());
        row(model, it.tile, (name, value, it.value.into()), (first, &waits))
    });
    let buffers = verdict.circular_buffers.iter().map(|it| {
        let waits: Vec<String> = it.waiting.iter().map(BufferWait::words).collect();
        let first = it.waiting.first().map(|wait| wait.core);
        let (name, value) =
            (format!("buffer {}", it.number), format!("{} of {}", it.held, it.pages));
        row(model, it.tile, (name, value, it.held.into()), (first, &waits))
    });
    let sockets = verdict.sockets.iter().map(|it| {
        let number = it.sent.or_else(|| it.acknowledged.first().copied()).map_or(0, u64::from);
        row(model, it.tile, (format!("socket {:#x}", it.addr), it.words(), number), (None, &[]))
    });
    let rows = semaphores.chain(buffers).chain(sockets).enumerate();
    rows.map(|(item, row)| Row { item, ..row }).collect()
}

fn row(
    model: &Model,
    Tile { chip, tile }: Tile,
    (name, value, number): (String, String, u64),
    (first, waits): (Option<CoreId>, &[String]),
) -> Row {
    let held = model.pulse.held(chip, tile).unwrap_or(Rank::Moves);
    let own = || Some(model.mesh()?.tile(chip, tile)?.cores.first()?.id);
    let text = |field, text: String| Cell::text(field, Span::raw(text));
    Row {
        key: format!("{chip}:{tile} {name}"),
        item: 0,
        rank: if waits.is_empty() { Rank::Idle } else { held },
        place: first.or_else(own).map(Place::Core),
        cells: vec![
            text("tile", format!("{chip}:{tile}")),
            text("what", name),
            Cell::number("value", Span::raw(value), Some(number)),
            text("waits", waits.join(", ")),
        ],
        hidden: vec![("chip", Value::Number(Some(chip.0.into())))],
    }
}
