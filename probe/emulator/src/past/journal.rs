//! The journal of host actions, each with its cycle. With the configuration it determines a run.
//!
//! Actions are kept encoded, in chunks that copies of a journal share. A chunk can be
//! read without those before it.

mod chunk;
mod code;

use crate::disruption::Disruption;
use crate::heap::of_vec;
use crate::varint::JournalError;
use chunk::Chunk;
use std::sync::Arc;

/// An action from outside the mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostAction {
    /// A read of PCI config space.
    ConfigRead {
        /// PCIe device.
        device: usize,
        /// Byte offset.
        offset: u32,
    },
    /// A write of PCI config space.
    ConfigWrite {
        /// PCIe device.
        device: usize,
        /// Byte offset.
        offset: u32,
        /// The word.
        value: u32,
    },
    /// A read of a BAR.
    Read {
        /// PCIe device.
        device: usize,
        /// BAR number.
        bar: u8,
        /// Byte offset.
        offset: u64,
        /// Number of bytes.
        len: usize,
    },
    /// A write of a BAR.
    Write {
        /// PCIe device.
        device: usize,
        /// BAR number.
        bar: u8,
        /// Byte offset.
        offset: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// An access to a bus address that is in no BAR.
    NoSuchAddress {
        /// The bus address.
        address: u64,
    },
    /// A link was taken down or brought up.
    Link {
        /// Index of the link in the configuration.
        link: usize,
        /// Whether it carries packets from this cycle on.
        up: bool,
    },
    /// A disruption was planned.
    Disrupt {
        /// The disruption.
        what: Disruption,
        /// Cycle at which it begins.
        from_cycle: u64,
        /// Cycle at which it ends without a further action.
        until_cycle: Option<u64>,
    },
    /// A chip was reset.
    Reset {
        /// Chip index.
        chip: usize,
    },
}

/// A host action and its cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    /// Cycle before the access.
    pub cycle: u64,
    /// The action.
    pub action: HostAction,
}

/// Host actions in the order of their cycles. A copy shares all but the last few thousand bytes.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    /// The chunks that are complete.
    chunks: Vec<Arc<Chunk>>,
    /// Their memory in bytes.
    complete_bytes: usize,
    open: Chunk,
    /// Entries that were forgotten, from the first on.
    forgotten: u64,
}

impl Journal {
    /// Adds an action at the end.
    pub fn push(&mut self, entry: &JournalEntry) {
        self.open.push(entry);
        if self.open.is_full() {
            self.end_chunk();
        }
    }

    /// Returns the number of entries, also of those that were forgotten.
    pub fn len(&self) -> u64 {
        let kept = self.chunks.iter().map(|chunk| chunk.len()).sum::<u64>();
        self.forgotten + kept + self.open.len()
    }

    /// Whether there never was an entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the memory of the entries in bytes.
    pub fn bytes(&self) -> usize {
        of_vec(&self.chunks) + self.complete_bytes + self.open.bytes()
    }

    fn all(&self) -> impl Iterator<Item = &Chunk> {
        self.chunks.iter().map(AsRef::as_ref).chain([&self.open])
    }

    /// Returns the entries from number `first` on, or from the first that is not forgotten.
    pub fn since(&self, first: u64) -> impl Iterator<Item = JournalEntry> {
        let mut number = self.forgotten;
        let chunks = self.all().map(move |chunk| {
            let start = number;
            number += chunk.len();
            (start, chunk)
        });
        let from = chunks.skip_while(move |(start, chunk)| start + chunk.len() <= first);
        from.flat_map(move |(start, chunk)| {
            chunk.entries().skip(first.saturating_sub(start) as usize)
        })
    }

    /// Returns all entries that are not forgotten.
    pub fn entries(&self) -> impl Iterator<Item = JournalEntry> {
        self.since(0)
    }

    /// Drops whole chunks of entries before number `first`.
    pub(crate) fn forget(&mut self, first: u64) {
        let mut dropped = 0;
        while let Some(chunk) = self.chunks.get(dropped)
            && self.forgotten + chunk.len() <= first
        {
            self.forgotten += chunk.len();
            self.complete_bytes -= chunk.bytes();
            dropped += 1;
        }
        self.chunks.drain(..dropped);
    }

    /// Begins a new chunk, so that reading from here on is cheap.
    pub(crate) fn end_chunk(&mut self) {
        if self.open.len() > 0 {
            let mut chunk = std::mem::take(&mut self.open);
            chunk.shrink();
            self.complete_bytes += chunk.bytes();
            self.chunks.push(Arc::new(chunk));
        }
    }

    /// Returns the entries from number `first` on in a form for files: see
    /// [`Journal::append_bytes`].
    pub fn to_bytes(&self, first: u64) -> Vec<u8> {
        code::to_bytes(self.since(first))
    }

    /// Creates a journal from the bytes of [`Journal::to_bytes`].
    ///
    /// # Errors
    /// Bytes that are not a journal, or of a version that this program does not know.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, JournalError> {
        let mut journal = Self::default();
        journal.append_bytes(bytes)?;
        Ok(journal)
    }

    /// Appends the entries that another call of [`Journal::to_bytes`] returned. On an error nothing
    /// is appended.
    ///
    /// # Errors
    /// See [`Journal::from_bytes`]; or the entries are of earlier cycles than those before them.
    pub fn append_bytes(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        let entries = code::from_bytes(bytes)?;
        let last = self.since(self.len().saturating_sub(1)).last().map_or(0, |entry| entry.cycle);
        if entries.first().is_some_and(|entry| entry.cycle < last) {
            return Err(JournalError::OutOfOrder);
        }
        for entry in &entries {
            self.push(entry);
        }
        Ok(())
    }
}

impl PartialEq for Journal {
    fn eq(&self, other: &Self) -> bool {
        self.forgotten == other.forgotten && self.entries().eq(other.entries())
    }
}

impl Eq for Journal {}

impl FromIterator<JournalEntry> for Journal {
    fn from_iter<I: IntoIterator<Item = JournalEntry>>(entries: I) -> Self {
        let mut journal = Self::default();
        entries.into_iter().for_each(|entry| journal.push(&entry));
        journal
    }
}
