//! The file of kept status queue entries: a line of JSON each, appended once however often they are
//! read.

use crate::output::json_line;
use console::exit::Failure;
use fabric::status_queue::{StatusEntry, StatusReport};
use layouts::{ChipId, EthId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// The identity of an entry.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
struct Name {
    /// The number of the bring-up of the fabric.
    run_id: u32,
    /// The id of the router's chip.
    chip: u16,
    /// The Ethernet channel of the router.
    channel: u8,
    /// The number of the entry, counted from 0 in each bring-up.
    number: u32,
}

/// A line of the file of `fabric status --keep`: an entry of a status queue.
#[derive(Serialize, JsonSchema)]
pub(in crate::verbs) struct KeptEntry<'a> {
    #[serde(flatten)]
    name: Name,
    #[serde(flatten)]
    entry: &'a StatusEntry,
}

/// The file, and its entries.
pub(super) struct KeptFile {
    path: PathBuf,
    file: File,
    names: BTreeSet<Name>,
    /// Whether the last line was cut off; appending then begins a new line.
    cut: bool,
}

impl KeptFile {
    /// Opens the file, or creates an empty one.
    ///
    /// # Errors
    /// `Usage` if it cannot be opened, or holds something else.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let unusable = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
        let file = files::open_to_append(path, files::Kind::STATUS);
        let file = file.map_err(|error| Failure::Usage(error.to_string()))?;
        let mut names = BTreeSet::new();
        let mut lines = BufReader::new(&file);
        let (mut line, mut number, mut cut) = (String::new(), 0, false);
        while lines.read_line(&mut line).map_err(|error| unusable(error.to_string()))? > 0 {
            number += 1;
            cut = !line.ends_with('\n');
            match serde_json::from_str(&line) {
                Ok(name) => drop(names.insert(name)),
                Err(_) if cut || line.trim().is_empty() => {}
                Err(error) => {
                    return Err(unusable(format!("line {number} is not a status entry: {error}")));
                }
            }
            line.clear();
        }
        Ok(Self { path: path.to_owned(), file, names, cut })
    }

    /// The file's path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends the entries that are not in the file yet, and returns their number.
    ///
    /// # Errors
    /// `Usage` if the file cannot be written.
    pub(super) fn append(&mut self, reports: &[StatusReport]) -> Result<usize, Failure> {
        let mut text = if self.cut { "\n".to_owned() } else { String::new() };
        let before = self.names.len();
        for report in reports {
            for entry in &report.entries {
                let EthId { chip: ChipId(chip), channel } = report.queue.router;
                let (run_id, number) = (report.queue.run_id, entry.number);
                let name = Name { run_id, chip, channel, number };
                if self.names.insert(name) {
                    text += &json_line(KeptEntry { name, entry })?;
                }
            }
        }
        let new = self.names.len() - before;
        if new > 0 {
            let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
            let unusable = |error| Failure::Usage(format!("{}: {error}", self.path.display()));
            written.map_err(unusable)?;
            self.cut = false;
        }
        Ok(new)
    }
}
