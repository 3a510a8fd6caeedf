//! Writes what files say.

use super::cables::Cables;
use super::{Amount, Scanned, failure, recording, say_left_out};
use crate::output::{can_wait, json, text, wait_for};
use crate::target::Style;
use console::exit::{Failure, Outcome};
use console::machine::Opening;
use console::words;
use logs::{Changes, Format, FoundFile, LogError, Source, Writer, files_below, read};
use machine::words::counted;
use std::path::{Path, PathBuf};

/// Writes what the files below folders say, of one host if it is named. What cannot be read is said; the
/// rest goes on.
pub(super) fn gather(
    (folders, host): (&[PathBuf], Option<&str>),
    out: &Path,
    target: &Opening,
    style: Style,
) -> Result<Outcome, Failure> {
    let cables = Cables::load(target.options.places.as_deref())?;
    let (found, mut left_out) = files_below(folders).map_err(|error| failure(&error))?;
    let writer = Writer::new(out).map_err(|error| failure(&error))?;
    let changes = Changes::default();
    let mut taker = Taker { target, host, cables, changes, writer, whole: true };
    for (number, file) in found.iter().enumerate() {
        if can_wait() {
            wait_for(&format!("{} of {} files: {}", number, found.len(), file.name));
        }
        left_out.extend(taker.take(file).map_err(|error| failure(&error))?);
    }
    let Taker { writer, whole, .. } = taker;
    let written = writer.finish().map_err(|error| failure(&error))?;
    say_left_out(&left_out);
    let (rows, files, bytes) = (written.rows, written.files, written.bytes);
    if style.json {
        let written = Some(Amount { rows, files, bytes });
        json(Scanned { written, left_out, ..Scanned::default() })?;
    } else {
        let rows = counted(rows, "row", "rows");
        let files = counted(files, "file", "files");
        text(&format!("{rows} in {files}, {}, below {}\n", words::bytes(bytes), out.display()))?;
    }
    Ok(if whole { Outcome::Healthy } else { Outcome::Partial })
}

struct Taker<'a> {
    target: &'a Opening,
    host: Option<&'a str>,
    cables: Cables,
    changes: Changes,
    writer: Writer,
    /// Whether every file of a known kind was read.
    whole: bool,
}

impl Taker<'_> {
    /// Takes a file, and returns what is left out of it.
    fn take(&mut self, file: &FoundFile) -> Result<Vec<String>, LogError> {
        let path = file.path.display();
        let known =
            Format::of(&file.path).and_then(|format| Ok((format, Source::new(file, self.host)?)));
        let (format, source) = match known {
            Ok((Some(Format::Parquet), _)) => {
                return Ok(vec![format!("{path}: Parquet, which --ask and --sql read")]);
            }
            Ok((Some(format), source)) => (format, source),
            Ok((None, _)) => return Ok(vec![format!("{path}: nothing that scan reads")]),
            Err(why) => {
                self.whole = false;
                return Ok(vec![why.to_string()]);
            }
        };
        let mut stuck = false;
        let (cables, changes, writer) = (&self.cables, &mut self.changes, &mut self.writer);
        let mut to = |mut row| {
            cables.name(&mut row);
            changes.note(&mut row);
            writer.push(row).inspect_err(|_| stuck = true)
        };
        let done = match format {
            Format::Recording => recording::read(&source, self.target, &mut to),
            format => read(&source, format, &mut to),
        };
        let said = match done {
            Err(why) if stuck => return Err(why),
            Err(why) => vec![why.to_string()],
            Ok(said) => said,
        };
        self.whole &= said.is_empty();
        Ok(said)
    }
}
