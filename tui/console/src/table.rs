//! Tables of the verbs: rows of cells, and the pages that they stand on.

use crate::words::printable_line;

/// A column is no wider than this; longer cells push the next ones aside.
const WIDEST: usize = 400;

/// Rows of cells, padded to the widest cell of each column.
pub struct Columns {
    rows: Vec<Vec<String>>,
}

impl Columns {
    /// Returns a table with these headings.
    pub fn new(head: &[&str]) -> Self {
        Self { rows: vec![head.iter().map(|h| (*h).to_owned()).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.into_iter().map(|cell| printable_line(&cell)).collect());
    }

    /// Returns the text.
    pub fn text(&self) -> String {
        let widths: Vec<usize> = (0..self.width()).map(|column| self.cells(column)).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
        };
        self.rows.iter().map(line).collect()
    }

    /// The same rows as CSV (RFC 4180). Each has as many cells as the longest.
    pub fn csv(&self) -> String {
        let width = self.width();
        let full = |row: &Vec<String>| {
            let missing = std::iter::repeat_n(String::new(), width - row.len());
            row.iter().cloned().chain(missing).collect::<Vec<_>>()
        };
        self.rows.iter().map(|row| csv_row(&full(row))).collect()
    }

    /// Number of columns.
    fn width(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Characters of the widest cell of a column, but for the longest.
    fn cells(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        let counts = cells.map(|cell| cell.chars().count());
        counts.filter(|count| *count <= WIDEST).max().unwrap_or(0)
    }
}

/// Returns a row of CSV. Spaces around a cell only set it in a column.
fn csv_row(cells: &[String]) -> String {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    // Memory takes every row.
    let _ = writer.write_record(cells.iter().map(|cell| cell.trim()));
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

/// What a verb prints: tables, and the text around them.
#[derive(Default)]
pub struct Page {
    parts: Vec<Part>,
}

/// A part of a page.
pub enum Part {
    /// Text around tables.
    Text(String),
    /// A table.
    Table(Columns),
}

impl Page {
    /// The page with one more part.
    #[must_use]
    pub fn with(mut self, part: impl Into<Part>) -> Self {
        self.parts.push(part.into());
        self
    }

    /// The page followed by another one.
    #[must_use]
    pub fn and(mut self, next: Self) -> Self {
        self.parts.extend(next.parts);
        self
    }

    /// Returns the text.
    pub fn text(&self) -> String {
        let text = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Table(table) => table.text(),
        };
        self.parts.iter().map(text).collect()
    }

    /// The tables alone as CSV, with an empty line between two.
    pub fn csv(&self) -> String {
        let table = |part: &Part| match part {
            Part::Text(_) => None,
            Part::Table(table) => Some(table.csv()),
        };
        self.parts.iter().filter_map(table).collect::<Vec<_>>().join("\r\n")
    }
}

impl From<Columns> for Page {
    fn from(table: Columns) -> Self {
        Self::default().with(table)
    }
}

impl From<Columns> for Part {
    fn from(table: Columns) -> Self {
        Self::Table(table)
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::{Columns, Page};

    #[test]
    fn a_page_is_text_or_csv() {
        let mut table = Columns::new(&["A", "B"]);
        table.row(vec!["1,5".to_owned(), "say \"x\"".to_owned()]);
        table.row(vec!["  indented".to_owned()]);
        let page = Page::default().with("head\n").with(table).with(Columns::new(&["C"]));
        assert_eq!(page.text(), "head\nA           B\n1,5         say \"x\"\n  indented\nC\n");
        let csv = "A,B\r\n\"1,5\",\"say \"\"x\"\"\"\r\nindented,\r\n\r\nC\r\n";
        assert_eq!(page.csv(), csv);
    }
}
