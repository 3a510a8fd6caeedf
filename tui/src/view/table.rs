//! Draws a table: its head, the rows in sight, and a line for those that are folded.

use super::pane::window;
use crate::model::{Model, Shows};
use crate::table::{Row as Listed, Table as Rows};
use crate::theme::Theme;
use machine::words::counted;
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table};

/// Least columns of what takes the rest.
const LEAST_REST: u16 = 30;

/// How a table is drawn.
pub(super) struct Look {
    /// One row and several.
    pub(super) nouns: (&'static str, &'static str),
    /// What is said of those that are folded.
    pub(super) idle: &'static str,
    pub(super) head: &'static [&'static str],
    /// The widths of columns; 0 takes what is left.
    pub(super) widths: &'static [u16],
    /// Column sets to leave out when the pane is too narrow, in order of preference.
    pub(super) spared: &'static [&'static [usize]],
}

/// The title of a table.
pub(super) fn title(rows: &Rows, what: &str) -> String {
    let (shown, all) = (rows.rows().len(), rows.all());
    match &*rows.filter {
        "" if rows.shows == Shows::Wrong => format!(" {what}: {shown} of {all} with faults "),
        "" => format!(" {what}: {all} "),
        filter => format!(" {what}: {shown} of {all} match '{filter}' "),
    }
}

/// Draws the rows of a table, or what is said if there are none.
pub(super) fn draw(
    model: &Model,
    rows: &Rows,
    look: &Look,
    (none, focused): (&str, bool),
    (frame, area): (&mut Frame, Rect),
) {
    if rows.count() == 0 {
        let line = Line::styled(format!("  {none}"), model.theme.dim());
        return frame.render_widget(Paragraph::new(line), area);
    }
    let columns = look.columns(area.width);
    let listed = rows.rows();
    let range = window(rows.at, rows.count(), area.height.saturating_sub(1));
    let fold = range.contains(&listed.len()).then(|| (listed.len() - range.start) as u16 + 1);
    let shown = range.start..range.end.min(listed.len());
    let cells = shown.clone().zip(listed.get(shown).unwrap_or_default()).map(|(at, row)| {
        let chosen = focused && at == rows.at;
        let style = if chosen { Theme::selected() } else { Style::new() };
        self::row(model, row, chosen, &columns).style(style)
    });
    let head = std::iter::once(String::new()).chain(look.sorted_head(model, rows, &columns));
    let head = Row::new(head).style(model.theme.dim());
    let widths = columns.iter().filter_map(|at| look.widths.get(*at)).map(|width| match width {
        0 => Constraint::Min(10),
        width => Constraint::Length(*width),
    });
    let widths = std::iter::once(Constraint::Length(1)).chain(widths);
    frame.render_widget(Table::new(cells, widths).header(head).column_spacing(1), area);
    if let Some(row) = fold {
        let area = Rect { y: area.y + row, height: 1, ..area };
        let line = look.fold_line(model, rows, focused && rows.at_fold());
        frame.render_widget(Paragraph::new(line), area);
    }
}

fn row(model: &Model, row: &Listed, chosen: bool, columns: &[usize]) -> Row<'static> {
    let cursor = Span::raw(if chosen { model.glyphs.cursor() } else { " " });
    let cells = columns.iter().filter_map(|at| row.cells.get(*at)).map(|cell| cell.text.clone());
    Row::new(std::iter::once(cursor).chain(cells).map(Cell::from))
}

impl Look {
    /// The columns that fit; a column is left out rather than cut.
    fn columns(&self, width: u16) -> Vec<usize> {
        let without = |spared: &&[usize]| -> Vec<usize> {
            (0..self.widths.len()).filter(|at| !spared.contains(at)).collect()
        };
        let fits = |columns: &Vec<usize>| {
            let widths = columns.iter().filter_map(|at| self.widths.get(*at));
            let cells: u16 = widths.map(|width| if *width > 0 { *width } else { LEAST_REST }).sum();
            // The last column may be cut by two; a blank is before each.
            1 + cells + columns.len() as u16 <= width + 2
        };
        let mut all = self.spared.iter().map(without);
        let last = self.spared.last().map(without).unwrap_or_default();
        all.find(fits).unwrap_or(last)
    }

    /// The names of columns, with a sign at that by which rows are sorted.
    fn sorted_head(&self, model: &Model, rows: &Rows, columns: &[usize]) -> Vec<String> {
        let name = |at: &usize| {
            let name = self.head.get(*at).copied().unwrap_or_default();
            match rows.sort {
                Some((column, down)) if column == *at => {
                    format!("{}{name}", model.glyphs.sorted(down))
                }
                _ => name.to_owned(),
            }
        };
        columns.iter().map(name).collect()
    }

    /// The line for the rows that are not listed.
    fn fold_line(&self, model: &Model, rows: &Rows, chosen: bool) -> Line<'static> {
        let what = if rows.shows == Shows::Wrong { "have nothing wrong" } else { self.idle };
        let count = counted(rows.folded() as u64, self.nouns.0, self.nouns.1);
        let (mark, style) = if chosen {
            (model.glyphs.cursor(), Theme::selected())
        } else {
            (" ", model.theme.dim())
        };
        Line::styled(format!("{mark} {count} {what} (Enter lists all)"), style)
    }
}
