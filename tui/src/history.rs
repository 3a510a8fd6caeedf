//! The lines that a person typed after `:`, kept from session to session.

use files::Kind;
use std::fs::File;
use std::io::{Read as _, Write as _};

/// The name of the file in the folder of state.
const FILE: &str = "history";
/// Lines to keep.
pub(crate) const MOST: usize = 100;

/// Lines typed earlier, and where further ones are kept; without a folder, nowhere.
#[derive(Debug, Default)]
pub(crate) struct History {
    file: Option<File>,
}

impl History {
    /// Opens the history; returns its lines, the oldest first.
    pub(crate) fn open() -> (Self, Vec<String>) {
        let folder = files::state_folder().filter(|it| std::fs::create_dir_all(it).is_ok());
        let file = folder.map(|folder| folder.join(FILE));
        let mut file = file.and_then(|it| files::open_to_append(&it, Kind::HISTORY).ok());
        let mut text = String::new();
        // What is no text is typed again, and begins a new history.
        let read = file.as_mut().is_some_and(|file| file.read_to_string(&mut text).is_ok());
        let mut lines: Vec<String> = Vec::new();
        for line in text.lines() {
            remember(&mut lines, line);
        }
        let mut history = Self { file };
        if !read || text.lines().count() > 2 * MOST {
            history.begin(&lines);
        }
        (history, lines)
    }

    /// Writes these lines instead of those that are there.
    fn begin(&mut self, lines: &[String]) {
        let emptied = self.file.as_ref().is_some_and(|file| file.set_len(0).is_ok());
        if emptied {
            for line in lines {
                self.keep(line);
            }
        }
    }

    /// Keeps a line; if it cannot be, the session goes on without.
    pub(crate) fn keep(&mut self, line: &str) {
        let written = self.file.as_mut().map(|file| writeln!(file, "{line}"));
        if written.is_some_and(|written| written.is_err()) {
            self.file = None;
        }
    }
}

/// Adds a line to a history, in which it stands once.
pub(crate) fn remember(lines: &mut Vec<String>, line: &str) {
    lines.retain(|other| other != line);
    lines.push(line.to_owned());
    if lines.len() > MOST {
        lines.remove(0);
    }
}
