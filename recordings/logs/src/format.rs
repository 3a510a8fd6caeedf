//! What a file is, and how rows are made of it.

use crate::error::LogError;
use crate::lines::Lines;
use crate::opened::open;
use crate::row::Clock;
use crate::source::{Parser, Sink, Source};
use crate::{json, metal, metrics, triage, watcher};
use std::io::Read as _;
use std::path::Path;

/// The start of a file tells what it is, in bytes.
const START_BYTES: u64 = 64 << 10;
/// A line of text is cut, in bytes.
const TEXT_BYTES: usize = 64 << 10;
/// A longer line of JSON is left out, in bytes.
const JSON_BYTES: usize = 64 << 20;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A recording, which [`read`] does not read.
    Recording,
    /// Parquet, which is asked.
    Parquet,
    /// Lines of JSON: of `links`, `why` and `check`, kept status entries, an audit log.
    Json,
    /// The log of tt-metal's Watcher.
    Watcher,
    /// A report of tt-triage.
    Triage,
    /// A log of tt-metal.
    Metal,
    /// Metrics as text, of `metrics` or of tt-metal's telemetry.
    Metrics,
}

impl Format {
    /// Returns what a file is by its start; none if it is nothing of this.
    ///
    /// # Errors
    /// It cannot be read, or is no regular file.
    pub fn of(path: &Path) -> Result<Option<Self>, LogError> {
        let mut start = Vec::new();
        let read = open(path)?.take(START_BYTES).read_to_end(&mut start);
        match read {
            Err(error) if start.is_empty() => Err(LogError::Io { path: path.to_owned(), error }),
            // What is damaged further on is read up to there.
            _ => Ok(Self::of_start(&start)),
        }
    }

    fn of_start(start: &[u8]) -> Option<Self> {
        if start.starts_with(b"\x89MCAP0\r\n") {
            return Some(Self::Recording);
        }
        if start.starts_with(b"PAR1") {
            return Some(Self::Parquet);
        }
        let by_line = [
            (Self::Json, json::is_line as fn(&str) -> bool),
            (Self::Watcher, watcher::is_watcher),
            (Self::Triage, triage::is_section),
            (Self::Metal, metal::is_line),
            (Self::Metrics, metrics::is_help),
        ];
        let mut lines = Lines::new(start, TEXT_BYTES);
        while let Ok(Some((line, _))) = lines.next() {
            if let Some((format, _)) = by_line.into_iter().find(|(_, is)| is(&line)) {
                return Some(format);
            }
            // Other JSON may quote anything.
            if line.starts_with('{') {
                return None;
            }
        }
        None
    }
}

/// Makes rows of a file that is text, and returns in words what could not be read.
///
/// # Errors
/// The file cannot be opened, or `to` fails.
pub fn read(source: &Source, format: Format, to: &mut Sink<'_>) -> Result<Vec<String>, LogError> {
    match format {
        Format::Json => twice(source, &mut json::Reader::new(source), JSON_BYTES, to),
        Format::Watcher => twice(source, &mut watcher::Reader::new(source), TEXT_BYTES, to),
        Format::Triage => twice(source, &mut triage::Reader::new(source), TEXT_BYTES, to),
        Format::Metal => twice(source, &mut metal::Reader::new(source), TEXT_BYTES, to),
        Format::Metrics => twice(source, &mut metrics::Reader::new(source), TEXT_BYTES, to),
        Format::Recording | Format::Parquet => Ok(Vec::new()),
    }
}

fn twice(
    source: &Source,
    parser: &mut dyn Parser,
    most_bytes: usize,
    to: &mut Sink<'_>,
) -> Result<Vec<String>, LogError> {
    let mut last = None;
    once(source, parser, most_bytes, &mut |row| {
        if row.clock == Clock::File {
            last = last.max(Some(row.time_micros));
        }
        Ok(())
    })?;
    parser.again();
    let earlier = source.modified_micros.saturating_sub(last.unwrap_or(0));
    once(source, parser, most_bytes, &mut |mut row| {
        if row.clock == Clock::File {
            row.time_micros = row.time_micros.saturating_add(earlier);
        }
        to(row)
    })
}

fn once(
    source: &Source,
    parser: &mut dyn Parser,
    most_bytes: usize,
    to: &mut Sink<'_>,
) -> Result<Vec<String>, LogError> {
    let path = source.path();
    let mut lines = Lines::new(open(path)?, most_bytes);
    let (mut number, mut wrong, mut said) = (0_u64, 0_u64, Vec::new());
    loop {
        let (line, whole) = match lines.next() {
            Ok(Some(next)) => next,
            Ok(None) => break,
            Err(error) => {
                said.push(format!("{}: {error} after line {number}", path.display()));
                break;
            }
        };
        number += 1;
        let why = match parser.line(&line, to)? {
            None => continue,
            Some(_) if !whole => format!("it has more than {} MiB", most_bytes >> 20),
            Some(why) => why,
        };
        wrong += 1;
        if wrong == 1 {
            said.push(format!("{}: line {number}: {why}", path.display()));
        }
    }
    parser.end(to)?;
    if wrong > 1 {
        said.push(format!("{}: {wrong} lines could not be read", path.display()));
    }
    if lines.cut > 0 && most_bytes == TEXT_BYTES {
        let cut = lines.cut;
        said.push(format!("{}: {cut} lines were cut after 64 KiB", path.display()));
    }
    Ok(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_start() {
        let of = |start: &str| Format::of_start(start.as_bytes());
        assert_eq!(Format::of_start(b"\x89MCAP0\r\n..."), Some(Format::Recording));
        assert_eq!(of("PAR1..."), Some(Format::Parquet));
        assert_eq!(of("{\"schema\":1,\"target\":"), Some(Format::Json));
        assert_eq!(of("{\n  \"name\": 1\n}"), None);
        assert_eq!(of("At 0.1s starting\nLegend:\n"), Some(Format::Watcher));
        assert_eq!(of("\ncheck_core_magic.py:\n  pass\n"), Some(Format::Triage));
        let log = "x\n2026-01-02 03:04:05.678 | info     |  Metal | hello (a.cpp:1)\n";
        assert_eq!(of(log), Some(Format::Metal));
        assert_eq!(of("\x1b[34mcheck_arc.py [0.12s]:\x1b[0m\r\n"), Some(Format::Triage));
        assert_eq!(of("# TYPE linkIsUp gauge\n"), Some(Format::Metrics));
        assert_eq!(of("Dear diary,\n\n"), None);
        assert_eq!(of(""), None);
    }
}
