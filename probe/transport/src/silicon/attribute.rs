//! Small files in which the kernel tells one fact.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// An attribute is one page at most.
const LONGEST: u64 = 4096;

/// The text of a small file without its last line end.
pub(super) fn line(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        return Err(io::Error::other("it is longer than a page"));
    }
    let text = String::from_utf8(bytes).map_err(|_| io::Error::other("it is not text"))?;
    match text.trim() {
        "" => Err(io::Error::other("it is empty")),
        text => Ok(text.to_owned()),
    }
}
