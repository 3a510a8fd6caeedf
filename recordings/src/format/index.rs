//! The index of a finished recording: the times of all moments, where they stand, marks.

use super::chip::{differences, sums};
use machine::history::Mark;
use serde::{Deserialize, Serialize};

/// What is known of a moment without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its sequence number.
    pub(crate) number: u32,
    /// The target's own time, in device cycles.
    pub(crate) target_cycles: u64,
    /// Microseconds since the Unix epoch.
    pub(crate) host_micros: u64,
    /// The place of its chunk in the file.
    pub(crate) chunk: usize,
    /// The number of its key snapshot.
    pub(crate) key_moment: u32,
    /// Per chip read, bytes that differ from the moment before.
    pub(crate) changed_bytes: Vec<(u16, u32)>,
    /// Whether it read only a part of the mesh.
    pub(crate) partial: bool,
}

/// Limit of the bytes of an index: those of hundred thousands of moments. In memory they are many
/// times as much.
const MOST_BYTES: usize = 16 << 20;

/// The index, as columns.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Index {
    numbers: Vec<i64>,
    target_cycles: Vec<i64>,
    host_micros: Vec<i64>,
    chunks: Vec<i64>,
    key_moments: Vec<i64>,
    changed_bytes: Vec<Vec<(u16, u32)>>,
    /// The positions of those that read a part.
    #[serde(default)]
    partial: Vec<usize>,
    pub(crate) marks: Vec<Mark>,
}

impl Index {
    /// Returns the index of these moments.
    pub(crate) fn new(entries: &[Entry], marks: Vec<Mark>) -> Self {
        let column = |value: fn(&Entry) -> u64| differences(entries.iter().map(value));
        Self {
            numbers: column(|entry| entry.number.into()),
            target_cycles: column(|entry| entry.target_cycles),
            host_micros: column(|entry| entry.host_micros),
            chunks: column(|entry| entry.chunk as u64),
            key_moments: column(|entry| entry.key_moment.into()),
            changed_bytes: entries.iter().map(|entry| entry.changed_bytes.clone()).collect(),
            partial: (0..).zip(entries).filter(|(_, it)| it.partial).map(|(at, _)| at).collect(),
            marks,
        }
    }

    /// Reads an index; none if it is damaged, or too long.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        (bytes.len() <= MOST_BYTES).then_some(())?;
        rmp_serde::from_slice(bytes).ok()
    }

    /// Returns the number of moments.
    pub(crate) fn moments(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the moments; none if its columns do not fit together or name other chunks than there
    /// are.
    pub(crate) fn entries(&mut self, chunks: usize) -> Option<Vec<Entry>> {
        let count = self.numbers.len();
        let columns = [&self.target_cycles, &self.host_micros, &self.chunks, &self.key_moments];
        if columns.iter().any(|column| column.len() != count) || self.changed_bytes.len() != count {
            return None;
        }
        let changed = std::mem::take(&mut self.changed_bytes);
        let times = sums(&self.target_cycles).zip(sums(&self.host_micros));
        let places = sums(&self.chunks).zip(sums(&self.key_moments));
        let rows = sums(&self.numbers).zip(times).zip(places).zip(changed);
        let entry = |(((number, (target_cycles, host_micros)), (chunk, key)), changed_bytes)| {
            let (number, key_moment) = (u32::try_from(number).ok()?, u32::try_from(key).ok()?);
            let chunk = usize::try_from(chunk).ok().filter(|chunk| *chunk < chunks)?;
            Some(Entry {
                number,
                target_cycles,
                host_micros,
                chunk,
                key_moment,
                changed_bytes,
                partial: false,
            })
        };
        let mut entries = rows.map(entry).collect::<Option<Vec<Entry>>>()?;
        for at in &self.partial {
            entries.get_mut(*at)?.partial = true;
        }
        Some(entries)
    }
}
