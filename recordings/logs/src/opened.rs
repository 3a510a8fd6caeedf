//! Opens a file of text, also one that is packed with gzip.

use crate::error::LogError;
use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// A packed file has this much text at most, in bytes: a small file may unpack to any amount.
const MOST_UNPACKED: u64 = 16 << 30;

/// Opens a file, and unpacks what is packed.
///
/// # Errors
/// It cannot be read, or is no regular file.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead>, LogError> {
    let mut file = BufReader::new(files::open(path, files::Kind::ANY_LOG)?);
    let start = file.fill_buf().map_err(|error| LogError::Io { path: path.to_owned(), error })?;
    if !start.starts_with(b"\x1f\x8b") {
        return Ok(Box::new(file));
    }
    let unpacked = Limited { inner: MultiGzDecoder::new(file), left: MOST_UNPACKED };
    Ok(Box::new(BufReader::new(unpacked)))
}

/// Reads up to a number of bytes; more is an error.
struct Limited<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        let left = self.left.checked_sub(read as u64);
        self.left = left.ok_or_else(|| io::Error::other("it unpacks to more than 16 GiB"))?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn what_unpacks_to_more_than_the_limit_is_an_error() {
        let read = |left| {
            let mut text = String::new();
            Limited { inner: b"12345".as_slice(), left }.read_to_string(&mut text).map(|_| text)
        };
        assert_eq!(read(5).unwrap(), "12345");
        assert_eq!(read(4).unwrap_err().to_string(), "it unpacks to more than 16 GiB");
    }
}
