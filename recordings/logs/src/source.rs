//! A file of which rows are made, and what its reader gives them to.

use crate::error::LogError;
use crate::row::{Clock, Kind, Row, Text, host_name, text};
use crate::walk::FoundFile;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A file of which rows are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    path: PathBuf,
    name: Text,
    /// The host on which it was written.
    pub host: Text,
    /// When it was written last, in microseconds since the Unix epoch.
    pub modified_micros: i64,
}

impl Source {
    /// Returns a file that was found; the host that the person named is that of all files.
    ///
    /// # Errors
    /// It is gone.
    pub fn new(found: &FoundFile, host: Option<&str>) -> Result<Self, LogError> {
        let io = |error| LogError::Io { path: found.path.clone(), error };
        let modified = std::fs::metadata(&found.path).and_then(|it| it.modified()).map_err(io)?;
        let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Self {
            path: found.path.clone(),
            name: text(&found.name),
            host: host_name(host.unwrap_or(&found.host)),
            modified_micros: i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
        })
    }

    /// Returns a source that is no file.
    pub fn of(name: &str, host: &str, modified_micros: i64) -> Self {
        Self { path: PathBuf::from(name), name: text(name), host: host_name(host), modified_micros }
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a row of its last modification, with nothing else.
    pub fn row(&self, kind: Kind, name: Text) -> Row {
        Row {
            time_micros: self.modified_micros,
            clock: Clock::File,
            host: self.host.clone(),
            source: self.name.clone(),
            kind,
            name,
            trouble: false,
            board: None,
            tray: None,
            chip: None,
            channel: None,
            cable: None,
            place: None,
            value: None,
            change: None,
            text: None,
            signature: None,
        }
    }
}

/// Takes rows.
pub type Sink<'a> = dyn FnMut(Row) -> Result<(), LogError> + 'a;

/// What reads the lines of a file. A file that only knows how long after each other its lines were written
/// is read twice: its last line is as old as the file.
pub(crate) trait Parser {
    /// Takes a line, and gives its rows; in words what is wrong with it. Times by the clock of the file are
    /// microseconds since some start.
    fn line(&mut self, line: &str, to: &mut Sink<'_>) -> Result<Option<String>, LogError>;
    /// Takes the end of the file, and gives the rows of a line that it ends.
    fn end(&mut self, _to: &mut Sink<'_>) -> Result<(), LogError> {
        Ok(())
    }
    /// Forgets what only one reading needs.
    fn again(&mut self);
}
