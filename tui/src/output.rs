//! Standard output of the one-shot verbs: JSON or columns of text; a closed pipe is a quiet end.

use crate::exit::Failure;
use serde::Serialize;
use std::io::{self, Write};

/// Writes text and flushes it.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|e| Failure::of_output(&e))
}

/// Writes a value as one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let line = serde_json::to_string(value).map_err(|e| Failure::Internal(format!("JSON: {e}")))?;
    text(&(line + "\n"))
}

/// Says something to the person on standard error, which may be closed too. What it quotes gives the terminal no orders.
pub(crate) fn say(line: &str) {
    let line: String = line.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    let _ = writeln!(io::stderr().lock(), "meshscope: {line}");
}

/// Rows of cells, padded to the widest of each column.
pub(crate) struct Columns {
    rows: Vec<Vec<String>>,
}

impl Columns {
    pub(crate) fn new(head: &[&str]) -> Self {
        Self { rows: vec![head.iter().map(|h| (*h).to_owned()).collect()] }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn text(&self) -> String {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |i: usize| {
            let cells = self.rows.iter().filter_map(|r| r.get(i));
            cells.map(|c| c.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..count).map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
        };
        self.rows.iter().map(line).collect()
    }
}
