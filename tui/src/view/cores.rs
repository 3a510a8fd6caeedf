//! The list of cores on which a kernel was launched.

use super::pane::titled;
use super::table::{self, Look};
use crate::model::{List, MeshPane, Model};
use ratatui::Frame;
use ratatui::layout::Rect;

const LOOK: Look = Look {
    nouns: ("core", "cores"),
    idle: "idle",
    head: &["core", "kernel", "state", "still", "wayp", "waits for", "at"],
    widths: &[12, 18, 15, 6, 5, 0, 40],
    spared: &[&[], &[6], &[1, 6], &[1, 4, 6]],
};

/// Draws the list with its title.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let focused = model.mesh_pane == MeshPane::Cores;
    let title = table::title(&model.lists[List::Cores], "cores with a kernel");
    let block = titled(model, &title, focused);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let none = if model.lists[List::Cores].all() == 0 {
        "no kernel was seen to run"
    } else {
        "no core matches"
    };
    table::draw(model, &model.lists[List::Cores], &LOOK, (none, focused), (frame, inner));
}
