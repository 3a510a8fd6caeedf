//! The list of links: their state, and both ends of each.

use super::pane::{titled, window};
use super::tiles;
use crate::lists::{self, APART_CYCLES, link_cells, waypoint};
use crate::model::{Model, Shows};
use console::reading::short;
use console::words;
use decode::state::{Activity, ChannelMeaning, CoreState, LinkState, MeshState, Party};
use images::Reading;
use layouts::EthId;
use machine::words::counted;
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table};

/// `pkt/s` counts packets per second from either end; `still` is the time since the last one.
const HEAD: [&str; 13] = [
    "",
    "state",
    "A",
    "wayp",
    "A>B",
    "B>A",
    "wayp",
    "B",
    "pkt/s A/B",
    "still",
    "retr/crc",
    "sent A/B",
    "pkt/s, last 20",
];
const WIDTHS: [u16; 13] = [1, 10, 6, 5, 5, 5, 5, 6, 11, 6, 8, 15, 20];
/// Column sets to leave out when the pane is too narrow, in order of preference.
const SPARED: [&[usize]; 6] =
    [&[], &[12], &[11, 12], &[10, 11, 12], &[9, 10, 11, 12], &[3, 6, 9, 10, 11, 12]];

/// Rows of the detail of the selected link.
pub(super) const DETAIL: u16 = 9;

/// Draws the links that pass the filter.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect, focused: bool) {
    let Some(mesh) = model.mesh() else { return };
    let links = lists::links(model);
    let folded = lists::folded(model);
    if links.is_empty() && folded == 0 {
        let none = if mesh.links.is_empty() { "no links" } else { "no link matches" };
        frame.render_widget(
            Paragraph::new(Line::styled(format!("  {none}"), model.theme.dim())),
            area,
        );
        return;
    }
    let columns = columns(area.width);
    let count = lists::link_rows(model);
    let range = window(model.link, count, area.height.saturating_sub(1));
    let fold = range.contains(&links.len()).then(|| {
        let chosen = focused && model.link == links.len();
        (1 + (links.len() - range.start) as u16, fold_line(model, folded, chosen))
    });
    let listed = range.start..range.end.min(links.len());
    let rows = listed.clone().zip(links.get(listed).unwrap_or_default());
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
    if let Some((row, line)) = fold.filter(|_| folded > 0) {
        let area = Rect { y: area.y + row, height: 1, ..area };
        frame.render_widget(Paragraph::new(line), area);
    }
}

/// The line for the links that are not listed.
fn fold_line(model: &Model, folded: usize, chosen: bool) -> Line<'static> {
    let what = match model.shows {
        Shows::Wrong => "have nothing wrong",
        Shows::Busy | Shows::All => "up, idle",
    };
    let links = counted(folded as u64, "link", "links");
    let (mark, style) = if chosen {
        (model.glyphs.cursor(), model.theme.selected())
    } else {
        (" ", model.theme.dim())
    };
    Line::styled(format!("{mark} {links} {what} (Enter lists all)"), style)
}

/// The columns that fit; a column is left out rather than cut.
fn columns(width: u16) -> Vec<usize> {
    let without = |spared: &[usize]| -> Vec<usize> {
        (0..WIDTHS.len()).filter(|at| !spared.contains(at)).collect()
    };
    let fits = |columns: &Vec<usize>| {
        let cells: u16 = columns.iter().filter_map(|at| WIDTHS.get(*at)).sum();
        // The last column may be cut by two; one blank separates two columns.
        cells + columns.len() as u16 - 1 <= width + 2
    };
    let all = SPARED.map(without);
    let found = all.iter().find(|columns| fits(columns)).or(all.last()).cloned();
    found.unwrap_or_default()
}

fn row(
    model: &Model,
    mesh: &MeshState,
    link: &LinkState,
    chosen: bool,
    columns: &[usize],
) -> Row<'static> {
    let cursor = Span::raw(if chosen { model.glyphs.cursor() } else { " " });
    let cells = std::iter::once(cursor).chain(link_cells(model, mesh, link)).enumerate();
    Row::new(cells.filter(|(at, _)| columns.contains(at)).map(|(_, cell)| Cell::from(cell)))
}

/// Both ends of the selected link: each core's activity and the source line where it waits.
pub(super) fn draw_detail(model: &Model, frame: &mut Frame, area: Rect) {
    let (Some(mesh), links) = (model.mesh(), lists::links(model)) else { return };
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
        lines.extend(stage_line(model, mesh, end));
    }
    frame.render_widget(Paragraph::new(lines), inner);
}

fn end_lines(model: &Model, mesh: &MeshState, end: EthId) -> [Line<'static>; 3] {
    let Some((tile, core)) = mesh.eth(end).and_then(|t| Some((t, t.cores.first()?))) else {
        return [Line::raw(format!("{end}  no core known")), Line::default(), Line::default()];
    };
    let g = model.glyphs;
    let beat = short(g, &core.heartbeat, |b| format!("{b:#010x}"));
    let mut first = vec![
        Span::styled(format!("{:<7}", end.to_string()), model.theme.key()),
        Span::raw(format!("tile {:<5}", tile.xy.to_string())),
    ];
    first.extend(tiles::activity_words(model, core));
    first.extend([
        Span::raw("  "),
        waypoint(model, mesh, end),
        Span::styled(format!("  heartbeat {beat}"), model.theme.dim()),
    ]);
    let at = words::sources(core).unwrap_or_else(|| nowhere(core).to_owned());
    let busy = core.channels.iter().filter(|c| c.meaning != ChannelMeaning::Idle);
    let mut busy: Vec<_> = busy.map(|c| format!("ch {} {}", c.index, c.meaning.words())).collect();
    if busy.is_empty() && !core.channels.is_empty() {
        busy.push("no bytes in flight on its channels".to_owned());
    }
    // What one end sends the other receives.
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

/// The stage of the kernel at the end of a link, its time in it, and who must act.
fn stage_line(model: &Model, mesh: &MeshState, end: EthId) -> Option<Line<'static>> {
    let snapshot = model.shown.as_deref()?;
    let core = mesh.eth(end)?.cores.first()?.id;
    let parties = snapshot.stages.of(core, mesh.cycles);
    let party =
        parties.iter().find(|it| matches!(it.now.party, Party::Core(_) | Party::Router(_)))?;
    let time = match party.time() {
        none if none.is_empty() => none,
        time => format!(" for {time}"),
    };
    let stage = party.now.stage;
    let line = format!("       stage: {}{time}; next to act: {}", stage.name, stage.next);
    Some(Line::styled(line, model.theme.dim()))
}

/// Why a core has no source location.
fn nowhere(core: &CoreState) -> &'static str {
    match core.activity {
        Reading::Known(Activity::BaseFirmware) => "base firmware has no waypoints",
        _ if core.lacks_waypoints() => words::NO_WAYPOINTS,
        _ => "source unknown",
    }
}
