//! Many texts at once: which windows tell them apart, and which of them stands in L1.

use crate::images::catalog::CatalogEntry;
use crate::images::text::{
    Difference, TextWindow, bytes_of, first_difference, in_l1, samples, stretches,
};
use layouts::{ChipLayout, CoreId, NocAddr};
use machine::snapshot::{AccessError, Snapshot};
use symbols::Symbols;

/// Bytes read around a place where two texts differ: a transaction brings no less.
const APART_BYTES: u32 = 16;

/// Texts at their linked addresses, and the windows that tell them apart.
#[derive(Debug, Default)]
pub(super) struct TextSet {
    texts: Vec<Text>,
    windows: Vec<TextWindow>,
}

/// A text with the entries that have it.
#[derive(Debug)]
struct Text {
    stretches: Vec<(u32, Vec<u8>)>,
    entries: Vec<usize>,
}

/// What a look tells of a set.
#[derive(Debug, Default)]
pub(super) struct TextVerdict {
    /// The entries whose text stands there, those with the same text together.
    pub(super) matches: Vec<Vec<usize>>,
    /// Where none does: the nearest one and its first difference.
    pub(super) nearest: Option<(usize, Difference)>,
    /// Where the text of the nearest begins, or would.
    pub(super) at: u64,
    /// What kept it from being read.
    pub(super) unread: Option<AccessError>,
}

impl Text {
    fn parts(&self) -> Vec<(u32, &[u8])> {
        self.stretches.iter().map(|(addr, bytes)| (*addr, bytes.as_slice())).collect()
    }
}

impl TextSet {
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Adds the text of an entry.
    pub(super) fn add(&mut self, entry: usize, symbols: &Symbols) {
        let stretches: Vec<_> =
            stretches(symbols).into_iter().map(|(addr, bytes)| (addr, bytes.to_vec())).collect();
        if stretches.is_empty() {
            return;
        }
        match self.texts.iter_mut().find(|text| text.stretches == stretches) {
            Some(text) => text.entries.push(entry),
            None => self.texts.push(Text { stretches, entries: vec![entry] }),
        }
    }

    /// Chooses the windows: samples of each text, and for each pair that they leave the same a place
    /// where it differs.
    pub(super) fn finish(&mut self) {
        let mut windows: Vec<TextWindow> = Vec::new();
        for (index, text) in self.texts.iter().enumerate() {
            let whole = text.stretches.iter();
            let whole = whole.map(|(addr, b)| TextWindow { addr: *addr, len: b.len() as u32 });
            windows.extend(whole.flat_map(samples));
            for other in &self.texts[..index] {
                let told =
                    |w: &TextWindow| bytes_of(&text.parts(), *w) != bytes_of(&other.parts(), *w);
                if !windows.iter().any(told) {
                    windows.extend(apart(text, other));
                }
            }
        }
        windows.sort_unstable();
        windows.dedup();
        self.windows = windows;
    }

    /// The places to read on a core.
    pub(super) fn places(
        &self,
        layout: &'static ChipLayout,
        core: CoreId,
    ) -> impl Iterator<Item = (NocAddr, u32)> {
        self.windows.iter().filter_map(move |w| Some((in_l1(layout, core, w.addr, 0)?, w.len)))
    }

    /// The windows that lie in the text of an entry.
    pub(super) fn windows_of(&self, entry: usize) -> Vec<TextWindow> {
        let text = self.texts.iter().find(|text| text.entries.contains(&entry));
        let parts = text.map_or_else(Vec::new, Text::parts);
        self.windows.iter().filter(|w| bytes_of(&parts, **w).is_some()).copied().collect()
    }

    /// Which of the texts stands in L1.
    pub(super) fn judge(
        &self,
        layout: &ChipLayout,
        core: CoreId,
        snapshot: &Snapshot,
    ) -> TextVerdict {
        let mut verdict = TextVerdict::default();
        let mut best = None;
        for text in &self.texts {
            let mut differ: Vec<Difference> = Vec::new();
            let mut unread = None;
            let parts = text.parts();
            for window in &self.windows {
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

/// A window around the first place where two texts differ.
fn apart(text: &Text, other: &Text) -> Option<TextWindow> {
    let others = other.parts();
    text.stretches.iter().find_map(|(addr, bytes)| {
        let (at, theirs) = others.iter().find(|(at, _)| at == addr)?;
        let place = first_difference((*at).into(), bytes, theirs)?.at as u32;
        let len = APART_BYTES.min(*addr + bytes.len().min(theirs.len()) as u32 - place);
        Some(TextWindow { addr: place, len })
    })
}

/// Texts of kernels by length and hash: too many to be kept.
#[derive(Debug, Default)]
pub(super) struct Prints {
    prints: Vec<Print>,
}

#[derive(Debug)]
struct Print {
    len: usize,
    hash: u64,
    entry: usize,
}

impl Prints {
    /// Takes the first stretch of an entry's text.
    pub(super) fn add(&mut self, entry: usize, symbols: &Symbols) {
        if let Some((_, bytes)) = stretches(symbols).first() {
            let print = Print { len: bytes.len(), hash: Hash::default().over(bytes).0, entry };
            self.prints.push(print);
        }
    }

    pub(super) fn finish(&mut self) {
        self.prints.sort_by_key(|print| (print.len, print.entry));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.prints.is_empty()
    }

    /// Length of the longest text in bytes.
    pub(super) fn longest(&self) -> u32 {
        self.prints.last().map_or(0, |print| print.len as u32)
    }

    /// The entries whose text these bytes begin with, those with the longest text first.
    pub(super) fn matches(&self, bytes: &[u8]) -> Vec<usize> {
        let (mut hash, mut hashed) = (Hash::default(), 0);
        let mut found = Vec::new();
        for same in self.prints.chunk_by(|a, b| a.len == b.len) {
            let len = same.first().map_or(0, |print| print.len);
            let Some(more) = bytes.get(hashed..len) else { break };
            (hash, hashed) = (hash.over(more), len);
            let here = same.iter().filter(|print| print.hash == hash.0).map(|print| print.entry);
            found.splice(0..0, here.collect::<Vec<_>>());
        }
        found
    }
}

/// FNV-1a, which can go on where it stopped.
#[derive(Clone, Copy)]
struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Hash {
    fn over(self, bytes: &[u8]) -> Self {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3);
        Self(bytes.iter().fold(self.0, step))
    }
}

/// Opens the text of an entry only.
pub(super) fn text_of(entry: &CatalogEntry) -> Result<Symbols, symbols::Error> {
    Symbols::open(entry.placed.as_ref().unwrap_or(&entry.path)).map(|(symbols, _)| symbols)
}
