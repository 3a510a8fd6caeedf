//! What the host's memory answered devices, kept so that a copy of the mesh gets the same answers.
//!
//! The memory is the host's own: no checkpoint has it, and no copy of a mesh reads or writes it. So
//! the live mesh keeps each answer under the number of the access, and a copy plays them back.

use crate::varint::{JournalError, MOST_BYTES, put, take};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An access of a device to host memory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HostAccess {
    address: u64,
    write: bool,
    len: usize,
    /// The bytes read, if it was a read.
    bytes: Box<[u8]>,
}

/// Memory of a kept access besides its bytes.
const ACCESS_BYTES: usize = size_of::<(Number, HostAccess)>();

/// The chip of an access, and its number among those of the chip.
pub(crate) type Number = (usize, u64);

/// The accesses of devices to host memory that found it, with what they read there.
#[derive(Debug)]
pub struct HostTape {
    kept: Mutex<Kept>,
    most_bytes: usize,
}

#[derive(Debug, Default)]
struct Kept {
    accesses: BTreeMap<Number, HostAccess>,
    bytes: usize,
    /// Whether later ones are not kept, as they need too much memory.
    full: bool,
}

impl HostTape {
    /// Creates an empty tape for so many bytes.
    pub(crate) fn new(most_bytes: usize) -> Self {
        Self { kept: Mutex::default(), most_bytes }
    }

    /// Whether accesses were not kept, as they need too much memory.
    pub(crate) fn is_full(&self) -> bool {
        self.kept().full
    }

    /// Returns its approximate memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.kept().bytes
    }

    /// Keeps a read that found memory.
    pub(crate) fn keep_read(&self, number: Number, address: u64, bytes: &[u8]) {
        let len = bytes.len();
        self.keep(number, HostAccess { address, write: false, len, bytes: bytes.into() });
    }

    /// Keeps a write that found memory.
    pub(crate) fn keep_write(&self, number: Number, address: u64, len: usize) {
        self.keep(number, HostAccess { address, write: true, len, bytes: Box::default() });
    }

    fn keep(&self, number: Number, access: HostAccess) {
        let mut kept = self.kept();
        let bytes = kept.bytes + ACCESS_BYTES + access.bytes.len();
        // What was kept stays, for copies of the past.
        kept.full |= bytes > self.most_bytes;
        if !kept.full {
            kept.bytes = bytes;
            kept.accesses.insert(number, access);
        }
    }

    /// Repeats a read. Returns whether it found memory; a read that was not kept did not.
    pub(crate) fn read(&self, number: Number, address: u64, out: &mut [u8]) -> bool {
        let kept = self.kept();
        let same = |access: &&HostAccess| {
            (access.address, access.write, access.len) == (address, false, out.len())
        };
        let access = kept.accesses.get(&number).filter(same);
        if let Some(access) = access {
            out.copy_from_slice(&access.bytes);
        }
        access.is_some()
    }

    /// Repeats a write, without effect. Returns whether it found memory.
    pub(crate) fn write(&self, number: Number, address: u64, len: usize) -> bool {
        let kept = self.kept();
        let access = kept.accesses.get(&number);
        access.is_some_and(|access| {
            (access.address, access.write, access.len) == (address, true, len)
        })
    }

    /// Returns the accesses in a form for files: for each, relative to the one before, chip, number and
    /// address, then length with direction, and the bytes of a read.
    pub fn to_bytes(&self) -> Vec<u8> {
        let (mut out, mut last, mut end) = (Vec::new(), (0, 0), 0);
        for (&(chip, number), access) in &self.kept().accesses {
            let since = if last.0 == chip { number - last.1 } else { number };
            put(&mut out, (chip - last.0) as u64);
            put(&mut out, since);
            put(&mut out, access.address.wrapping_sub(end));
            put(&mut out, (access.len as u64) << 1 | u64::from(access.write));
            out.extend_from_slice(&access.bytes);
            (last, end) = ((chip, number), access.address.wrapping_add(access.len as u64));
        }
        out
    }

    /// Creates a tape from the bytes of [`HostTape::to_bytes`]. It takes no more accesses.
    ///
    /// # Errors
    /// Bytes that are no tape.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, JournalError> {
        let mut kept = Kept::default();
        let ((mut chip, mut number), mut end) = ((0_usize, 0_u64), 0);
        let left = &mut bytes;
        while !left.is_empty() {
            let chips = usize::try_from(take(left)?).map_err(|_| JournalError::WrongEntry)?;
            let last = if chips == 0 { number } else { 0 };
            chip = chip.checked_add(chips).ok_or(JournalError::WrongEntry)?;
            number = last.checked_add(take(left)?).ok_or(JournalError::WrongEntry)?;
            let address = take(left)?.wrapping_add(end);
            let head = take(left)?;
            let (len, write) = (head >> 1, head & 1 == 1);
            if len > MOST_BYTES {
                return Err(JournalError::WrongEntry);
            }
            let read = if write { 0 } else { len as usize };
            let (bytes, rest) = left.split_at_checked(read).ok_or(JournalError::CutOff)?;
            *left = rest;
            let access = HostAccess { address, write, len: len as usize, bytes: bytes.into() };
            kept.bytes += ACCESS_BYTES + read;
            kept.accesses.insert((chip, number), access);
            end = address.wrapping_add(len);
        }
        Ok(Self { most_bytes: kept.bytes, kept: kept.into() })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
