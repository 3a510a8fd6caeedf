//! The bytes of an ELF file: mapped read-only where the system can, read where it cannot.

#![allow(unsafe_code, reason = "mapping a file is a promise about other processes")]

use std::fs::File;
use std::path::Path;

use files::{Kind, Unusable};
use memmap2::Mmap;

use crate::bytes::Bytes;

/// Opens a regular file, mapped or read.
///
/// # Errors
/// Why it cannot be used.
pub(crate) fn open(path: &Path) -> Result<Bytes, Unusable> {
    let file = files::open(path, Kind::ELF)?;
    match map(&file) {
        Some(mapping) => Ok(Box::new(mapping)),
        None => Ok(Box::new(files::read(path, Kind::ELF)?)),
    }
}

/// None for an empty file, and for what the system refuses to map.
fn map(file: &File) -> Option<Mmap> {
    if file.metadata().ok()?.len() == 0 {
        return None;
    }
    // SAFETY: the mapping is private and read-only, and nothing in this process writes to the file.
    // Another process can. If it shortens the file in place, the bytes past the new end fault
    // (SIGBUS); if it overwrites bytes in place, they change under us, and every reader here checks
    // a value where it uses it, so that gives wrong answers. Compilers and linkers do neither: they
    // write a new file in the old one's place, which leaves the mapped one as it was.
    unsafe { Mmap::map(file) }.ok()
}
