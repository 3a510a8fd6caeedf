//! A file's bytes: mapped read-only where the system can, read where it cannot.

#![allow(unsafe_code, reason = "mapping a file is a promise about other processes")]

use std::fs::File;
use std::io::{self, Read};

use memmap2::Mmap;

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

/// Reads what cannot be mapped to its end.
pub(crate) fn read(mut file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
