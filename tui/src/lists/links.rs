//! Links: the cells of a row, and the filter.

use crate::model::Model;
use console::glyph::{Missing, link_letter};
use console::reading::short;
use console::words;
use decode::state::{CoreState, EthState, LinkState, MeshState};
use images::Reading;
use layouts::EthId;
use ratatui::style::Style;
use ratatui::text::Span;

/// Counts of both ends that were read further apart than this are marked, in cycles of the target.
pub(crate) const APART_CYCLES: u64 = 10_000;

/// The links that pass the filter.
pub(crate) fn links(model: &Model) -> Vec<&LinkState> {
    let Some(mesh) = model.mesh() else { return Vec::new() };
    let wanted = model.link_filter.to_lowercase();
    if wanted.is_empty() {
        return mesh.links.iter().collect();
    }
    let holds = |link: &&LinkState| text(model, mesh, link).to_lowercase().contains(&wanted);
    mesh.links.iter().filter(holds).collect()
}

/// The text of a row, which `/` searches.
fn text(model: &Model, mesh: &MeshState, link: &LinkState) -> String {
    let cells = link_cells(model, mesh, link).map(|cell| cell.content.into_owned());
    cells.join(" ")
}

/// A row of the list.
pub(crate) fn link_cells(model: &Model, mesh: &MeshState, link: &LinkState) -> [Span<'static>; 10] {
    let (a, b) = (link.link.a, link.link.b);
    let state = format!("{} {}", link_letter(link.condition), words::link(link.condition));
    let in_flight = |bytes: Option<u64>| match bytes {
        None => Span::styled("?", model.theme.dim()),
        Some(0) => Span::styled("0B", model.theme.dim()),
        Some(bytes) => Span::styled(words::bytes(bytes), model.theme.traffic()),
    };
    [
        Span::styled(state, model.theme.link(link.condition)),
        Span::raw(a.to_string()),
        waypoint(model, mesh, a),
        in_flight(link.a_to_b),
        in_flight(link.b_to_a),
        waypoint(model, mesh, b),
        Span::raw(b.to_string()),
        Span::raw(pair(model, mesh, link, |e| e.packets_sent.clone().map(Into::into))),
        Span::raw(pair(model, mesh, link, |e| e.retrain_count.clone().map(Into::into))),
        Span::raw(pair(model, mesh, link, |e| e.crc_errors.clone().map(Into::into))),
    ]
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
