//! The places in an ELF that the mutations need.

use std::ops::Range;

/// A section: its name, the offset of its header, and the range of its bytes.
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) header: usize,
    pub(crate) bytes: Range<usize>,
}

pub(crate) fn word(file: &[u8], at: usize) -> usize {
    file.get(at..at + 4).map_or(0, |word| u32::from_le_bytes(word.try_into().unwrap()) as usize)
}

fn half(file: &[u8], at: usize) -> usize {
    file.get(at..at + 2).map_or(0, |half| usize::from(u16::from_le_bytes(half.try_into().unwrap())))
}

/// Returns the sections inside the file.
pub(crate) fn parts(file: &[u8]) -> Vec<Part> {
    let (table, count, strings) = (word(file, 0x20), half(file, 0x30), half(file, 0x32));
    let names = word(file, table + 40 * strings + 16);
    let found = (1..count.min(100)).filter_map(|index| {
        let header = table + 40 * index;
        let (start, size) = (word(file, header + 16), word(file, header + 20));
        file.get(start..start.checked_add(size)?).filter(|_| word(file, header + 4) != 8)?;
        let name = file.get(names + word(file, header)..)?.split(|&byte| byte == 0).next()?;
        let name = String::from_utf8_lossy(name).into_owned();
        Some(Part { name, header, bytes: start..start + size })
    });
    found.filter(|part| !part.bytes.is_empty()).collect()
}

/// Returns the starts of units, line tables, call frame entries and the like, all with a length
/// first.
pub(crate) fn lengths(file: &[u8], part: &Part) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = part.bytes.start;
    while at + 4 <= part.bytes.end && found.len() < 64 {
        found.push(at);
        at += 4 + word(file, at);
    }
    found
}

/// Returns the offsets of the numbers of an abbreviation table, as its reader would find them.
pub(crate) fn abbreviations(file: &[u8], part: &Part) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = part.bytes.start;
    while at < part.bytes.end {
        found.push(at);
        while at < part.bytes.end && file[at] & 0x80 != 0 {
            at += 1;
        }
        at += 1;
    }
    found
}
