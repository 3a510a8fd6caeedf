//! The rows of queues: the routing queues of gateways, and transmit queues.

use crate::model::Model;
use crate::table::{Cell, Rank, Row, Value};
use console::glyph::Missing;
use console::queues::{QueueState, queue_spans, queues};
use console::words;
use diagnosis::Place;
use machine::snapshot::Span as Range;
use ratatui::style::Style;
use ratatui::text::Span;

impl Model {
    /// What has to be read for the queues of all gateways and of the selected chip.
    pub(crate) fn queue_words(&self) -> Vec<Range> {
        let newest = self.newest.as_deref();
        newest.map_or_else(Vec::new, |it| queue_spans(&it.state, &it.memory, Some(self.chip)))
    }
}

/// The rows of all queues.
pub(crate) fn queue_rows(model: &Model) -> Vec<Row> {
    let Some(shown) = model.shown.as_deref() else { return Vec::new() };
    let before = model.before.as_deref().map(|it| queues(&it.state, &it.memory, Some(model.chip)));
    let before = before.unwrap_or_default();
    let all = queues(&shown.state, &shown.memory, Some(model.chip)).into_iter();
    let row = |(item, queue): (usize, QueueState)| {
        let was = before.iter().find(|it| it.at == queue.at && it.kind == queue.kind);
        row(model, &queue, was, item)
    };
    all.enumerate().map(row).collect()
}

fn row(model: &Model, queue: &QueueState, before: Option<&QueueState>, item: usize) -> Row {
    let unread = model.glyphs.missing(Missing::Unread);
    let number = |field, value: Option<u32>, style| {
        let text = value.map_or(unread.to_owned(), |value| words::count(value.into()));
        Cell::number(field, Span::styled(text, style), value.map(Into::into))
    };
    let errs = before.is_some_and(|it| it.errors.is_some() && it.errors != queue.errors);
    let moves = before.is_some_and(|it| it.done.is_some() && it.done != queue.done);
    let full = queue.depth.zip(queue.slots).is_some_and(|(depth, slots)| depth >= slots);
    let rank = match queue.in_flight {
        _ if errs => Rank::Fault,
        None => Rank::Unread,
        _ if full && !moves => Rank::Slow,
        Some(0) if !moves && queue.errors == Some(0) => Rank::Idle,
        Some(_) => Rank::Moves,
    };
    let state = match rank {
        Rank::Fault => Span::styled("counts errors", model.theme.bad()),
        Rank::Slow => Span::styled("full", model.theme.warn()),
        Rank::Unread => Span::styled("not read", model.theme.dim()),
        _ if moves => Span::styled("moves", model.theme.ok()),
        _ => Span::styled("idle", model.theme.dim()),
    };
    let place = if queue.gateway { "gateway" } else { "" };
    let text = |field, text: &str| Cell::text(field, Span::raw(text.to_owned()));
    let style = if errs { model.theme.bad() } else { Style::new() };
    Row {
        key: format!("{} {}", queue.at, queue.kind.name()),
        item,
        rank,
        place: Some(Place::End(queue.at)),
        cells: vec![
            text("at", &queue.at.to_string()),
            text("queue", queue.kind.name()),
            text("what", place),
            Cell::text("state", state),
            Cell::number("depth", Span::raw(queue.depth_words()), queue.depth.map(Into::into)),
            number("flight", queue.in_flight, Style::new()),
            number("errors", queue.errors, style),
            number("done", queue.done, Style::new()),
        ],
        hidden: vec![("chip", Value::Number(Some(queue.at.chip.0.into())))],
    }
}
