//! The verdict: its head, the rows of its causes, and all about the selected one.

use super::wrapped;
use crate::geometry;
use crate::keys::Action;
use crate::model::{List, Model};
use crate::table::{Cell, Rank, Row, Value};
use crate::theme::Theme;
use console::verdict;
use console::words;
use diagnosis::{Condition, Diagnosis, Finding, Health, Severity};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Most rows of the list of causes, with its head.
const MOST_ROWS: u16 = 7;

/// The areas of the head, of the list of causes, and of what is shown about the selected one.
pub(crate) fn areas(model: &Model, diagnosis: &Diagnosis, area: Rect) -> [Rect; 3] {
    // With a line for its head.
    let causes = 1 + model.lists[List::Causes].count().max(1);
    let causes = u16::try_from(causes).unwrap_or(u16::MAX).min(MOST_ROWS);
    // The details keep at least a title and a line.
    let most = area.height.saturating_sub(2);
    let high = (head(model, diagnosis, area.width).len() as u16).min(most / 2);
    let listed = causes.min(most - high);
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
    if let Some(finding) = diagnosis.findings.get(model.cause()) {
        lines.extend(verdict::since(diagnosis, finding).map(|text| (text, model.theme.bad())));
        lines.extend(verdict::details(finding).into_iter().map(|line| (line, Style::new())));
        if finding.condition == Condition::Leftover {
            let keys = model.keys.of(Action::Clean);
            lines.push((format!("{keys}: tear down what is left"), Theme::key()));
        }
        let about = format!("meshscope explain {}: what it means", finding.condition.name());
        lines.push((about, model.theme.dim()));
    }
    lines.extend(verdict::order(diagnosis).map(|text| (text, Style::new())));
    lines.extend(verdict::healthy(diagnosis).map(|text| (text, model.theme.ok())));
    lines.into_iter().flat_map(|(text, style)| wrapped(&text, width, style)).collect()
}

/// The rows of causes, the likeliest first.
pub(crate) fn cause_rows(model: &Model) -> Vec<Row> {
    let Some(diagnosis) = model.verdict() else { return Vec::new() };
    diagnosis.findings.iter().enumerate().map(|it| row(model, diagnosis, it)).collect()
}

fn row(model: &Model, diagnosis: &Diagnosis, (item, finding): (usize, &Finding)) -> Row {
    let style = severity(model, finding);
    let text = |field, text: String| Cell::text(field, Span::styled(text, style));
    let stood = diagnosis.stood_cycles(finding);
    let still = stood.map_or_else(String::new, words::brief);
    let number = item as u64 + 1;
    Row {
        key: format!("{} {}", finding.condition.name(), finding.place),
        item,
        // Slow or not, they are in the order of the verdict.
        rank: Rank::Fault,
        place: Some(finding.place),
        cells: vec![
            Cell::number("number", Span::styled(format!("{number}."), style), Some(number)),
            text("cause", verdict::title(finding)),
            text("place", finding.place.to_string()),
            Cell::number("still", Span::styled(still, style), stood),
        ],
        hidden: vec![
            ("severity", Value::Text(finding.severity.word().to_owned())),
            ("waiting", Value::Number(Some(finding.waiting as u64))),
        ],
    }
}

/// The style of a cause.
pub(crate) fn severity(model: &Model, finding: &Finding) -> Style {
    if finding.severity == Severity::Slow { model.theme.warn() } else { model.theme.bad() }
}
