//! What a file is, and how rows are made of it.

use crate::error::LogError;
use crate::lines::Lines;
use crate::row::Clock;
use crate::source::{Parser, Sink, Source};
use crate::{json, metal, triage, watcher};
use std::fs::File;
use std::io::{BufReader, Read as _};
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
}

impl Format {
    /// Returns what a file is by its start; none if it is nothing of this.
    ///
    /// # Errors
    /// It cannot be read, or is no regular file.
    pub fn of(path: &Path) -> Result<Option<Self>, LogError> {
        let mut start = Vec::new();
        let file = files::open(path, files::Kind::ANY_LOG)?;
        let read = file.take(START_BYTES).read_to_end(&mut start);
        read.map_err(|error| LogError::Io { path: path.to_owned(), error })?;
        Ok(Self::of_start(&start))
    }

    fn of_start(start: &[u8]) -> Option<Self> {
        if start.starts_with(b"\x89MCAP0\r\n") {
            return Some(Self::Recording);
        }
        if start.starts_with(b"PAR1") {
            return Some(Self::Parquet);
        }
        let words = String::from_utf8_lossy(start);
        if words.starts_with('{') {
            return words.lines().next().filter(|line| json::is_line(line)).map(|_| Self::Json);
        }
        let by_line = [
            (Self::Watcher, watcher::is_watcher as fn(&str) -> bool),
            (Self::Triage, triage::is_section),
            (Self::Metal, metal::is_line),
        ];
        let known = |line| by_line.into_iter().find(|(_, is)| is(line)).map(|(format, _)| format);
        words.lines().find_map(known)
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
    let file: File = files::open(path, files::Kind::ANY_LOG)?;
    let mut lines = Lines::new(BufReader::new(file), most_bytes);
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
        assert_eq!(of("Dear diary,\n\n"), None);
        assert_eq!(of(""), None);
    }
}
