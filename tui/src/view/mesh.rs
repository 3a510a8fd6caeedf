//! The mesh screen: the map of chips above, the list of links below.

use super::{links, map, run};
use crate::geometry;
use crate::model::{MeshPane, Model};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::widgets::{Block, Borders};

/// Draws the mesh screen.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let Some(mesh) = model.mesh() else { return };
    let wanted = run::height(model, area.width, area.height);
    let parts = [Constraint::Min(0), Constraint::Length(wanted)];
    let [area, runs] = Layout::vertical(parts).areas(area);
    run::draw(model, frame, runs);
    let map = map::Map::new(model, mesh, area);
    // The list keeps its head and at least three links in sight; the map takes what it can use of the rest.
    let least = 5.min(area.height / 2);
    let tall = map.height().min(area.height.saturating_sub(least));
    let listed = u16::try_from(2 + model.links().len()).unwrap_or(u16::MAX);
    // Where there is room below the list, both ends of the selected link are told side by side.
    let room = area.height - tall;
    let told = if room >= listed.min(room / 2) + links::DETAIL { links::DETAIL } else { 0 };
    let list = if told > 0 { listed.min(room - told) } else { room };
    let rows = [Constraint::Length(tall), Constraint::Length(list), Constraint::Length(told)];
    let [upper, lower, detail] = Layout::vertical(rows).areas(area);
    map.draw(frame, upper);
    let focused = model.mesh_pane == MeshPane::Links;
    let shown = model.links().len();
    let all = mesh.links.len();
    let title = match &*model.link_filter {
        "" => format!(" links: {all} "),
        filter => format!(" links: {shown} of {all} match '{filter}' "),
    };
    let block = titled(model, &title, focused);
    let inner = block.inner(lower);
    frame.render_widget(block, lower);
    links::draw(model, frame, inner, focused);
    if told > 0 {
        links::draw_detail(model, frame, detail);
    }
}

/// A line with a title above a pane; the focused one stands out by style and by its mark.
pub(super) fn titled(model: &Model, title: &str, focused: bool) -> Block<'static> {
    let mark = if focused { model.glyphs.cursor() } else { " " };
    let set = if model.glyphs.ascii { ASCII } else { ratatui::symbols::border::PLAIN };
    Block::new()
        .borders(Borders::TOP)
        .border_set(set)
        .border_style(model.theme.border(focused))
        .title(format!("{mark}{title}"))
        .style(Style::new())
}

/// Borders of ASCII only.
pub(super) const ASCII: ratatui::symbols::border::Set = ratatui::symbols::border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

/// The rows of a list that are in sight: the index of the first, and how many.
pub(super) fn window(selected: usize, count: usize, height: u16) -> std::ops::Range<usize> {
    let first = geometry::first_row(selected, count, height);
    first..(first + usize::from(height)).min(count)
}
