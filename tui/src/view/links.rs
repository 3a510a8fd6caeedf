//! The list of links: state, and what each end says, side by side.

use super::chip::source;
use super::mesh::{titled, window};
use super::reading::{long, short, span};
use super::tiles;
use crate::glyph::link_letter;
use crate::model::Model;
use crate::words;
use decode::state::{Activity, ChannelMeaning, CoreState, EthState, LinkState, MeshState, Reading};
use layouts::EthId;
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table};

const HEAD: [&str; 11] =
    ["", "state", "A", "way", "A>B", "B>A", "way", "B", "sent A/B", "retrain", "crc"];
const WIDTHS: [u16; 11] = [1, 10, 6, 5, 5, 5, 5, 6, 15, 7, 5];
/// Columns that go first where room is short, none of them first.
const SPARED: [&[usize]; 4] = [&[], &[10], &[9, 10], &[3, 6, 9, 10]];
/// Counts that were read further apart than this are marked, in cycles of the target.
const APART_CYCLES: u64 = 10_000;

/// Rows of what is told of the selected link.
pub(super) const DETAIL: u16 = 7;

/// Draws the links that pass the filter.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect, focused: bool) {
    let Some(mesh) = model.mesh() else { return };
    let links = model.links();
    if links.is_empty() {
        let none = if mesh.links.is_empty() { "no links" } else { "no link matches" };
        frame.render_widget(
            Paragraph::new(Line::styled(format!("  {none}"), model.theme.dim())),
            area,
        );
        return;
    }
    let columns = columns(area.width);
    let range = window(model.link, links.len(), area.height.saturating_sub(1));
    let rows = range.clone().zip(links.get(range).unwrap_or_default());
    let rows = rows.map(|(i, link)| {
        let chosen = focused && i == model.link;
        let style = if chosen { model.theme.selected() } else { Style::new() };
        row(model, mesh, link, chosen, &columns).style(style)
    });
    let head = columns.iter().filter_map(|at| HEAD.get(*at).copied());
    let head = Row::new(head).style(model.theme.dim());
    let widths = columns.iter().filter_map(|at| WIDTHS.get(*at).copied());
    let table = Table::new(rows, widths.map(Constraint::Length)).header(head).column_spacing(1);
    frame.render_widget(table, area);
}

/// The columns that fit, rather fewer than any of them cut.
fn columns(width: u16) -> Vec<usize> {
    let without = |spared: &[usize]| -> Vec<usize> {
        (0..WIDTHS.len()).filter(|at| !spared.contains(at)).collect()
    };
    let fits = |columns: &Vec<usize>| {
        let cells: u16 = columns.iter().filter_map(|at| WIDTHS.get(*at)).sum();
        // The last column may do with less, and a column stands between two.
        cells + columns.len() as u16 - 1 <= width + 2
    };
    let all = SPARED.map(without);
    let found = all.iter().find(|columns| fits(columns)).or(all.last()).cloned();
    found.unwrap_or_default()
}

/// What a row shows, which is what `/` looks through.
pub(crate) fn row_text(model: &Model, mesh: &MeshState, link: &LinkState) -> String {
    let cells = cells(model, mesh, link).map(|cell| cell.content.into_owned());
    cells.join(" ")
}

fn row(
    model: &Model,
    mesh: &MeshState,
    link: &LinkState,
    chosen: bool,
    columns: &[usize],
) -> Row<'static> {
    let cursor = Span::raw(if chosen { model.glyphs.cursor() } else { " " });
    let cells = std::iter::once(cursor).chain(cells(model, mesh, link)).enumerate();
    Row::new(cells.filter(|(at, _)| columns.contains(at)).map(|(_, cell)| Cell::from(cell)))
}

fn cells(model: &Model, mesh: &MeshState, link: &LinkState) -> [Span<'static>; 10] {
    let (a, b) = (link.link.a, link.link.b);
    let state = format!("{} {}", link_letter(link.condition), words::link(link.condition));
    let under_way = |bytes: Option<u64>| match bytes {
        None => Span::styled("?", model.theme.dim()),
        Some(0) => Span::styled("0B", model.theme.dim()),
        Some(bytes) => Span::styled(words::bytes(bytes), model.theme.traffic()),
    };
    [
        Span::styled(state, model.theme.link(link.condition)),
        Span::raw(a.to_string()),
        waypoint(model, mesh, a),
        under_way(link.a_to_b),
        under_way(link.b_to_a),
        waypoint(model, mesh, b),
        Span::raw(b.to_string()),
        Span::raw(pair(model, mesh, link, |e| map_count(&e.packets_sent))),
        Span::raw(pair(model, mesh, link, |e| map_count(&e.retrain_count))),
        Span::raw(pair(model, mesh, link, |e| map_count(&e.crc_errors))),
    ]
}

/// Both ends of the selected link: what each core does and where in its source it waits.
pub(super) fn draw_detail(model: &Model, frame: &mut Frame, area: Rect) {
    let (Some(mesh), links) = (model.mesh(), model.links()) else { return };
    let Some(link) = links.get(model.link) else { return };
    let (a, b) = (link.link.a, link.link.b);
    let apart = link.apart_cycles.filter(|apart| *apart > APART_CYCLES);
    let apart = apart.map(|apart| format!(", ends read {} apart", words::cycles(apart)));
    let title =
        format!(" {a} to {b}: {}{} ", words::link(link.condition), apart.unwrap_or_default());
    let block = titled(model, &title, false);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let mut lines = Vec::new();
    for end in [a, b] {
        lines.extend(end_lines(model, mesh, end));
    }
    frame.render_widget(Paragraph::new(lines), inner);
}

fn end_lines(model: &Model, mesh: &MeshState, end: EthId) -> [Line<'static>; 3] {
    let Some((tile, core)) = mesh.eth(end).and_then(|t| Some((t, t.cores.first()?))) else {
        return [Line::raw(format!("{end}  no core known")), Line::default(), Line::default()];
    };
    let g = model.glyphs;
    let state = long(g, &core.activity, |a| words::activity(*a).to_owned());
    let beat = short(g, &core.heartbeat, |b| format!("{b:#010x}"));
    let first = vec![
        Span::styled(format!("{:<7}", end.to_string()), model.theme.key()),
        Span::raw(format!("tile {:<5}", tile.xy.to_string())),
        tiles::activity(model, core),
        Span::raw(format!(" {state}  ")),
        waypoint(model, mesh, end),
        Span::styled(format!("  heartbeat {beat}"), model.theme.dim()),
    ];
    let at = core.location.first().map_or_else(|| nowhere(core).to_owned(), source);
    let busy = core.channels.iter().filter(|c| c.meaning != ChannelMeaning::Idle);
    let mut busy: Vec<_> =
        busy.map(|c| format!("ch {} {}", c.index, words::channel(c.meaning))).collect();
    if busy.is_empty() && !core.channels.is_empty() {
        busy.push("no bytes under way on its channels".to_owned());
    }
    // What one end has sent the other has received.
    if let Some(eth) = &tile.eth {
        let [sent, received] =
            [&eth.packets_sent, &eth.packets_received].map(|count| short(g, count, u64::to_string));
        busy.insert(0, format!("sent {sent} received {received}"));
    }
    [
        Line::from(first),
        Line::styled(format!("       {at}"), model.theme.dim()),
        Line::styled(format!("       {}", busy.join("; ")), model.theme.dim()),
    ]
}

/// Why a core has no place in its source.
fn nowhere(core: &CoreState) -> &'static str {
    match core.activity {
        Reading::Known(Activity::BaseFirmware) => "base firmware has no waypoints",
        _ => "source unknown",
    }
}

fn map_count<T: Copy + Into<u64>>(reading: &Reading<T>) -> Reading<u64> {
    match reading {
        Reading::Known(value) => Reading::Known((*value).into()),
        Reading::Unknown(raw) => Reading::Unknown(*raw),
        Reading::Unread(error) => Reading::Unread(error.clone()),
        Reading::Absent => Reading::Absent,
    }
}

/// One count of both ends.
fn pair(
    model: &Model,
    mesh: &MeshState,
    link: &LinkState,
    of: impl Fn(&EthState) -> Reading<u64>,
) -> String {
    let of = &of;
    let text = |end| {
        let reading = mesh.eth(end).and_then(|t| t.eth.as_ref()).map_or(Reading::Absent, of);
        short(model.glyphs, &reading, u64::to_string)
    };
    let between = if is_loose(model, mesh, link, of) { "~" } else { "/" };
    format!("{}{between}{}", text(link.link.a), text(link.link.b))
}

/// The counts move, and were read too far apart to be compared.
fn is_loose(
    model: &Model,
    mesh: &MeshState,
    link: &LinkState,
    of: impl Fn(&EthState) -> Reading<u64>,
) -> bool {
    let count = |mesh: &MeshState, end| mesh.eth(end).and_then(|t| t.eth.as_ref()).map(&of);
    let moves =
        |end| model.mesh_before().is_some_and(|before| count(before, end) != count(mesh, end));
    link.apart_cycles.is_some_and(|apart| apart > APART_CYCLES)
        && (moves(link.link.a) || moves(link.link.b))
}

/// The core at this end of a link.
pub(super) fn core_at(mesh: &MeshState, end: EthId) -> Option<&CoreState> {
    mesh.eth(end)?.cores.first()
}

/// The waypoint of the core at this end, marked if it moved since the sample before.
pub(super) fn waypoint(model: &Model, mesh: &MeshState, end: EthId) -> Span<'static> {
    let Some(core) = core_at(mesh, end) else {
        return Span::styled(
            model.glyphs.missing(crate::glyph::Missing::Absent),
            model.theme.dim(),
        );
    };
    let text = span(model.glyphs, model.theme, &core.waypoint, Style::new());
    let before = model.mesh_before().and_then(|m| core_at(m, end));
    if before.is_some_and(|b| b.waypoint != core.waypoint) {
        let style = model.theme.moved(text.style);
        return text.style(style);
    }
    text
}
