//! A recording that is packed with gzip, as files of many days are.

use super::source::{Budget, Source};
use flate2::read::MultiGzDecoder;
use std::io::{self, BufWriter, Read, Write};

/// Bytes that are unpacked at once.
const PART: usize = 1 << 20;

/// Returns the file, unpacked if it is packed, and in words what is wrong with its packing: up to there
/// it is read.
pub(super) fn unpacked(source: Source) -> io::Result<(Source, Option<String>)> {
    if !source.read(0, 2)?.starts_with(b"\x1f\x8b") {
        return Ok((source, None));
    }
    let mut budget = Budget::of(&source);
    let mut packed = MultiGzDecoder::new(source.reader());
    let (mut file, mut part) = (BufWriter::new(files::nameless()?), vec![0; PART]);
    let problem = loop {
        match packed.read(&mut part) {
            Ok(0) => break None,
            Ok(count) if budget.spend(count as u64).is_err() => {
                return Err(io::Error::other("it unpacks to too much for its size"));
            }
            Ok(count) => file.write_all(part.get(..count).unwrap_or_default())?,
            Err(error) => break Some(format!("it is not unpacked further: {error}")),
        }
    };
    Ok((Source::new(file.into_inner()?)?, problem))
}
