//! Mutations of an ELF: mostly of lengths, offsets, forms and references.

use crate::layout::{Part, abbreviations, lengths, parts, word};
use crate::random::Random;

const EDGES: [u32; 12] =
    [0, 1, 2, 4, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0, 0xffff_fffe, u32::MAX];

/// Forms, tags and attributes that readers treat specially.
const CODES: [u8; 40] = [
    0, 1, 2, 4, 5, 0x0b, 0x0d, 0x0f, 0x11, 0x12, 0x13, 0x16, 0x17, 0x18, 0x1c, 0x1d, 0x1f, 0x20,
    0x21, 0x25, 0x28, 0x2e, 0x2f, 0x31, 0x34, 0x38, 0x39, 0x3a, 0x3c, 0x41, 0x47, 0x49, 0x55, 0x58,
    0x69, 0x6b, 0x6e, 0x72, 0x73, 0x7f,
];

/// Returns one of the files with one to six mutations. A pair is two files after the length of the
/// first.
pub(crate) fn broken(files: &[Vec<u8>], pair: bool, random: &mut Random) -> Vec<u8> {
    let whole = &files[random.below(files.len())];
    if !pair {
        return alone(whole, files, random);
    }
    let length = word(whole, 0).min(whole.len().saturating_sub(4));
    let (mut first, mut second) = (whole[4..4 + length].to_vec(), whole[4 + length..].to_vec());
    match random.below(3) {
        0 => first = alone(&first, files, random),
        _ => second = alone(&second, files, random),
    }
    [&(first.len() as u32).to_le_bytes()[..], &first, &second].concat()
}

fn alone(file: &[u8], others: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut file = file.to_vec();
    for _ in 0..=random.below(6) {
        let parts = parts(&file);
        if file.is_empty() {
            break;
        }
        match random.below(12) {
            0 => header(&mut file, &parts, random),
            1 => program(&mut file, random),
            2 => length(&mut file, &parts, random),
            3 | 4 => code(&mut file, &parts, random),
            5 => reference(&mut file, &parts, random),
            6 => long_number(&mut file, &parts, random),
            7 => copy(&mut file, &parts, others, random),
            8 if random.below(8) == 0 => file.truncate(random.below(file.len())),
            _ => bytes(&mut file, &parts, random),
        }
    }
    file
}

fn put(file: &mut [u8], at: usize, value: u32) {
    if let Some(place) = file.get_mut(at..at + 4) {
        place.copy_from_slice(&value.to_le_bytes());
    }
}

/// Returns an interesting wrong value: an edge, nearly right, or from elsewhere in the file.
fn value(file: &[u8], now: usize, random: &mut Random) -> u32 {
    match random.below(4) {
        0 => random.pick(&EDGES),
        1 => (now as u32).wrapping_add(random.below(9) as u32).wrapping_sub(4),
        2 => random.below(file.len()) as u32,
        _ => word(file, random.below(file.len())) as u32,
    }
}

fn is_debug(part: &Part) -> bool {
    part.name.starts_with(".debug") || part.name.starts_with(".eh")
}

fn one<'p>(
    parts: &'p [Part],
    random: &mut Random,
    fits: impl Fn(&Part) -> bool,
) -> Option<&'p Part> {
    let fitting: Vec<&Part> = parts.iter().filter(|part| fits(part)).collect();
    (!fitting.is_empty()).then(|| fitting[random.below(fitting.len())])
}

/// Mutates a field of a section's header, or copies one of another section.
fn header(file: &mut [u8], parts: &[Part], random: &mut Random) {
    let Some(part) = one(parts, random, |_| true) else { return };
    let at = part.header + 4 * random.below(10);
    let new = match one(parts, random, |_| true) {
        Some(other) if random.below(2) == 0 => word(file, other.header + (at - part.header)) as u32,
        _ => value(file, word(file, at), random),
    };
    put(file, at, new);
}

/// Mutates a field of the file's header or of a program header.
fn program(file: &mut [u8], random: &mut Random) {
    let table = word(file, 0x1c);
    let at = match random.below(3) {
        0 => 0x10 + random.below(0x24),
        _ => table.saturating_add(4 * random.below(24)),
    };
    let new = value(file, word(file, at), random);
    put(file, at, new);
}

/// Mutates the length of a unit or of a table, or a field after it.
fn length(file: &mut [u8], parts: &[Part], random: &mut Random) {
    let Some(part) = one(parts, random, is_debug) else { return };
    let starts = lengths(file, part);
    if starts.is_empty() {
        return;
    }
    let at = random.pick(&starts) + [0, 0, 4, 6, 8, 12][random.below(6)];
    let new = value(file, word(file, at), random);
    put(file, at, new);
}

/// Mutates a number in an abbreviation table.
fn code(file: &mut [u8], parts: &[Part], random: &mut Random) {
    let wanted = |part: &Part| part.name.starts_with(".debug_abbrev");
    let Some(part) = one(parts, random, wanted) else { return };
    let at = random.pick(&abbreviations(file, part));
    file[at] = random.pick(&CODES);
}

/// Writes an offset into the same section, so that references form cycles.
fn reference(file: &mut [u8], parts: &[Part], random: &mut Random) {
    let Some(part) = one(parts, random, is_debug) else { return };
    let at = part.bytes.start + random.below(part.bytes.len());
    let new = random.below(part.bytes.len()) as u32;
    put(file, at, new);
}

/// Writes an overlong variable-length number.
fn long_number(file: &mut [u8], parts: &[Part], random: &mut Random) {
    let Some(part) = one(parts, random, is_debug) else { return };
    let at = part.bytes.start + random.below(part.bytes.len());
    let end = (at + 1 + random.below(11)).min(part.bytes.end);
    let fill = random.pick(&[0x80, 0xff]);
    file[at..end].fill(fill);
    if let Some(last) = file.get_mut(end) {
        *last = random.pick(&[0, 1, 0x7f]);
    }
}

/// Copies bytes of the same section, or of another file, to another place.
fn copy(file: &mut [u8], parts: &[Part], others: &[Vec<u8>], random: &mut Random) {
    let Some(part) = one(parts, random, is_debug) else { return };
    let to = part.bytes.start + random.below(part.bytes.len());
    let count = (1 + random.below(48)).min(part.bytes.end - to);
    let from = if random.below(2) == 0 {
        file.to_vec()
    } else {
        others[random.below(others.len())].clone()
    };
    let start = match random.below(2) {
        0 => part.bytes.start + random.below(part.bytes.len()),
        _ => random.below(from.len()),
    };
    if let Some(bytes) = from.get(start..start + count) {
        file[to..to + count].copy_from_slice(bytes);
    }
}

/// Mutates bytes anywhere, or in debug sections.
fn bytes(file: &mut [u8], parts: &[Part], random: &mut Random) {
    let range = match one(parts, random, is_debug).filter(|_| random.below(8) != 0) {
        Some(part) => part.bytes.clone(),
        None => 0..file.len(),
    };
    let at = range.start + random.below(range.len());
    match random.below(4) {
        0 => file[at] ^= 1 << random.below(8),
        1 => file[at] = random.pick(&CODES),
        2 => file[at] = random.next() as u8,
        _ => {
            let end = (at + 1 + random.below(12)).min(range.end);
            let fill = random.pick(&[0, 1, 0x7f, 0x80, 0xff]);
            file[at..end].fill(fill);
        }
    }
}
