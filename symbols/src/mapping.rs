//! A file's bytes: mapped read-only where the system can, read where it cannot.

#![allow(unsafe_code, reason = "mapping a file is a promise about other processes")]

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use memmap2::Mmap;

use crate::inner::Bytes;

/// Maps a regular file. None for what has no fixed bytes to map: pipes, devices, empty files, and
/// whatever else the system refuses.
pub(crate) fn map(file: &File) -> Option<Mmap> {
    let about = file.metadata().ok()?;
    if !about.is_file() || about.len() == 0 {
        return None;
    }
    // SAFETY: the mapping is private and read-only, and nothing in this process writes to the file.
    // Another process can. If it shortens the file in place, the bytes past the new end fault
    // (SIGBUS); if it overwrites bytes in place, they change under us, and every reader here checks
    // a value where it uses it, so that gives wrong answers. Compilers and linkers do neither: they
    // write a new file in the old one's place, which leaves the mapped one as it was.
    unsafe { Mmap::map(file) }.ok()
}

/// Opens another file that an ELF names, mapped or read; none if it is not there or is no regular file,
/// which could keep us waiting or never end.
pub(crate) fn open(path: &Path) -> Option<Bytes> {
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let file = File::open(path).ok()?;
    match map(&file) {
        Some(mapping) => Some(Box::new(mapping)),
        None => Some(Box::new(read(file).ok()?)),
    }
}

/// What is not mapped may never end, as `/dev/zero` does not. No ELF of a core is as large as this.
const MAX_READ: u64 = 256 << 20;

/// Reads what cannot be mapped to its end.
pub(crate) fn read(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MAX_READ + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_READ {
        let words = format!("more than {} MiB, and no regular file", MAX_READ >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, words));
    }
    Ok(bytes)
}
