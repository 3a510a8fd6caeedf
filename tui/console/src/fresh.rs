//! Files that are written: none is overwritten.

use crate::exit::Failure;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Refuses a file that exists, before any work is done for it.
pub fn check(file: &Path) -> Result<(), Failure> {
    if file.symlink_metadata().is_ok() { Err(exists(file)) } else { Ok(()) }
}

/// Writes a new file; one that cannot be written whole is removed.
pub fn write(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::AlreadyExists => exists(file),
        _ => Failure::Usage(format!("{}: {error}", file.display())),
    };
    let mut open = OpenOptions::new().write(true).create_new(true).open(file).map_err(failed)?;
    open.write_all(bytes).map_err(|error| {
        let _ = fs::remove_file(file);
        failed(error)
    })
}

fn exists(file: &Path) -> Failure {
    Failure::Usage(format!("{}: exists already, and is not overwritten", file.display()))
}
