//! The one printer of all studies: rows as they come, notes below them, or one line of JSON.

use serde_json::Value;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};
use studies::shape::{StudyError, Table, Told};

/// Time between two lines of progress.
const PAUSE: Duration = Duration::from_millis(200);
/// Erases the line of the terminal.
const ERASE: &str = "\r\x1b[K";

/// Prints what a study tells.
pub(super) struct Printer {
    json: bool,
    /// The table of the last row: its head is printed with the first, so that a study that fails
    /// before prints none.
    table: Option<&'static Table>,
    /// When progress is shown next; none: standard error is no terminal.
    due: Option<Instant>,
    printed: io::Result<()>,
}

impl Printer {
    pub(super) fn new(json: bool) -> Self {
        let due = io::stderr().is_terminal().then(Instant::now);
        Self { json, table: None, due, printed: Ok(()) }
    }

    pub(super) fn tell(&mut self, told: Told<'_>) {
        match told {
            Told::Progress(done, of, what) => self.progress(done, of, what),
            Told::Note(text) if !self.json => self.line(text),
            Told::Row(table, row) if !self.json && !table.columns.is_empty() => {
                self.row(table, row);
            }
            Told::Note(_) | Told::Row(..) => {}
        }
    }

    /// Ends: of JSON the answer is printed now. A closed pipe is no error.
    pub(super) fn end(mut self, answer: &Value) -> Result<(), StudyError> {
        if self.json {
            self.line(&answer.to_string());
        }
        match self.printed {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(StudyError::Internal(format!("standard output: {error}")))
            }
            _ => Ok(()),
        }
    }

    fn row(&mut self, table: &'static Table, row: &Value) {
        let line = |cell: &dyn Fn(usize) -> String| {
            let padded = |(at, width)| format!("{:<width$}", cell(at));
            let widths = table.columns.iter().map(studies::shape::Column::width).enumerate();
            widths.map(padded).collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let before = self.table.replace(table);
        if before != Some(table) {
            if before.is_some() {
                self.line("");
            }
            self.line(&line(&|at| table.columns[at].head.to_owned()));
        }
        self.line(&line(&|at| table.columns[at].cell(row)));
    }

    fn line(&mut self, text: &str) {
        if self.due.is_some() {
            let _ = write!(io::stderr(), "{ERASE}");
        }
        if self.printed.is_ok() {
            self.printed = writeln!(io::stdout(), "{text}");
        }
    }

    fn progress(&mut self, done: u64, of: u64, what: &str) {
        if self.due.is_some_and(|due| Instant::now() >= due) {
            self.due = Some(Instant::now() + PAUSE);
            let _ = write!(io::stderr(), "{ERASE}{done} of {of} {what}");
        }
    }
}
