//! The bytes of an ELF file: mapped read-only if the system can, read otherwise.

#![allow(unsafe_code, reason = "mapping a file is a promise about other processes")]

use std::fs::File;
use std::io;
use std::path::Path;

use files::{Kind, Unusable};
use memmap2::{Advice, Mmap};

use crate::bytes::Bytes;

/// Opens a regular file, mapped or read.
///
/// # Errors
/// Why it cannot be used.
pub(crate) fn open(path: &Path) -> Result<Bytes, Unusable> {
    open_with(path, |_| Ok(()))
}

/// Opens a file of which little is read: the system shall not read what is around it.
///
/// # Errors
/// Why it cannot be used.
pub(crate) fn open_in_part(path: &Path) -> Result<Bytes, Unusable> {
    open_with(path, |mapping| mapping.advise(Advice::Random))
}

fn open_with(path: &Path, advise: fn(&Mmap) -> io::Result<()>) -> Result<Bytes, Unusable> {
    let file = files::open(path, Kind::ELF)?;
    match map(&file) {
        Some(mapping) => {
            // It is only slower if the system takes no advice.
            let _ = advise(&mapping);
            Ok(Box::new(mapping))
        }
        None => Ok(Box::new(files::read(path, Kind::ELF)?)),
    }
}

/// Maps a file; none for an empty file, or if the system refuses.
fn map(file: &File) -> Option<Mmap> {
    if file.metadata().ok()?.len() == 0 {
        return None;
    }
    // SAFETY: the mapping is private and read-only, and nothing in this process writes to the file.
    // Another process can. If it truncates the file, the bytes past the new end fault (SIGBUS). If
    // it overwrites bytes, they change during reading: every reader checks a value where it uses
    // it, so the result is a wrong answer. Compilers and linkers do neither: they replace the file,
    // which leaves the mapped one unchanged.
    unsafe { Mmap::map(file) }.ok()
}
