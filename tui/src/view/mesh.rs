//! The mesh screen: the map of tiles above, the lists of links and cores below, the cause beside.

use super::pane::{row_at, titled};
use super::pointed::Hit;
use super::{cores, links, map, run, table, why};
use crate::model::{List, MeshPane, Model, Table};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};

/// From this width on, the cause of a hang is beside the map.
const WIDE: u16 = 120;

/// The area of map and lists, and that of the cause, if there is one and room for it.
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

/// The panes of the mesh screen; one without room has no rows.
struct Areas {
    runs: Rect,
    map: Rect,
    links: Rect,
    detail: Rect,
    cores: Rect,
    cause: Rect,
}

/// Least rows of the list of cores beside that of links.
const LEAST_CORES: u16 = 5;

/// Splits the screen, for a map of so many rows.
fn areas(model: &Model, map: impl Fn(Rect) -> u16, area: Rect) -> Areas {
    let (area, cause) = beside(model, area);
    let wanted = run::height(model, area.width, area.height);
    let parts = [Constraint::Min(0), Constraint::Length(wanted)];
    let [area, runs] = Layout::vertical(parts).areas(area);
    // The list keeps its head and at least three links; the map takes what it can use of the rest.
    let least = 5.min(area.height / 2);
    let tall = map(area).min(area.height.saturating_sub(least));
    let room = area.height - tall;
    let rows = |table: &Table| u16::try_from(2 + table.count()).unwrap_or(u16::MAX);
    let listed = rows(&model.lists[List::Links]).min(room);
    // The detail of the selected link is below the cause, or below the list, if there is room. Who
    // looks at links has it even where the cause, which has a screen of its own, is cut for it.
    let written = |cause: Rect| match model.mesh_pane {
        MeshPane::Links => cause.height / 2,
        _ => cause.height.saturating_sub(why::rows(model, cause.width)),
    };
    let aside = cause.is_some_and(|cause| written(cause) >= links::TALL_DETAIL);
    let below = !aside && room >= listed.min(room / 2) + links::DETAIL;
    let left = room - if below { links::DETAIL } else { 0 };
    // One of the lists has all the room where both have none: that of cores also on a mesh without links.
    let listed_cores = model.lists[List::Cores].count() > 0;
    let both = left >= 2 * LEAST_CORES && (listed_cores || model.mesh_pane == MeshPane::Cores);
    let high = match (both, model.mesh_pane) {
        (true, _) => {
            listed.min((left / 2).max(left.saturating_sub(rows(&model.lists[List::Cores]))))
        }
        (false, MeshPane::Cores) => 0,
        (false, _) if listed_cores && model.mesh().is_none_or(|mesh| mesh.links.is_empty()) => 0,
        (false, _) => left,
    };
    let parts = [tall, high, if below { links::DETAIL } else { 0 }].map(Constraint::Length);
    let [map, links, detail, cores] =
        Layout::vertical(parts.into_iter().chain([Constraint::Min(0)])).areas(area);
    let [cause, beside] = Layout::vertical([
        Constraint::Min(0),
        Constraint::Length(if aside { links::TALL_DETAIL } else { 0 }),
    ])
    .areas(cause.unwrap_or_default());
    Areas { runs, map, links, detail: if aside { beside } else { detail }, cores, cause }
}

/// What is at a place of the terminal.
pub(super) fn hit(model: &Model, area: Rect, at: (u16, u16)) -> Option<Hit> {
    let mesh = model.mesh()?;
    let map = |area| map::Map::new(model, mesh, area);
    let areas = areas(model, |area| map(area).height(), area);
    let (left, _) = beside(model, area);
    if areas.map.contains(at.into()) {
        return map(without_runs(left, areas.runs)).chip_at(areas.map, at).map(Hit::Chip);
    }
    let row = |area: Rect, list: List| {
        let (inside, table) = (area.contains(at.into()), &model.lists[list]);
        let row = row_at(area, 2, table.at, table.count(), at.1).filter(|_| inside);
        row.map(|row| Hit::Row(list, row))
    };
    row(areas.links, List::Links).or_else(|| row(areas.cores, List::Cores))
}

/// The area above the runs.
fn without_runs(area: Rect, runs: Rect) -> Rect {
    Rect { height: area.height.saturating_sub(runs.height), ..area }
}

/// Draws the mesh screen.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let Some(mesh) = model.mesh() else { return };
    let map = |area| map::Map::new(model, mesh, area);
    let areas = areas(model, |area| map(area).height(), area);
    if let Some(verdict) = model.verdict().filter(|_| areas.cause.height > 0) {
        why::draw_pane(model, verdict, frame, areas.cause);
    }
    run::draw(model, frame, areas.runs);
    map(without_runs(beside(model, area).0, areas.runs)).draw(frame, areas.map);
    if areas.links.height > 0 {
        let focused = model.mesh_pane == MeshPane::Links;
        let block = titled(model, &table::title(&model.lists[List::Links], "links"), focused);
        let inner = block.inner(areas.links);
        frame.render_widget(block, areas.links);
        links::draw(model, frame, inner, focused);
    }
    if areas.detail.height > 0 {
        links::draw_detail(model, frame, areas.detail);
    }
    if areas.cores.height > 0 {
        cores::draw(model, frame, areas.cores);
    }
}
