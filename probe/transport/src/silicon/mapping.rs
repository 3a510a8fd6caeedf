//! Mapped device memory: aligned 32-bit accesses, each made exactly once.

use super::sigbus::Watch;
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};

/// Bytes of one access.
pub(crate) const WORD: usize = 4;

/// Why an access to mapped memory failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The driver took the mapping away.
    Mapping,
    /// The word is outside of the mapping.
    Outside,
}

/// A mapping of a device, unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    /// Set as long as the memory is mapped; cleared before it is unmapped.
    watch: Option<Watch>,
    base: NonNull<c_void>,
    len: usize,
}

// SAFETY: the memory belongs to the device, not to a thread, and one owner at a time accesses it.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `len` bytes from `offset` of the device's file.
    pub(crate) fn of(file: BorrowedFd<'_>, offset: u64, len: usize) -> io::Result<Self> {
        let offset = libc::off_t::try_from(offset).map_err(io::Error::other)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the system chooses the address of the new mapping, so that no memory in use
        // changes.
        let base = unsafe {
            libc::mmap(ptr::null_mut(), len, protection, libc::MAP_SHARED, file.as_raw_fd(), offset)
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base).ok_or(io::ErrorKind::AddrNotAvailable)?;
        let watch = Watch::over(base.as_ptr() as usize, len);
        let mapping = Self { watch, base, len };
        // Without the watch a reset by another client would end this process.
        if mapping.watch.is_none() {
            return Err(io::Error::other("too many mappings"));
        }
        Ok(mapping)
    }

    /// Returns its length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Loads the word at `offset`.
    pub(crate) fn load(&self, offset: usize) -> Result<u32, Lost> {
        let word = self.word(offset)?;
        // SAFETY: `word` is aligned and inside of the mapping. Device memory changes without this
        // program, hence volatile. The watch's handler catches a fault.
        let value = unsafe { word.read_volatile() };
        self.still_there().map(|()| value)
    }

    /// Stores the word at `offset`.
    pub(crate) fn store(&self, offset: usize, value: u32) -> Result<(), Lost> {
        let word = self.word(offset)?;
        // SAFETY: as in `load`.
        unsafe { word.write_volatile(value) };
        self.still_there()
    }

    fn word(&self, offset: usize) -> Result<NonNull<u32>, Lost> {
        let inside = offset.checked_add(WORD).is_some_and(|end| end <= self.len);
        if !(inside && offset.is_multiple_of(WORD)) {
            return Err(Lost::Outside);
        }
        // SAFETY: the offset is inside of the mapping.
        Ok(unsafe { self.base.cast::<u32>().byte_add(offset) })
    }

    fn still_there(&self) -> Result<(), Lost> {
        if self.watch.as_ref().is_some_and(Watch::lost) { Err(Lost::Mapping) } else { Ok(()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        self.watch = None;
        // SAFETY: the range is the whole mapping that `of` made, and no reference to it remains.
        unsafe { libc::munmap(self.base.as_ptr(), self.len) };
    }
}
