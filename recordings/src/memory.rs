//! The last known bytes of a chip, by blocks: what a moment's changes are relative to.

use crate::format::StoredSpan;
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of a block.
const BLOCK: usize = 256;
/// Words of a block's bits.
const WORDS: usize = BLOCK / 64;

/// A block of a tile's addresses.
#[derive(Clone, Debug)]
struct Block {
    bytes: [u8; BLOCK],
    /// A bit for each byte that is known.
    known: [u64; WORDS],
}

impl Default for Block {
    fn default() -> Self {
        Self { bytes: [0; BLOCK], known: [0; WORDS] }
    }
}

impl Block {
    fn is_known(&self, at: usize, len: usize) -> bool {
        masks(at, len).all(|(word, mask)| self.known[word] & mask == mask)
    }

    fn learn(&mut self, at: usize, len: usize) {
        for (word, mask) in masks(at, len) {
            self.known[word] |= mask;
        }
    }
}

/// Returns the words of a block's bits that a range touches, each with the bits of the range.
fn masks(at: usize, len: usize) -> impl Iterator<Item = (usize, u64)> {
    let (mut at, end) = (at, at + len);
    std::iter::from_fn(move || {
        let (word, bit) = (at / 64, at % 64);
        let bits = (64 - bit).min(end - at);
        at += bits;
        (bits > 0).then(|| (word, u64::MAX >> (64 - bits) << bit))
    })
}

/// The known bytes of one chip. Copies share their blocks until one of them changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    blocks: HashMap<(u8, u8, u64), Arc<Block>>,
}

impl Memory {
    /// Makes all bytes of a range known; those that were not are 0.
    pub(crate) fn learn(&mut self, span: StoredSpan) {
        for part in parts(span) {
            let block = Arc::make_mut(self.blocks.entry(part.key).or_default());
            block.learn(part.at, part.len);
        }
    }

    /// Stores bytes from `offset` of a tile on, and makes them known.
    pub(crate) fn store(&mut self, (x, y, offset): (u8, u8, u64), bytes: &[u8]) {
        for part in parts((x, y, offset, bytes.len() as u32)) {
            let block = Arc::make_mut(self.blocks.entry(part.key).or_default());
            block.bytes[part.at..part.at + part.len]
                .copy_from_slice(&bytes[part.done..part.done + part.len]);
            block.learn(part.at, part.len);
        }
    }

    /// Calls `changed` with each part of `bytes`, at its position, that is unknown or different.
    pub(crate) fn compare(
        &self,
        (x, y, offset): (u8, u8, u64),
        bytes: &[u8],
        changed: &mut impl FnMut(usize, &[u8]),
    ) {
        for part in parts((x, y, offset, bytes.len() as u32)) {
            let new = &bytes[part.done..part.done + part.len];
            match self.blocks.get(&part.key).filter(|block| block.is_known(part.at, part.len)) {
                None => changed(part.done, new),
                Some(block) => {
                    let old = &block.bytes[part.at..part.at + part.len];
                    differing(old, new, &mut |at, run| changed(part.done + at, run));
                }
            }
        }
    }

    /// Returns the parts of a range that are known: position and bytes.
    pub(crate) fn known(&self, span: StoredSpan) -> Vec<(u64, Vec<u8>)> {
        let mut runs: Vec<(u64, Vec<u8>)> = Vec::new();
        for part in parts(span) {
            let Some(block) = self.blocks.get(&part.key) else { continue };
            let start = part.done as u64;
            let slice = &block.bytes[part.at..part.at + part.len];
            if block.is_known(part.at, part.len) {
                extend(&mut runs, start, slice);
            } else {
                for (i, byte) in slice.iter().enumerate() {
                    if block.is_known(part.at + i, 1) {
                        extend(&mut runs, start + i as u64, &[*byte]);
                    }
                }
            }
        }
        runs
    }
}

fn extend(runs: &mut Vec<(u64, Vec<u8>)>, start: u64, bytes: &[u8]) {
    match runs.last_mut() {
        Some((from, run)) if *from + run.len() as u64 == start => run.extend(bytes),
        _ => runs.push((start, bytes.to_vec())),
    }
}

/// The part of a range in one block.
struct Part {
    key: (u8, u8, u64),
    /// The position in the block.
    at: usize,
    len: usize,
    /// Bytes of the range before this part.
    done: usize,
}

fn parts((x, y, offset, len): StoredSpan) -> impl Iterator<Item = Part> {
    let len = len as usize;
    let mut done = 0;
    std::iter::from_fn(move || {
        let from = offset.wrapping_add(done as u64);
        let at = (from % BLOCK as u64) as usize;
        let part = (len - done).min(BLOCK - at);
        let found = Part { key: (x, y, from / BLOCK as u64), at, len: part, done };
        done += part;
        (part > 0).then_some(found)
    })
}

/// Unchanged bytes that cost less than the beginning of another run.
const SHORT: usize = 4;

/// Calls `changed` with the runs that differ; those with a short distance are joined.
fn differing(old: &[u8], new: &[u8], changed: &mut impl FnMut(usize, &[u8])) {
    if old == new {
        return;
    }
    let mut run: Option<(usize, usize)> = None;
    for (i, (before, after)) in old.iter().zip(new).enumerate() {
        if before == after {
            continue;
        }
        match &mut run {
            Some((_, end)) if i - *end <= SHORT => *end = i + 1,
            _ => {
                if let Some((start, end)) = run.replace((i, i + 1)) {
                    changed(start, &new[start..end]);
                }
            }
        }
    }
    if let Some((start, end)) = run {
        changed(start, &new[start..end]);
    }
}
