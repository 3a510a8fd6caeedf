//! The mesh screen: the map of chips above, the list of links below.

use super::pane::{row_at, titled};
use super::pointed::Hit;
use super::{links, map, run, table, why};
use crate::model::{MeshPane, Model};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};

/// From this width on, the cause of a hang is beside the map.
const WIDE: u16 = 120;

/// The area of map and list, and that of the cause, if there is one and room for it.
fn beside(model: &Model, area: Rect) -> (Rect, Option<Rect>) {
    let found = model.verdict().is_some_and(|verdict| !verdict.findings.is_empty());
    if area.width < WIDE || !found {
        return (area, None);
    }
    // A blank column between them.
    let why = Constraint::Length((area.width * 2 / 5).min(80));
    let parts = [Constraint::Min(0), Constraint::Length(1), why];
    let [left, _, right] = Layout::horizontal(parts).areas(area);
    (left, Some(right))
}

/// The panes of the mesh screen.
struct Areas {
    runs: Rect,
    map: Rect,
    list: Rect,
    detail: Rect,
}

/// Splits the screen, for this map.
fn areas(model: &Model, map: impl Fn(Rect) -> u16, area: Rect) -> Areas {
    let wanted = run::height(model, area.width, area.height);
    let parts = [Constraint::Min(0), Constraint::Length(wanted)];
    let [area, runs] = Layout::vertical(parts).areas(area);
    // The list keeps its head and at least three links; the map takes what it can use of the rest.
    let least = 5.min(area.height / 2);
    let tall = map(area).min(area.height.saturating_sub(least));
    let listed = u16::try_from(2 + model.links.count()).unwrap_or(u16::MAX);
    // The detail of the selected link is shown if there is room below the list.
    let room = area.height - tall;
    let detail_rows = if room >= listed.min(room / 2) + links::DETAIL { links::DETAIL } else { 0 };
    let list = if detail_rows > 0 { listed.min(room - detail_rows) } else { room };
    let rows =
        [Constraint::Length(tall), Constraint::Length(list), Constraint::Length(detail_rows)];
    let [map, list, detail] = Layout::vertical(rows).areas(area);
    Areas { runs, map, list, detail }
}

/// What is at a place of the terminal.
pub(super) fn hit(model: &Model, area: Rect, at: (u16, u16)) -> Option<Hit> {
    let mesh = model.mesh()?;
    let (area, _) = beside(model, area);
    if !area.contains(at.into()) {
        return None;
    }
    let areas = areas(model, |area| map::Map::new(model, mesh, area).height(), area);
    if areas.map.contains(at.into()) {
        let map = map::Map::new(model, mesh, area);
        return map.chip_at(areas.map, at).map(Hit::Chip);
    }
    let links = &model.links;
    row_at(areas.list, 2, links.at, links.count(), at.1).map(Hit::Link)
}

/// Draws the mesh screen.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let Some(mesh) = model.mesh() else { return };
    let (area, cause) = beside(model, area);
    if let Some((cause, verdict)) = cause.zip(model.verdict()) {
        why::draw_pane(model, verdict, frame, cause);
    }
    let areas = areas(model, |area| map::Map::new(model, mesh, area).height(), area);
    run::draw(model, frame, areas.runs);
    map::Map::new(model, mesh, area).draw(frame, areas.map);
    let (lower, detail) = (areas.list, areas.detail);
    let focused = model.mesh_pane == MeshPane::Links;
    let title = table::title(&model.links, "links");
    let block = titled(model, &title, focused);
    let inner = block.inner(lower);
    frame.render_widget(block, lower);
    links::draw(model, frame, inner, focused);
    if detail.height > 0 {
        links::draw_detail(model, frame, detail);
    }
}
