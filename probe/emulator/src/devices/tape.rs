//! What the host's memory answered a device, kept so that a copy of the mesh gets the same answers.
//!
//! The memory is the host's own: no checkpoint has it, and no copy of a mesh reads or writes it. So
//! the live mesh keeps each answer under the number of the access, and a copy plays them back.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// An access of a device to host memory.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HostAccess {
    address: u64,
    write: bool,
    len: usize,
    /// The bytes read, if it was a read.
    bytes: Box<[u8]>,
}

/// The accesses of a device that found memory, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Tape(Mutex<BTreeMap<u64, HostAccess>>);

impl Tape {
    /// Whether no access found memory.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Keeps a read that found memory.
    pub(crate) fn keep_read(&self, number: u64, address: u64, bytes: &[u8]) {
        let len = bytes.len();
        self.keep(number, HostAccess { address, write: false, len, bytes: bytes.into() });
    }

    /// Keeps a write that found memory.
    pub(crate) fn keep_write(&self, number: u64, address: u64, len: usize) {
        self.keep(number, HostAccess { address, write: true, len, bytes: Box::default() });
    }

    fn keep(&self, number: u64, access: HostAccess) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(number, access);
    }

    /// Repeats a read. Returns whether it found memory; a read that was not kept did not.
    pub(crate) fn read(&self, number: u64, address: u64, out: &mut [u8]) -> bool {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |access: &&HostAccess| {
            (access.address, access.write, access.len) == (address, false, out.len())
        };
        let access = kept.get(&number).filter(same);
        if let Some(access) = access {
            out.copy_from_slice(&access.bytes);
        }
        access.is_some()
    }

    /// Repeats a write, without effect. Returns whether it found memory.
    pub(crate) fn write(&self, number: u64, address: u64, len: usize) -> bool {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let access = kept.get(&number);
        access.is_some_and(|access| {
            (access.address, access.write, access.len) == (address, true, len)
        })
    }
}
