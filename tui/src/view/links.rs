//! The list of links: their state, and both ends of each.

use super::pane::titled;
use super::table::{self, Look};
use super::tiles;
use crate::lists::{self, APART_CYCLES, waypoint};
use crate::model::{List, Model};
use crate::theme::Theme;
use console::reading::short;
use console::words;
use decode::state::{Activity, ChannelMeaning, CoreState, MeshState, Party};
use images::Reading;
use layouts::EthId;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// `pkt/s` counts packets per second from either end; `still` is the time since the last one.
const LOOK: Look = Look {
    nouns: ("link", "links"),
    idle: "up, idle",
    head: &[
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
    ],
    widths: &[10, 6, 5, 5, 5, 5, 6, 11, 6, 8, 15, 20],
    spared: &[&[], &[11], &[10, 11], &[9, 10, 11], &[8, 9, 10, 11], &[2, 5, 8, 9, 10, 11]],
};

/// Rows of the detail of the selected link.
pub(super) const DETAIL: u16 = 9;
/// The same where it is narrow, and the cables have lines of their own.
pub(super) const TALL_DETAIL: u16 = 11;

/// Draws the links that are listed.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect, focused: bool) {
    let Some(mesh) = model.mesh() else { return };
    let none = if mesh.links.is_empty() { "no links" } else { "no link matches" };
    table::draw(model, &model.lists[List::Links], &LOOK, (none, focused), (frame, area));
}

/// Both ends of the selected link: each core's activity and the source line where it waits.
pub(super) fn draw_detail(model: &Model, frame: &mut Frame, area: Rect) {
    let Some((mesh, link)) = model.mesh().zip(lists::link_selected(model)) else { return };
    let (a, b) = (link.link.a, link.link.b);
    let apart = link.apart_cycles.filter(|apart| *apart > APART_CYCLES);
    let apart = apart.map(|apart| format!(", ends read {} apart", words::cycles(apart)));
    let title =
        format!(" {a} to {b}: {}{} ", words::link(link.condition), apart.unwrap_or_default());
    let block = titled(model, &title, false);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let mut lines = Vec::new();
    let tall = area.height >= TALL_DETAIL;
    for end in [a, b] {
        let cable = cable(mesh, end).unwrap_or_default();
        lines.extend(end_lines(model, mesh, end, if tall { "" } else { &cable }));
        lines.extend(stage_line(model, mesh, end));
        if tall {
            lines.push(Line::styled(format!("       {cable}"), model.theme.dim()));
        }
    }
    frame.render_widget(Paragraph::new(lines), inner);
}

fn end_lines(model: &Model, mesh: &MeshState, end: EthId, beside: &str) -> [Line<'static>; 3] {
    let Some((tile, core)) = mesh.eth(end).and_then(|t| Some((t, t.cores.first()?))) else {
        return [Line::raw(format!("{end}  no core known")), Line::default(), Line::default()];
    };
    let g = model.glyphs;
    let mut first = vec![
        Span::styled(format!("{:<7}", end.to_string()), Theme::key()),
        Span::raw(format!("tile {:<5}", tile.xy.to_string())),
    ];
    first.extend(tiles::activity_words(model, core));
    first.extend([
        Span::raw("  "),
        waypoint(model, mesh, end),
        Span::styled(format!("  {beside}"), model.theme.dim()),
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

/// Where the cable is at the end of a link: its port, if a descriptor names it, else its connector and
/// board.
fn cable(mesh: &MeshState, end: EthId) -> Option<String> {
    if let Some(port) = mesh.port(end) {
        return Some(port);
    }
    let chip = &mesh.chips.iter().find(|chip| chip.chip.id == end.chip)?.chip;
    let id = chip.unique_id.map_or_else(String::new, |id| format!(" {id:#x}"));
    let name = chip.board.as_deref().unwrap_or("board");
    let cards = &mesh.layout().arc;
    let named = || cards.board_named(name.split(' ').next()?);
    let card = chip.unique_id.and_then(|id| cards.board(id)).or_else(named);
    let connector = card.and_then(|card| card.connector(chip.pcie, end.channel));
    let connector = connector.map_or_else(String::new, |name| format!("{name} of "));
    Some(format!("{connector}{name}{id}"))
}

/// Why a core has no source location.
fn nowhere(core: &CoreState) -> &'static str {
    match core.activity {
        Reading::Known(Activity::BaseFirmware) => "base firmware has no waypoints",
        _ if core.lacks_waypoints() => words::NO_WAYPOINTS,
        _ => "source unknown",
    }
}
