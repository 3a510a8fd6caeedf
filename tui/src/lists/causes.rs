//! The verdict in lines: its head, and all about the selected cause.

use super::wrapped;
use crate::geometry;
use crate::model::Model;
use console::verdict::{self, MOST};
use diagnosis::{Diagnosis, Health};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;

/// The areas of the head, of the list of causes, and of what is shown about the selected one.
pub(crate) fn areas(model: &Model, diagnosis: &Diagnosis, area: Rect) -> [Rect; 3] {
    let causes = diagnosis.findings.len().min(MOST);
    // The details keep at least a title and a line.
    let most = area.height.saturating_sub(2);
    let high = (head(model, diagnosis, area.width).len() as u16).min(most / 2);
    let listed = (causes as u16).min(most - high);
    let rows = [Constraint::Length(high), Constraint::Length(listed), Constraint::Min(0)];
    Layout::vertical(rows).areas(area)
}

/// The first line of the details that is shown when they are scrolled to their end.
pub(crate) fn last_details(model: &Model) -> usize {
    let Some(diagnosis) = model.verdict() else { return 0 };
    let (columns, rows) = model.room();
    let [_, _, body, _] = geometry::chrome(Rect::new(0, 0, columns, rows));
    let [.., lower] = areas(model, diagnosis, body);
    // Below its title.
    let shown = usize::from(lower.height).saturating_sub(1).max(1);
    details(model, diagnosis, model.size.0).len().saturating_sub(shown)
}

/// The headline, what is missing, and what cores do.
pub(crate) fn head(model: &Model, diagnosis: &Diagnosis, width: u16) -> Vec<Line<'static>> {
    let style = model.theme.health(Health::of(diagnosis));
    let mut lines = wrapped(&verdict::headline(diagnosis), width, style);
    for missing in &diagnosis.missing {
        lines.extend(wrapped(&format!("unknown: {missing}"), width, model.theme.dim()));
    }
    lines.extend(wrapped(&verdict::cores(diagnosis), width, Style::new()));
    lines
}

/// All about the selected cause, and what is healthy, in lines of this width.
pub(crate) fn details(model: &Model, diagnosis: &Diagnosis, width: u16) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if let Some(finding) = diagnosis.findings.get(model.cause) {
        lines.extend(verdict::since(diagnosis, finding).map(|text| (text, model.theme.bad())));
        lines.extend(verdict::details(finding).into_iter().map(|line| (line, Style::new())));
        let about = format!("meshscope explain {}: what it means", finding.condition.name());
        lines.push((about, model.theme.dim()));
    }
    lines.extend(verdict::order(diagnosis).map(|text| (text, Style::new())));
    lines.extend(verdict::healthy(diagnosis).map(|text| (text, model.theme.ok())));
    let more = diagnosis.findings.len().saturating_sub(MOST);
    if more > 0 {
        lines.push((format!("{more} more findings: meshscope why --json"), model.theme.dim()));
    }
    lines.into_iter().flat_map(|(text, style)| wrapped(&text, width, style)).collect()
}
