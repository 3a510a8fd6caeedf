//! The gaps screen: problems, and ranges that could not be read, each with its reason.

use super::pane::titled;
use crate::keys::{Action, keys_of};
use crate::lists;
use crate::model::Model;
use decode::state::MeshState;
use machine::target::Quarantined;
use machine::words::counted;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};

/// Draws the gaps screen.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let Some(mesh) = model.mesh() else { return };
    let quarantined = model.shown.as_deref().map_or(&[][..], |snapshot| &snapshot.quarantined);
    let title = title(mesh, quarantined);
    let block = titled(model, &title, true);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let lines = lists::gaps(model).into_iter();
    let mut lines: Vec<_> = lines.skip(model.gap).take(usize::from(inner.height)).collect();
    if lines.is_empty() {
        lines.push(Line::styled("every requested range was read", model.theme.ok()));
    }
    // A sentence can be longer than the line.
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), inner);
}

fn title(mesh: &MeshState, quarantined: &[Quarantined]) -> String {
    let problems = counted(mesh.problems.len() as u64, "problem", "problems");
    let counts = format!("{problems}, {}", counted(mesh.gaps.len() as u64, "gap", "gaps"));
    match quarantined.len() {
        0 => format!(" {counts} "),
        count => {
            format!(" {count} in quarantine ({} tries again), {counts} ", keys_of(Action::Retry))
        }
    }
}
