//! The rows of links.

use crate::model::{List, Model};
use crate::pulse::Stood;
use crate::table::{Cell, Row, Value};
use crate::theme::Theme;
use console::glyph::{Missing, link_letter};
use console::reading::short;
use console::words;
use decode::state::{CoreState, EthState, LinkCondition, LinkState, MeshState};
use diagnosis::Place;
use images::Reading;
use layouts::EthId;
use ratatui::style::Style;
use ratatui::text::Span;

/// Counts of both ends that were read further apart than this are marked, in cycles of the target.
pub(crate) const APART_CYCLES: u64 = 10_000;

/// The rows of all links.
pub(crate) fn link_rows(model: &Model) -> Vec<Row> {
    let Some(mesh) = model.mesh() else { return Vec::new() };
    let row = |(item, link): (usize, &LinkState)| {
        let (a, b) = (link.link.a, link.link.b);
        let chip = |end: EthId| ("chip", Value::Number(Some(end.chip.0.into())));
        Row {
            key: format!("{a} {b}"),
            item,
            rank: model.pulse.rank(mesh, link),
            place: Some(Place::link(&link.link)),
            cells: link_cells(model, mesh, link),
            hidden: vec![chip(a), chip(b)],
        }
    };
    mesh.links.iter().enumerate().map(row).collect()
}

/// The selected link.
pub(crate) fn link_selected(model: &Model) -> Option<&LinkState> {
    model.mesh()?.links.get(model.lists[List::Links].selected()?.item)
}

/// The letter, the word and the style of a link: held if both ends belong to the first finding;
/// then all others are dimmed.
pub(crate) fn standing(model: &Model, link: &LinkState) -> (&'static str, &'static str, Style) {
    let up = link.condition == LinkCondition::Up;
    if up && model.pulse.holds(link) {
        return ("H", "held", model.theme.bad());
    }
    if up && model.goes(link).is_some() {
        return ("", "on the path", model.theme.title());
    }
    let dimmed = up && model.lights();
    let style = if dimmed { model.theme.dim() } else { model.theme.link(link.condition) };
    (link_letter(link.condition), words::link(link.condition), style)
}

/// The cells of a link, with the fields that filters name.
fn link_cells(model: &Model, mesh: &MeshState, link: &LinkState) -> Vec<Cell> {
    let (a, b) = (link.link.a, link.link.b);
    let (letter, word, style) = standing(model, link);
    let in_flight = |field, bytes: Option<u64>| {
        let span = match bytes {
            None => Span::styled("?", model.theme.dim()),
            Some(0) => Span::styled("0B", model.theme.dim()),
            Some(bytes) => Span::styled(words::bytes(bytes), model.theme.traffic()),
        };
        Cell::number(field, span, bytes)
    };
    let pulse = model.pulse.link(link);
    let sends =
        pulse.and_then(|pulse| pulse.rate.into_iter().flatten().reduce(u64::saturating_add));
    let stood = pulse.and_then(|pulse| pulse.stood(mesh.cycles));
    let (retrains, broken) = (sum(mesh, link, retrains), sum(mesh, link, crc_errors));
    let errors = retrains.zip(broken).map(|(retrains, broken)| retrains + broken);
    let sent = sum(mesh, link, |eth| eth.packets_sent.known().copied());
    let end = |field, end: EthId| Cell::text(field, Span::raw(end.to_string()));
    vec![
        Cell::text("state", Span::styled(format!("{letter} {word}"), style)),
        end("a", a),
        Cell::text("wayp", waypoint(model, mesh, a)),
        in_flight("ab", link.a_to_b),
        in_flight("ba", link.b_to_a),
        Cell::text("wayp", waypoint(model, mesh, b)),
        end("b", b),
        Cell::number("rate", rate(model, link), sends),
        Cell::number("still", still(model, mesh, link), stood.map(|stood| stood.cycles)),
        Cell::number("errors", errors_text(model, link, (retrains, broken)), errors),
        Cell::number(
            "sent",
            Span::raw(pair(model, mesh, link, |e| e.packets_sent.clone().map(Into::into))),
            sent,
        ),
        Cell::number("history", Span::styled(history(model, link), model.theme.traffic()), sends),
    ]
}

fn retrains(eth: &EthState) -> Option<u64> {
    eth.retrain_count.known().copied().map(Into::into)
}

fn crc_errors(eth: &EthState) -> Option<u64> {
    eth.crc_errors.known().copied().map(Into::into)
}

/// A count of both ends together.
fn sum(mesh: &MeshState, link: &LinkState, field: fn(&EthState) -> Option<u64>) -> Option<u64> {
    let of = |end| mesh.eth(end).and_then(|tile| field(tile.eth.as_ref()?));
    of(link.link.a).zip(of(link.link.b)).map(|(a, b)| a + b)
}

/// Packets per second from either end; marked where the link is far slower than the others.
fn rate(model: &Model, link: &LinkState) -> Span<'static> {
    let Some(pulse) = model.pulse.link(link) else { return Span::raw("") };
    let unread = model.glyphs.missing(Missing::Unread);
    let text = |rate: Option<u64>| rate.map_or(unread.to_owned(), words::count);
    if pulse.rates().next().is_none() {
        return Span::raw("");
    }
    let rates = format!("{}/{}", text(pulse.rate[0]), text(pulse.rate[1]));
    if pulse.lags {
        return Span::styled(format!("{rates} slow"), model.theme.warn());
    }
    Span::raw(rates)
}

/// Since when no packet was sent.
fn still(model: &Model, mesh: &MeshState, link: &LinkState) -> Span<'static> {
    let stood = model.pulse.link(link).and_then(|pulse| pulse.stood(mesh.cycles));
    match stood {
        None => Span::raw(""),
        Some(Stood { cycles: 0, .. }) => Span::styled("moves", model.theme.ok()),
        Some(Stood { cycles, at_least }) => {
            let sign = if at_least { ">" } else { "" };
            Span::raw(format!("{sign}{}", words::brief(cycles)))
        }
    }
}

/// Retrains and CRC errors, of both ends together.
fn errors_text(
    model: &Model,
    link: &LinkState,
    (retrains, broken): (Option<u64>, Option<u64>),
) -> Span<'static> {
    let text = |count: Option<u64>| count.map_or("?".to_owned(), words::count);
    let grow = model.pulse.link(link).is_some_and(|pulse| pulse.errs);
    let style = if grow { model.theme.bad() } else { Style::new() };
    Span::styled(format!("{}/{}", text(retrains), text(broken)), style)
}

/// Columns of the rates of the last snapshots.
const HISTORY: usize = 20;

/// The rates of the last snapshots, the newest at the right end, against the fastest of them; a
/// blank where there is none.
fn history(model: &Model, link: &LinkState) -> String {
    let Some(pulse) = model.pulse.link(link) else { return String::new() };
    let most = pulse.rates().flatten().max().unwrap_or(0);
    let shown: Vec<_> = pulse.rates().rev().take(HISTORY).collect();
    let bars = shown.iter().rev().map(|rate| match rate {
        None => " ",
        Some(rate) => model.glyphs.eighth(*rate, most),
    });
    bars.collect()
}

/// One count of both ends.
fn pair(
    model: &Model,
    mesh: &MeshState,
    link: &LinkState,
    field: impl Fn(&EthState) -> Reading<u64>,
) -> String {
    let field = &field;
    let text = |end| {
        let reading = mesh.eth(end).and_then(|t| t.eth.as_ref()).map_or(Reading::Absent, field);
        short(model.glyphs, &reading, u64::to_string)
    };
    let between = if is_loose(model, mesh, link, field) { "~" } else { "/" };
    format!("{}{between}{}", text(link.link.a), text(link.link.b))
}

/// Whether the counts move and were read too far apart to be compared.
fn is_loose(
    model: &Model,
    mesh: &MeshState,
    link: &LinkState,
    field: impl Fn(&EthState) -> Reading<u64>,
) -> bool {
    let count = |mesh: &MeshState, end| mesh.eth(end).and_then(|t| t.eth.as_ref()).map(&field);
    let moves =
        |end| model.mesh_before().is_some_and(|before| count(before, end) != count(mesh, end));
    link.apart_cycles.is_some_and(|apart| apart > APART_CYCLES)
        && (moves(link.link.a) || moves(link.link.b))
}

/// The core at this end of a link.
pub(crate) fn core_at(mesh: &MeshState, end: EthId) -> Option<&CoreState> {
    mesh.eth(end)?.cores.first()
}

/// The waypoint of the core at this end, marked if it moved since the previous snapshot.
pub(crate) fn waypoint(model: &Model, mesh: &MeshState, end: EthId) -> Span<'static> {
    let Some(core) = core_at(mesh, end) else {
        return Span::styled(model.glyphs.missing(Missing::Absent), model.theme.dim());
    };
    let text = model.theme.span(model.glyphs, &core.waypoint, Style::new());
    let before = model.mesh_before().and_then(|m| core_at(m, end));
    if before.is_some_and(|b| b.waypoint != core.waypoint) {
        let style = Theme::moved(text.style);
        return text.style(style);
    }
    text
}
