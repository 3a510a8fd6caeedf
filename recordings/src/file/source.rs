//! A file that is read in parts, and the records in it.

use crate::error::Damage;
use mcap::records::op;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

/// Bytes of a record's head: a number for its kind, and the length of its body.
pub(super) const HEAD: u64 = 9;

/// An open file.
#[derive(Debug)]
pub(crate) struct Source {
    file: File,
    len: u64,
    /// Bytes that it takes on the disk: one with holes has fewer than its length.
    stored: u64,
}

/// What opening a file may cost: bytes that are read, decompressed or searched, in sum.
#[derive(Debug)]
pub(super) struct Budget(u64);

impl Budget {
    /// What any file may cost: the snapshots of a large mesh, of which each chip is like the others.
    const LEAST: u64 = 256 << 20;
    /// What each of its bytes may cost.
    const PER_BYTE: u64 = 64;

    /// Returns what a file may cost.
    pub(super) fn of(source: &Source) -> Self {
        Self(source.stored.saturating_mul(Self::PER_BYTE).saturating_add(Self::LEAST))
    }

    /// Takes what something costs, before it is done.
    ///
    /// # Errors
    /// `TooMuch`: nothing is taken.
    pub(super) fn spend(&mut self, bytes: u64) -> Result<(), Damage> {
        self.0 = self.0.checked_sub(bytes).ok_or(Damage::TooMuch)?;
        Ok(())
    }

    /// Returns what is left.
    pub(super) fn left(&self) -> u64 {
        self.0
    }
}

/// A record: its kind, and where its body stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) kind: u8,
    /// Position of the first byte of the body.
    pub(super) body: u64,
    /// Bytes of the body.
    pub(super) len: u64,
}

impl Place {
    pub(super) fn end(self) -> u64 {
        self.body + self.len
    }
}

impl Source {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let about = file.metadata()?;
        let len = about.len();
        // Blocks of 512 bytes, whatever those of the file system are.
        let stored = about.blocks().saturating_mul(512).min(len);
        Ok(Self { file, len, stored })
    }

    /// Returns what reads it from its beginning.
    pub(super) fn reader(&self) -> &File {
        &self.file
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Returns `len` bytes from `at` on, or those up to the end of the file.
    pub(super) fn read(&self, at: u64, len: u64) -> io::Result<Vec<u8>> {
        let len = len.min(self.len.saturating_sub(at)) as usize;
        let mut bytes = vec![0; len];
        self.file.read_exact_at(&mut bytes, at)?;
        Ok(bytes)
    }

    /// Returns the body of a record.
    pub(super) fn body(&self, place: Place) -> io::Result<Vec<u8>> {
        self.read(place.body, place.len)
    }

    /// Returns the record at a position, if one of a known kind stands there that ends within the
    /// file.
    pub(super) fn record(&self, at: u64) -> io::Result<Option<Place>> {
        Ok(place(&self.read(at, HEAD)?, at, self.len))
    }
}

/// Returns the record whose head these bytes are.
pub(super) fn place(head: &[u8], at: u64, file_len: u64) -> Option<Place> {
    let (kind, len) = head.get(..HEAD as usize)?.split_first()?;
    let len = u64::from_le_bytes(len.try_into().ok()?);
    let body = at.checked_add(HEAD)?;
    let fits = body.checked_add(len).is_some_and(|end| end <= file_len);
    (fits && (op::HEADER..=op::DATA_END).contains(kind)).then_some(Place { kind: *kind, body, len })
}

/// Takes the first record off: its kind and its body.
pub(super) fn split_record<'a>(rest: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let (head, after) = rest.split_at_checked(HEAD as usize)?;
    let (kind, len) = head.split_first()?;
    let len = u64::from_le_bytes(len.try_into().ok()?);
    let (body, after) = after.split_at_checked(usize::try_from(len).ok()?)?;
    *rest = after;
    Some((*kind, body))
}
