//! Numbers in groups of seven bits, for what a file keeps of a run, and what can be wrong with it.

/// Longest access that is believed, so that wrong bytes do not exhaust the memory: a BAR.
pub(crate) const MOST_BYTES: u64 = 512 << 20;

/// Why bytes are not a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalError {
    /// They do not begin like a journal of this version.
    NotAJournal,
    /// They end in the middle of an entry.
    CutOff,
    /// An entry has an impossible value.
    WrongEntry,
    /// Entries are of earlier cycles than those before them.
    OutOfOrder,
}

impl std::fmt::Display for JournalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NotAJournal => "not a journal of host accesses, or of an unknown version",
            Self::CutOff => "the journal of host accesses ends in the middle of an entry",
            Self::WrongEntry => "the journal of host accesses has an impossible entry",
            Self::OutOfOrder => "the journal of host accesses goes back in time",
        })
    }
}

impl std::error::Error for JournalError {}

/// Appends a number.
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Decodes the number at the front of bytes.
pub(crate) fn take(left: &mut &[u8]) -> Result<u64, JournalError> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = left.split_first().ok_or(JournalError::CutOff)?;
        *left = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(JournalError::WrongEntry)
}
