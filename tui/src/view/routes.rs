//! The routes screen: the path of a packet on the map and hop by hop; routing tables; the schedules of
//! collectives beside each other.

use super::map::{self, Map};
use super::pane::titled;
use crate::model::{Model, RoutesPane};
use crate::route::Route;
use crate::routes;
use console::fabric;
use console::reading::short;
use console::run::schedule::ScheduleMark;
use decode::state::{MeshState, PacketState, RouteEnd};
use images::fabric::PacketFacts;
use layouts::ChipId;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

type Pane = (String, Vec<Line<'static>>);

/// From this width on, the text is beside the map.
const WIDE: u16 = 160;
/// Columns of the text there.
const TEXT: u16 = 64;

/// Rows of the text below the map.
const LEAST_TEXT: u16 = 6;

/// The room of the map, and the area of the text; without the map that of all.
fn areas(model: &Model, area: Rect, lines: usize) -> (Option<Rect>, Rect) {
    if model.routes_pane != RoutesPane::Path {
        return (None, area);
    }
    if area.width >= WIDE {
        let parts = [Constraint::Min(0), Constraint::Length(TEXT)];
        let [map, text] = Layout::horizontal(parts).areas(area);
        return (Some(map), text);
    }
    let wanted = u16::try_from(lines + 1).unwrap_or(u16::MAX).max(LEAST_TEXT);
    let parts = [Constraint::Min(0), Constraint::Length(wanted.min(area.height / 2))];
    let [map, text] = Layout::vertical(parts).areas(area);
    (Some(map), text)
}

/// The map in its room; no list is below it.
fn map<'a>(model: &'a Model, mesh: &'a MeshState, room: Rect) -> Map<'a> {
    Map::new(model, mesh, Rect { height: room.height + map::LEAST_LIST, ..room })
}

fn text(model: &Model, width: u16) -> Pane {
    match model.routes_pane {
        RoutesPane::Path => path(model, &model.route),
        RoutesPane::Tables => tables(model),
        RoutesPane::Schedule => schedule(model, width),
    }
}

/// The chip at a place of the map.
pub(super) fn chip_at(model: &Model, area: Rect, at: (u16, u16)) -> Option<ChipId> {
    let mesh = model.mesh()?;
    let lines = text(model, area.width).1.len();
    let room = areas(model, area, lines).0.filter(|room| room.contains(at.into()))?;
    map(model, mesh, room).chip_at(room, at)
}

/// Draws the routes screen.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let Some(mesh) = model.mesh() else { return };
    let (title, lines) = text(model, area.width);
    let (room, below) = areas(model, area, lines.len());
    if let Some(room) = room {
        map(model, mesh, room).draw(frame, room);
    }
    let first = if model.routes_pane == RoutesPane::Path { 0 } else { model.routes_line };
    let rows = usize::from(below.height.saturating_sub(1));
    let first = first.min(lines.len().saturating_sub(rows));
    let more = lines.len().saturating_sub(first + rows);
    let title = match (first, more) {
        (0, 0) => title,
        _ => format!("{title}(lines {} to {} of {}) ", first + 1, lines.len() - more, lines.len()),
    };
    let block = titled(model, &title, true);
    let inner = block.inner(below);
    frame.render_widget(block, below);
    let lines: Vec<_> = lines.into_iter().skip(first).collect();
    frame.render_widget(Paragraph::new(lines), inner);
}

/// The tables of the selected router, or of the first router of the selected chip.
fn tables(model: &Model) -> Pane {
    let Some((mesh, (shown, others))) = model.mesh().zip(routes::tables(model)) else {
        return (format!(" routing tables of chip {}: none was read ", model.chip), Vec::new());
    };
    let text = shown.first().map(|tables| fabric::tables_text(mesh, tables));
    let mut lines = plain(&text.unwrap_or_default());
    if others {
        let line = " other routers of this chip have other tables";
        lines.push(Line::styled(line, model.theme.bad()));
    }
    (format!(" {} ", fabric::tables_title(shown)), lines)
}

/// The path of a packet, hop by hop in each routing plane.
fn path(model: &Model, route: &Route) -> Pane {
    let Route { from, packet, found, .. } = route;
    let mut lines: Vec<_> =
        packet.iter().map(|packet| Line::raw(format!(" {}", rest(model, packet)))).collect();
    let (to, routes) = match found {
        Err(why) => return (format!(" path from chip {from}: {why} "), lines),
        Ok((to, routes)) => (*to, routes),
    };
    lines.extend(plain(&fabric::routes_text(routes)));
    let lost = routes.iter().any(|route| route.end != RouteEnd::Arrived);
    if let Some(last) = lines.last_mut().filter(|_| lost) {
        last.style = model.theme.bad();
    }
    let chip = model.mesh().map(|mesh| fabric::chip_of(mesh, to)).unwrap_or_default();
    (format!(" path from chip {from} to {to} (chip {chip}); n N another node "), lines)
}

/// What the header of a packet itself holds.
fn rest(model: &Model, packet: &PacketState) -> String {
    let PacketFacts { number, source, ttl, .. } = &packet.facts;
    let g = model.glyphs;
    format!(
        "oldest packet: #{} of {}, ttl {}, header {}",
        short(g, number, u64::to_string),
        short(g, source, ToString::to_string),
        short(g, ttl, u64::to_string),
        packet.route
    )
}

/// The schedules of the last collectives: what was handed on is dim, what comes next stands out.
fn schedule(model: &Model, width: u16) -> Pane {
    if model.schedules().is_empty() {
        let why =
            " schedule: none yet; :run all-gather --schedule shows one, :run all-gather runs it ";
        return (why.to_owned(), Vec::new());
    }
    let style = |mark| match mark {
        ScheduleMark::Head => model.theme.title(),
        ScheduleMark::Done => model.theme.dim(),
        ScheduleMark::Next => Style::new().add_modifier(Modifier::REVERSED),
        ScheduleMark::Later => Style::new(),
    };
    let line = |pieces: Vec<(String, ScheduleMark)>| {
        let spans = pieces.into_iter().map(|(text, mark)| Span::styled(text, style(mark)));
        Line::from(std::iter::once(Span::raw(" ")).chain(spans).collect::<Vec<_>>())
    };
    let lines = routes::schedule(model, width.into()).into_iter().map(line).collect();
    (" schedule: what each rank hands on in each time step ".to_owned(), lines)
}

/// The lines of a text, indented by one column.
fn plain(text: &str) -> Vec<Line<'static>> {
    text.lines().map(|line| Line::raw(format!(" {line}"))).collect()
}
