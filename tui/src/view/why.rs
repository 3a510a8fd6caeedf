//! The screen of the verdict: what stands still, the likely causes, and all about the selected one.

use super::pane::{titled, window, wrapped};
use crate::model::Model;
use console::verdict::{self, MOST};
use diagnosis::{Diagnosis, Finding, Health, Severity};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

/// Draws the screen.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let Some(verdict) = model.verdict() else {
        let text = "unknown: no snapshot of a verdict was taken yet";
        frame.render_widget(Paragraph::new(Line::styled(text, model.theme.dim())), area);
        return;
    };
    let causes = verdict.findings.len().min(MOST);
    let head = head(model, verdict, area.width);
    // The details keep at least a title and a line.
    let most = area.height.saturating_sub(2);
    let high = (head.len() as u16).min(most / 2);
    let listed = (causes as u16).min(most - high);
    let rows = [Constraint::Length(high), Constraint::Length(listed), Constraint::Min(0)];
    let [upper, list, lower] = Layout::vertical(rows).areas(area);
    frame.render_widget(Paragraph::new(head), upper);
    draw_causes(model, verdict, frame, list);
    draw_details(model, verdict, frame, lower);
}

/// The headline, what is missing, and what cores do.
fn head(model: &Model, diagnosis: &Diagnosis, width: u16) -> Vec<Line<'static>> {
    let style = model.theme.health(Health::of(diagnosis));
    let mut lines = wrapped(&verdict::headline(diagnosis), width, style);
    for missing in &diagnosis.missing {
        lines.extend(wrapped(&format!("unknown: {missing}"), width, model.theme.warn()));
    }
    lines.extend(wrapped(&verdict::cores(diagnosis), width, Style::new()));
    lines
}

fn draw_causes(model: &Model, diagnosis: &Diagnosis, frame: &mut Frame, area: Rect) {
    let causes = diagnosis.findings.get(..MOST.min(diagnosis.findings.len())).unwrap_or_default();
    let range = window(model.cause, causes.len(), area.height);
    let rows = range.clone().zip(causes.get(range).unwrap_or_default());
    let rows = rows.map(|(at, finding)| {
        let chosen = at == model.cause;
        let mark = if chosen { model.glyphs.cursor() } else { " " };
        let style = if chosen { model.theme.selected() } else { severity(model, finding) };
        Line::styled(format!("{mark}{}. {}", at + 1, verdict::title(finding)), style)
    });
    frame.render_widget(Paragraph::new(rows.collect::<Vec<_>>()), area);
}

fn severity(model: &Model, finding: &Finding) -> Style {
    if finding.severity == Severity::Slow { model.theme.warn() } else { model.theme.bad() }
}

fn draw_details(model: &Model, verdict: &Diagnosis, frame: &mut Frame, area: Rect) {
    let lines = details(model, verdict);
    let title = match verdict.findings.get(model.cause) {
        Some(finding) => format!(" {}: {} ", finding.condition.name(), finding.place),
        None => " no cause ".to_owned(),
    };
    let block = titled(model, &title, true);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let lines: Vec<_> =
        lines.into_iter().flat_map(|(text, style)| wrapped(&text, area.width, style)).collect();
    let last = lines.len().saturating_sub(usize::from(inner.height).max(1));
    let lines: Vec<_> = lines.into_iter().skip(model.cause_line.min(last)).collect();
    frame.render_widget(Paragraph::new(lines), inner);
}

/// All about the selected cause, and what is healthy.
fn details(model: &Model, diagnosis: &Diagnosis) -> Vec<(String, Style)> {
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
    lines
}
