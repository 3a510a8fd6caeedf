//! Entries of a journal, one after the other as bytes.

use super::JournalEntry;
use super::code::{Context, Reader};
use crate::heap::{COUNTS, allocation, of_vec};

/// Bytes of a chunk beyond which the next entry begins another.
const FULL_BYTES: usize = 32 << 10;

/// Encoded entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunk {
    code: Vec<u8>,
    entries: u64,
    /// What the next entry is encoded relative to.
    context: Context,
}

impl Chunk {
    /// Adds an entry.
    pub(super) fn push(&mut self, entry: &JournalEntry) {
        self.context.write(entry, &mut self.code);
        self.entries += 1;
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> u64 {
        self.entries
    }

    /// Whether the next entry belongs into another chunk.
    pub(super) fn is_full(&self) -> bool {
        self.code.len() >= FULL_BYTES
    }

    /// Gives back the memory that no entry needs.
    pub(super) fn shrink(&mut self) {
        self.code.shrink_to_fit();
    }

    /// Returns the memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        of_vec(&self.code) + allocation(size_of::<Self>() + COUNTS)
    }

    /// Decodes the entries.
    pub(super) fn entries(&self) -> impl Iterator<Item = JournalEntry> {
        let mut reader = Reader::new(&self.code);
        // The code is this program's own, so no entry is wrong.
        std::iter::from_fn(move || if reader.at_end() { None } else { reader.entry().ok() })
    }
}
