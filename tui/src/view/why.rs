//! The screen of the verdict: what stands still, the likely causes, and all about the selected one.

use super::pane::titled;
use super::table::{self, Look};
use crate::keys::Action;
use crate::lists::{self, wrapped};
use crate::model::{List, Model, Screen};
use console::verdict;
use diagnosis::Diagnosis;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

const LOOK: Look = Look {
    nouns: ("cause", "causes"),
    idle: "idle",
    head: &["", "cause", "place", "still"],
    widths: &[3, 0, 26, 6],
    spared: &[&[], &[2], &[2, 3]],
};

/// Draws the screen.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let Some(verdict) = model.verdict() else {
        let text = "unknown: no snapshot of a verdict was taken yet";
        frame.render_widget(Paragraph::new(Line::styled(text, model.theme.dim())), area);
        return;
    };
    let [upper, list, lower] = lists::causes::areas(model, verdict, area);
    let head = lists::causes::head(model, verdict, area.width);
    frame.render_widget(Paragraph::new(head), upper);
    draw_causes(model, frame, list);
    draw_details(model, verdict, frame, lower);
}

fn draw_causes(model: &Model, frame: &mut Frame, area: Rect) {
    let causes = &model.lists[List::Causes];
    let none = if causes.all() == 0 { "nothing was found" } else { "no cause matches" };
    table::draw(model, causes, &LOOK, (none, true), (frame, area));
}

/// The selected cause in lines of this width.
fn pane_lines(model: &Model, verdict: &Diagnosis, width: u16) -> Vec<Line<'static>> {
    let Some(finding) = verdict.findings.get(model.cause()) else { return Vec::new() };
    let mut lines =
        wrapped(&verdict::title(finding), width, lists::causes::severity(model, finding));
    lines.extend(lists::causes::details(model, verdict, width));
    lines
}

/// Rows that the selected cause needs as a pane of another screen.
pub(super) fn rows(model: &Model, width: u16) -> u16 {
    let lines = model.verdict().map_or_else(Vec::new, |it| pane_lines(model, it, width));
    u16::try_from(1 + lines.len()).unwrap_or(u16::MAX)
}

/// Draws the selected cause as a pane of another screen.
pub(super) fn draw_pane(model: &Model, verdict: &Diagnosis, frame: &mut Frame, area: Rect) {
    let (at, of) = (model.cause() + 1, verdict.findings.len());
    let keys = model.keys.of(Action::Show(Screen::Why));
    let block = titled(model, &format!(" why {at} of {of} ({keys} opens it) "), false);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    frame.render_widget(Paragraph::new(pane_lines(model, verdict, inner.width)), inner);
}

fn draw_details(model: &Model, verdict: &Diagnosis, frame: &mut Frame, area: Rect) {
    let title = match verdict.findings.get(model.cause()) {
        Some(finding) => format!(" {}: {} ", finding.condition.name(), finding.place),
        None => " no cause ".to_owned(),
    };
    let block = titled(model, &title, true);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let lines = lists::causes::details(model, verdict, model.size.0).into_iter();
    let lines: Vec<_> =
        lines.skip(model.cause_line.min(lists::causes::last_details(model))).collect();
    frame.render_widget(Paragraph::new(lines), inner);
}
