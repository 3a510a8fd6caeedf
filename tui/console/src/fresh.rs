//! Files that are written: none is overwritten.

use crate::exit::Failure;
use std::path::Path;

/// Refuses a file that exists, before any work is done for it.
pub fn check(file: &Path) -> Result<(), Failure> {
    files::check_new(file).map_err(|error| Failure::Usage(error.to_string()))
}

/// Writes a new file; one that cannot be written whole is removed.
pub fn write(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    files::write(file, bytes).map_err(|error| Failure::Usage(error.to_string()))
}
