//! Sets of texts: the windows that distinguish them, and the text that is in L1.

use crate::text::{Difference, TextWindow, bytes_of, first_difference, in_l1, samples, stretches};
use layouts::{ChipLayout, CoreId};
use machine::snapshot::{AccessError, Snapshot};
use symbols::Elf;

/// Size of a window at a difference of two texts: the least that a transaction reads.
const DIFFERENCE_BYTES: u32 = 16;

/// Texts at their linked addresses, and the windows that distinguish them.
#[derive(Debug, Default)]
pub(super) struct TextSet {
    texts: Vec<Text>,
    windows: Vec<TextWindow>,
}

/// A text with the catalog entries that have it.
#[derive(Debug)]
struct Text {
    stretches: Vec<(u32, Vec<u8>)>,
    entries: Vec<usize>,
}

/// The result of comparing a set with a snapshot.
#[derive(Clone, Debug, Default)]
pub(super) struct TextVerdict {
    /// The entries whose text is in L1, grouped by equal texts.
    pub(super) matches: Vec<Vec<usize>>,
    /// Without a match: the nearest entry and its first difference.
    pub(super) nearest: Option<(usize, Difference)>,
    /// L1 address of the matching or nearest text.
    pub(super) at: u64,
    /// Why it could not be read.
    pub(super) unread: Option<AccessError>,
}

impl Text {
    fn parts(&self) -> Vec<(u32, &[u8])> {
        self.stretches.iter().map(|(addr, bytes)| (*addr, bytes.as_slice())).collect()
    }
}

impl TextSet {
    /// Adds the text of an entry.
    pub(super) fn add(&mut self, entry: usize, elf: &Elf) {
        let stretches: Vec<_> =
            stretches(elf).into_iter().map(|(addr, bytes)| (addr, bytes.to_vec())).collect();
        if stretches.is_empty() {
            return;
        }
        match self.texts.iter_mut().find(|text| text.stretches == stretches) {
            Some(text) => text.entries.push(entry),
            None => self.texts.push(Text { stretches, entries: vec![entry] }),
        }
    }

    /// Chooses the windows: samples of each text, and a difference of each pair with equal samples.
    pub(super) fn finish(&mut self) {
        let mut windows: Vec<TextWindow> = Vec::new();
        for (index, text) in self.texts.iter().enumerate() {
            let whole = text.stretches.iter();
            let whole = whole.map(|(addr, b)| TextWindow { addr: *addr, len: b.len() as u32 });
            windows.extend(whole.flat_map(samples));
            for other in &self.texts[..index] {
                let differs =
                    |w: &TextWindow| bytes_of(&text.parts(), *w) != bytes_of(&other.parts(), *w);
                if !windows.iter().any(differs) {
                    windows.extend(difference_window(text, other));
                }
            }
        }
        windows.sort_unstable();
        windows.dedup();
        self.windows = windows;
    }

    /// Returns all windows.
    pub(super) fn windows(&self) -> &[TextWindow] {
        &self.windows
    }

    /// Returns the windows in the text of an entry.
    pub(super) fn windows_of(&self, entry: usize) -> Vec<TextWindow> {
        let text = self.texts.iter().find(|text| text.entries.contains(&entry));
        let parts = text.map_or_else(Vec::new, Text::parts);
        self.windows.iter().filter(|w| bytes_of(&parts, **w).is_some()).copied().collect()
    }

    /// Compares the texts with L1, within these windows.
    pub(super) fn judge(
        &self,
        layout: &ChipLayout,
        core: CoreId,
        windows: &[TextWindow],
        snapshot: &Snapshot,
    ) -> TextVerdict {
        let mut verdict = TextVerdict::default();
        let mut best = None;
        for text in &self.texts {
            let mut differ: Vec<Difference> = Vec::new();
            let mut unread = None;
            let parts = text.parts();
            for window in windows {
                let Some((expected, addr)) =
                    bytes_of(&parts, *window).zip(in_l1(layout, core, window.addr, 0))
                else {
                    continue;
                };
                match snapshot.bytes(addr, window.len) {
                    Ok(found) => differ.extend(first_difference(addr.offset, expected, found)),
                    Err(reason) => unread = Some(reason),
                }
            }
            let start = text.stretches.first().and_then(|(addr, _)| in_l1(layout, core, *addr, 0));
            let start = start.map_or(0, |addr| addr.offset);
            if unread.is_some() {
                verdict.unread = unread;
                verdict.at = start;
            } else if differ.is_empty() {
                verdict.matches.push(text.entries.clone());
                verdict.at = start;
            } else if best.is_none_or(|best| differ.len() < best) {
                best = Some(differ.len());
                let first = differ.into_iter().min_by_key(|difference| difference.at);
                verdict.nearest = text.entries.first().copied().zip(first);
                if verdict.matches.is_empty() {
                    verdict.at = start;
                }
            }
        }
        verdict
    }
}

/// Returns a window at the first difference of two texts.
fn difference_window(text: &Text, other: &Text) -> Option<TextWindow> {
    let others = other.parts();
    text.stretches.iter().find_map(|(addr, bytes)| {
        let (at, theirs) = others.iter().find(|(at, _)| at == addr)?;
        let place = first_difference((*at).into(), bytes, theirs)?.at as u32;
        let len = DIFFERENCE_BYTES.min(*addr + bytes.len().min(theirs.len()) as u32 - place);
        Some(TextWindow { addr: place, len })
    })
}

/// Texts of kernels by length and hash: the texts themselves are too many to keep.
#[derive(Debug, Default)]
pub(super) struct Fingerprints {
    fingerprints: Vec<Fingerprint>,
}

#[derive(Debug)]
struct Fingerprint {
    len: usize,
    hash: u64,
    /// Those of its halves.
    halves: [u64; 2],
    entry: usize,
}

impl Fingerprints {
    /// Adds the first range of an entry's text.
    pub(super) fn add(&mut self, entry: usize, elf: &Elf) {
        if let Some((_, bytes)) = stretches(elf).first() {
            self.add_text(entry, bytes);
        }
    }

    fn add_text(&mut self, entry: usize, bytes: &[u8]) {
        let (len, hash) = (bytes.len(), Hash::default().over(bytes).0);
        self.fingerprints.push(Fingerprint { len, hash, halves: halves(bytes), entry });
    }

    pub(super) fn finish(&mut self) {
        self.fingerprints.sort_by_key(|fingerprint| (fingerprint.len, fingerprint.entry));
    }

    /// Returns the lengths of the texts in bytes, longest first.
    pub(super) fn lengths(&self) -> Vec<u32> {
        let mut lengths: Vec<_> = self.fingerprints.iter().map(|it| it.len as u32).collect();
        lengths.dedup();
        lengths.reverse();
        lengths
    }

    /// Returns the entries whose text is a prefix of these bytes: those of equal texts together, the
    /// longest first.
    pub(super) fn matches(&self, bytes: &[u8]) -> Vec<Vec<usize>> {
        let (mut hash, mut hashed) = (Hash::default(), 0);
        let mut found = Vec::new();
        for same in self.fingerprints.chunk_by(|a, b| a.len == b.len) {
            let len = same.first().map_or(0, |fingerprint| fingerprint.len);
            let Some(more) = bytes.get(..len).and_then(|it| it.get(hashed..)) else { break };
            (hash, hashed) = (hash.over(more), len - len % WORD);
            let here = same
                .iter()
                .filter(|fingerprint| fingerprint.hash == hash.0)
                .map(|fingerprint| fingerprint.entry);
            let here: Vec<usize> = here.collect();
            if !here.is_empty() {
                found.push(here);
            }
        }
        found.reverse();
        found
    }

    /// Returns the entries of whose text one half is in the beginning of these bytes, where it should be.
    pub(super) fn like(&self, bytes: &[u8]) -> Vec<usize> {
        let mut found = Vec::new();
        for same in self.fingerprints.chunk_by(|a, b| a.len == b.len) {
            let len = same.first().map_or(0, |fingerprint| fingerprint.len);
            let Some(here) = bytes.get(..len).filter(|_| len >= LEAST_LIKE) else { continue };
            let [first, second] = halves(here);
            let is_like = |it: &&Fingerprint| it.halves[0] == first || it.halves[1] == second;
            found.extend(same.iter().filter(is_like).map(|it| it.entry));
        }
        found
    }
}

/// Whether a text of which some words differ was overwritten: another build of the same source differs in
/// the operands of its instructions, if in few of them.
pub(super) fn is_overwritten(text: &[u8], found: &[u8]) -> bool {
    let word = |bytes: &[u8; WORD]| u32::from_le_bytes(*bytes);
    let (text, found) = (text.as_chunks().0, found.as_chunks().0);
    let pairs = text.iter().zip(found).map(|(a, b)| word(a) ^ word(b));
    let differences: Vec<u32> = pairs.filter(|it| *it != 0).collect();
    let others = differences.iter().filter(|it| *it & OPCODE != 0).count();
    2 * others > differences.len() && 4 * differences.len() < text.len()
}

/// The opcode of an instruction.
const OPCODE: u32 = 0x7F;

/// Shorter texts are like others.
const LEAST_LIKE: usize = 128;

/// Returns the hashes of the halves of a text.
fn halves(bytes: &[u8]) -> [u64; 2] {
    let (first, second) = bytes.split_at(bytes.len() / 2 / WORD * WORD);
    [first, second].map(|half| Hash::default().over(half).0)
}

/// Size of a word of a text, in bytes.
const WORD: usize = 4;

/// An FNV-1a hash of whole words that can be continued; an instruction of half a word at the end is left
/// out.
#[derive(Clone, Copy)]
struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Hash {
    fn over(self, bytes: &[u8]) -> Self {
        let (words, _) = bytes.as_chunks::<WORD>();
        let step = |hash: u64, word: &[u8; WORD]| {
            (hash ^ u64::from(u32::from_le_bytes(*word))).wrapping_mul(0x100_0000_01B3)
        };
        Self(words.iter().fold(self.0, step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_a_range_begins_with_are_found_the_longest_first() {
        let mut fingerprints = Fingerprints::default();
        // Two end with half a word.
        let texts: [&[u8]; 5] = [b"abcdef", b"abcdefgh", b"abcdefgh", b"abcxefgh", b"abcdefghij"];
        for (entry, text) in texts.into_iter().enumerate() {
            fingerprints.add_text(entry, text);
        }
        fingerprints.finish();
        assert_eq!(fingerprints.lengths(), [10, 8, 6]);
        assert_eq!(fingerprints.matches(b"abcdefghijk"), [vec![4], vec![1, 2], vec![0]]);
        assert_eq!(fingerprints.matches(b"abcdefg"), [[0]]);
        assert!(fingerprints.matches(b"xbcdefghijk").is_empty());
    }

    #[test]
    fn another_build_is_no_overwritten_text() {
        // addi x10, x0, N.
        let text: Vec<u8> = (0..64_u32).flat_map(|n| (n << 20 | 0x513).to_le_bytes()).collect();
        let mut fingerprints = Fingerprints::default();
        fingerprints.add_text(3, &text);
        fingerprints.finish();
        let altered = |at: usize, bytes: &[u8]| {
            let mut found = text.clone();
            found[at..at + bytes.len()].copy_from_slice(bytes);
            (fingerprints.like(&found), is_overwritten(&text, &found))
        };
        assert_eq!(altered(200, &0xDEAD_BEEF_u32.to_le_bytes()), (vec![3], true));
        assert_eq!(altered(20, &[0; 32]), (vec![3], true));
        assert_eq!(altered(20, &(7 << 20 | 0x513_u32).to_le_bytes()), (vec![3], false));
        assert_eq!(altered(0, &[0; 256]), (vec![], false));
        assert!(!is_overwritten(&text, &text));
    }
}
