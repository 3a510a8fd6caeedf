//! The L1 of one tile, with its decoded code and the lines that sleeping harts watch.
//!
//! All stores (by harts, NoC deliveries, the host, Ethernet links) go through this type. So decoded
//! instructions outlive their bytes only as the rule in [`crate::hart`] allows, and each change to
//! what a sleeping hart has read wakes it.

pub(crate) mod atomic;
pub(crate) mod pages;
mod saved;
mod zeroed;

pub(crate) use saved::SavedMemory;

use crate::decode::{self, Op};
use crate::watch::WriteWatch;
use pages::{Lines, PAGE_BYTES, Pages};
use std::ops::Range;
use std::sync::Arc;
use zeroed::Zeroed;

/// L1 bytes of a Tensix tile (1464 KiB, wormhole.md 4.1).
pub const TENSIX_L1_BYTES: u32 = 1464 * 1024;
/// L1 bytes of an Ethernet tile (256 KiB, wormhole.md 5.1).
pub const ETH_L1_BYTES: u32 = 256 * 1024;

/// First register address; below it there is L1 or nothing.
pub(crate) const REGISTERS: u32 = 0xFFB0_0000;

/// Bytes that share one byte of flags.
pub(crate) const LINE_BYTES: u32 = pages::LINE_BYTES as u32;
/// Flag of a line: instructions were decoded from it. The lower bits are the harts that watch the
/// line while they sleep.
pub(crate) const CODE: u8 = 0x80;
/// Flag of a line: its decoded instructions are out of date, and are dropped at the next boundary.
const STALE: u8 = 0x40;
/// Flag of a line: it was written since the last checkpoint, and nobody watches for writes to it. The
/// fast loop stores only into lines with this flag and no other.
pub(crate) const OPEN: u8 = 0x20;
/// Flags of a line: the harts that watch it.
const WATCHES: u8 = 0x1F;
/// Instructions of a line.
const OPS: usize = LINE_BYTES as usize / 4;

/// An access outside the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfRange {
    /// L1 address of the first byte.
    pub addr: u32,
    /// Number of bytes.
    pub len: usize,
}

/// The L1 of a tile: initially zero, and committed by the host on the first write.
#[derive(Debug, Clone)]
pub struct TileMemory {
    pub(crate) bytes: Zeroed<u8>,
    pub(crate) flags: Zeroed<u8>,
    pub(crate) code: Zeroed<Op>,
    /// Watch bits of the harts whose lines have changed since the group last took them.
    pub(crate) touched: u8,
    /// Lines whose decoded instructions are dropped at the next boundary, because of a store into
    /// them.
    pub(crate) stale: Vec<u32>,
    tensix: bool,
    /// The pages as the last checkpoint has them.
    pages: Pages,
    /// The lines of each page that were written since.
    written: Vec<Lines>,
    /// Lines with decoded instructions, if none was decoded or dropped since the last checkpoint.
    code_lines: Option<Arc<[u32]>>,
    /// Who wants to know of writes.
    pub(crate) write_watch: Option<Box<WriteWatch>>,
}

impl TileMemory {
    /// Creates the L1 of a Tensix tile, all zero.
    pub fn tensix() -> Self {
        Self::new(TENSIX_L1_BYTES, true)
    }

    /// Creates the L1 of an Ethernet tile, all zero.
    pub fn eth() -> Self {
        Self::new(ETH_L1_BYTES, false)
    }

    fn new(len: u32, tensix: bool) -> Self {
        Self {
            bytes: Zeroed::new(len as usize),
            flags: Zeroed::new((len / LINE_BYTES) as usize),
            code: Zeroed::new((len / 4) as usize),
            touched: 0,
            stale: Vec::new(),
            tensix,
            pages: Pages::default(),
            written: vec![0; len as usize / PAGE_BYTES],
            code_lines: None,
            write_watch: None,
        }
    }

    /// Returns the size in bytes.
    pub fn len(&self) -> u32 {
        self.bytes.len() as u32
    }

    /// Always returns false: a tile has L1.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn range(&self, addr: u32, len: usize) -> Result<Range<usize>, OutOfRange> {
        let start = addr as usize;
        match start.checked_add(len) {
            Some(end) if end <= self.bytes.len() => Ok(start..end),
            _ => Err(OutOfRange { addr, len }),
        }
    }

    /// Returns the bytes at an L1 address.
    pub fn slice(&self, addr: u32, len: usize) -> Result<&[u8], OutOfRange> {
        let range = self.range(addr, len)?;
        Ok(&self.bytes[range])
    }

    /// Copies bytes out.
    pub fn read(&self, addr: u32, out: &mut [u8]) -> Result<(), OutOfRange> {
        out.copy_from_slice(self.slice(addr, out.len())?);
        Ok(())
    }

    /// Reads the little-endian word at an L1 address of any alignment.
    pub fn read_u32(&self, addr: u32) -> Result<u32, OutOfRange> {
        let mut word = [0; 4];
        self.read(addr, &mut word)?;
        Ok(u32::from_le_bytes(word))
    }

    /// Stores bytes for a producer outside the harts of this tile (NoC, host, link). The tile's
    /// harts must have run up to the present cycle. Instructions already decoded there are executed
    /// up to the next boundary.
    pub fn write(&mut self, addr: u32, data: &[u8]) -> Result<(), OutOfRange> {
        let range = self.range(addr, data.len())?;
        if data.is_empty() {
            return Ok(());
        }
        let lines = range.start / LINE_BYTES as usize..=(range.end - 1) / LINE_BYTES as usize;
        if self.flags[lines.clone()].iter().any(|&flags| flags != OPEN) {
            self.open(&range);
            self.show(&range, data);
            if self.bytes[range.clone()] != *data {
                for line in lines {
                    self.changed(line as u32);
                }
            }
        }
        self.bytes[range].copy_from_slice(data);
        Ok(())
    }

    /// Stores one little-endian word; see [`TileMemory::write`].
    pub fn write_u32(&mut self, addr: u32, value: u32) -> Result<(), OutOfRange> {
        self.write(addr, &value.to_le_bytes())
    }

    /// Stores for a hart of this tile: `data` of 1, 2 or 4 bytes inside one line. Returns whether a
    /// byte changed.
    pub(crate) fn store_by_hart(&mut self, addr: u32, data: &[u8]) -> Result<bool, OutOfRange> {
        let range = self.range(addr, data.len())?;
        self.open_line(range.start);
        self.show(&range, data);
        if self.bytes[range.clone()] == *data {
            return Ok(false);
        }
        self.changed(addr / LINE_BYTES);
        self.bytes[range].copy_from_slice(data);
        Ok(true)
    }

    /// Whether instructions were decoded from the line of an address.
    pub(crate) fn holds_code(&self, addr: u32) -> bool {
        self.flags.get((addr / LINE_BYTES) as usize).is_some_and(|flags| flags & CODE != 0)
    }

    /// Sets a word that a sleeping hart of this tile changes, and that nobody else watches.
    pub(crate) fn set_word(&mut self, addr: u32, value: u32) {
        if let Ok(range) = self.range(addr & !3, 4) {
            self.open_line(range.start);
        }
        if let Some(word) = self.bytes.as_chunks_mut::<4>().0.get_mut((addr / 4) as usize) {
            *word = value.to_le_bytes();
        }
    }

    /// Undoes a store by a hart of this tile into an open line; false outside L1.
    pub(crate) fn put_back(&mut self, addr: u32, old: &[u8]) -> bool {
        let Ok(range) = self.range(addr, old.len()) else { return false };
        self.open_line(range.start);
        self.bytes[range].copy_from_slice(old);
        true
    }

    /// Drops decoded instructions that are out of date. Call it at boundaries only.
    pub(crate) fn drop_stale(&mut self) {
        while let Some(line) = self.stale.pop() {
            self.drop_code(line);
        }
    }

    /// Records a change to a line before it is made.
    fn changed(&mut self, line: u32) {
        let flags = self.flags[line as usize];
        self.touched |= flags & WATCHES;
        if flags & (CODE | STALE) == CODE {
            if decode::kind(self.code[line as usize * OPS]) == decode::UNDECODED {
                self.decode_line(line);
            }
            self.flags[line as usize] |= STALE;
            self.stale.push(line);
        }
    }

    fn drop_code(&mut self, line: u32) {
        self.flags[line as usize] &= !(CODE | STALE);
        self.code_lines = None;
        let first = line as usize * OPS;
        self.code[first..first + OPS].fill(0);
    }

    /// Returns the decoded instruction at a word-aligned L1 address, and decodes its line if
    /// necessary. `None` outside L1.
    pub(crate) fn fetch(&mut self, pc: u32) -> Option<Op> {
        let index = (pc / 4) as usize;
        let op = *self.code.get(index)?;
        if decode::kind(op) != decode::UNDECODED {
            return Some(op);
        }
        self.decode_line(pc / LINE_BYTES);
        self.code.get(index).copied()
    }

    fn decode_line(&mut self, line: u32) {
        let first = line * LINE_BYTES;
        let words = self.bytes[first as usize..(first + LINE_BYTES) as usize].chunks_exact(4);
        for (offset, word) in words.enumerate() {
            let pc = first + offset as u32 * 4;
            let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            self.code[(pc / 4) as usize] = decode::decode(word, pc, 0, self.tensix);
        }
        self.flags[line as usize] |= CODE;
        self.code_lines = None;
    }

    /// Adds a watch on a line for a hart. Returns true if the watch is new; lines outside the
    /// memory never change.
    pub(crate) fn watch(&mut self, line: u32, bit: u8) -> bool {
        let Some(flags) = self.flags.get_mut(line as usize) else { return false };
        let new = *flags & bit == 0;
        *flags |= bit;
        new
    }

    /// Drops a watch.
    pub(crate) fn unwatch(&mut self, line: u32, bit: u8) {
        self.flags[line as usize] &= !bit;
    }
}
