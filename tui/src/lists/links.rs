//! Links: the cells of a row, and the filter.

use crate::model::{Model, Shows};
use crate::pulse::Stood;
use console::glyph::{Missing, link_letter};
use console::reading::short;
use console::words;
use decode::state::{CoreState, EthState, LinkCondition, LinkState, MeshState};
use images::Reading;
use layouts::EthId;
use ratatui::style::Style;
use ratatui::text::Span;

/// Counts of both ends that were read further apart than this are marked, in cycles of the target.
pub(crate) const APART_CYCLES: u64 = 10_000;

/// The links that pass the filter, the worst first; without a filter, idle ones are folded.
pub(crate) fn links(model: &Model) -> Vec<&LinkState> {
    let Some(mesh) = model.mesh() else { return Vec::new() };
    let wanted = model.link_filter.to_lowercase();
    let shows = if wanted.is_empty() { model.shows } else { Shows::All };
    let listed = model.pulse.order(shows).0.iter().filter_map(|at| mesh.links.get(*at));
    let holds = |link: &&LinkState| {
        wanted.is_empty() || text(model, mesh, link).to_lowercase().contains(&wanted)
    };
    listed.filter(holds).collect()
}

/// The number of links that are not listed for they are idle, or nothing is wrong with them.
pub(crate) fn folded(model: &Model) -> usize {
    if model.link_filter.is_empty() { model.pulse.order(model.shows).1 } else { 0 }
}

/// The rows of the list: the links, and a line for those that are folded.
pub(crate) fn link_rows(model: &Model) -> usize {
    links(model).len() + usize::from(folded(model) > 0)
}

/// The text of a row, which `/` searches.
fn text(model: &Model, mesh: &MeshState, link: &LinkState) -> String {
    let cells = link_cells(model, mesh, link).map(|cell| cell.content.into_owned());
    cells.join(" ")
}

/// The letter, the word and the style of a link: held if both ends belong to the first finding;
/// then all others are dimmed.
pub(crate) fn standing(model: &Model, link: &LinkState) -> (&'static str, &'static str, Style) {
    let up = link.condition == LinkCondition::Up;
    if up && model.pulse.holds(link) {
        return ("H", "held", model.theme.bad());
    }
    let dimmed = up && model.pulse.has_members();
    let style = if dimmed { model.theme.dim() } else { model.theme.link(link.condition) };
    (link_letter(link.condition), words::link(link.condition), style)
}

/// A row of the list.
pub(crate) fn link_cells(model: &Model, mesh: &MeshState, link: &LinkState) -> [Span<'static>; 12] {
    let (a, b) = (link.link.a, link.link.b);
    let (letter, word, style) = standing(model, link);
    let in_flight = |bytes: Option<u64>| match bytes {
        None => Span::styled("?", model.theme.dim()),
        Some(0) => Span::styled("0B", model.theme.dim()),
        Some(bytes) => Span::styled(words::bytes(bytes), model.theme.traffic()),
    };
    [
        Span::styled(format!("{letter} {word}"), style),
        Span::raw(a.to_string()),
        waypoint(model, mesh, a),
        in_flight(link.a_to_b),
        in_flight(link.b_to_a),
        waypoint(model, mesh, b),
        Span::raw(b.to_string()),
        rate(model, link),
        still(model, mesh, link),
        errors(model, mesh, link),
        Span::raw(pair(model, mesh, link, |e| e.packets_sent.clone().map(Into::into))),
        Span::styled(history(model, link), model.theme.traffic()),
    ]
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
fn errors(model: &Model, mesh: &MeshState, link: &LinkState) -> Span<'static> {
    let sum = |field: fn(&EthState) -> Option<u64>| {
        let of = |end| mesh.eth(end).and_then(|tile| field(tile.eth.as_ref()?));
        let sum = of(link.link.a).zip(of(link.link.b)).map(|(a, b)| a + b);
        sum.map_or("?".to_owned(), words::count)
    };
    let retrains = sum(|eth| eth.retrain_count.known().copied().map(Into::into));
    let broken = sum(|eth| eth.crc_errors.known().copied().map(Into::into));
    let grow = model.pulse.link(link).is_some_and(|pulse| pulse.errs);
    let style = if grow { model.theme.bad() } else { Style::new() };
    Span::styled(format!("{retrains}/{broken}"), style)
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
        let style = model.theme.moved(text.style);
        return text.style(style);
    }
    text
}
