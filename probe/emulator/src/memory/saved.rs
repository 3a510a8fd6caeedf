//! L1 and checkpoints: which lines were written since the last one, and the way back.
//!
//! Hardly a store pays for it. Lines that were not written since the last checkpoint are closed: the
//! fast loop leaves stores into them to the general one, which opens them. Lines that someone watches
//! for writes stay closed.

use super::pages::{Lines, PAGE_BYTES, PAGE_LINES, Pages, lines};
use super::{CODE, ETH_L1_BYTES, LINE_BYTES, OPEN, OPS, STALE, TENSIX_L1_BYTES, TileMemory};
use crate::decode::Op;
use crate::heap::{of_arc, of_vec};
use crate::watch::WriteWatch;
use std::ops::Range;
use std::sync::Arc;

/// The contents of a [`TileMemory`] at one moment.
#[derive(Debug, Clone)]
pub(crate) struct SavedMemory {
    pub(crate) pages: Pages,
    /// Lines with decoded instructions.
    code: Arc<[u32]>,
    /// Lines whose decoded instructions are out of date, with these.
    stale: Vec<(u32, [Op; OPS])>,
    touched: u8,
    tensix: bool,
}

impl SavedMemory {
    /// Returns the size in bytes.
    pub(crate) fn len(&self) -> usize {
        (if self.tensix { TENSIX_L1_BYTES } else { ETH_L1_BYTES }) as usize
    }

    /// Returns the bytes of what the same memory at an earlier moment has not in common.
    pub(crate) fn bytes_beyond(&self, earlier: Option<&Self>) -> usize {
        let pages = self.pages.bytes_beyond(earlier.map(|earlier| &earlier.pages));
        let same = earlier.is_some_and(|earlier| Arc::ptr_eq(&self.code, &earlier.code));
        pages + if same { 0 } else { of_arc(&self.code) } + of_vec(&self.stale)
    }
}

impl TileMemory {
    /// Notes that the line of an address differs from the last checkpoint, before it does.
    #[inline]
    pub(super) fn open_line(&mut self, at: usize) {
        let (page, line) = (at / PAGE_BYTES, at % PAGE_BYTES / LINE_BYTES as usize);
        if self.written.get(page).is_some_and(|written| written >> line & 1 == 0) {
            self.open_lines(page, 1 << line);
        }
    }

    /// Notes that the lines of a range differ from the last checkpoint, before they do.
    pub(super) fn open(&mut self, range: &Range<usize>) {
        for (page, lines) in lines(range) {
            if self.written.get(page).is_some_and(|written| written & lines != lines) {
                self.open_lines(page, lines);
            }
        }
    }

    #[cold]
    fn open_lines(&mut self, page: usize, lines: Lines) {
        self.written[page] |= lines;
        for flags in self.flags_of(page, lines) {
            *flags |= OPEN;
        }
        self.close_watched();
    }

    /// Returns the flags of lines of a page.
    fn flags_of(&mut self, page: usize, lines: Lines) -> impl Iterator<Item = &mut u8> {
        let flags = self.flags[page * PAGE_LINES..(page + 1) * PAGE_LINES].iter_mut();
        flags.enumerate().filter_map(move |(line, it)| (lines >> line & 1 == 1).then_some(it))
    }

    /// Keeps the fast loop from storing into lines that someone watches.
    fn close_watched(&mut self) {
        let Some(watch) = &self.write_watch else { return };
        for line in watch.lines(LINE_BYTES) {
            if let Some(flags) = self.flags.get_mut(line) {
                *flags &= !OPEN;
            }
        }
    }

    /// Shows a write to who watches for it, before it is made.
    #[inline]
    pub(super) fn show(&mut self, range: &Range<usize>, data: &[u8]) {
        if let Some(watch) = &mut self.write_watch {
            watch.see(range.start as u64, data);
        }
    }

    /// Watches for writes, in place of an earlier watch.
    pub(crate) fn watch_writes(&mut self, watch: Option<Box<WriteWatch>>) {
        self.write_watch = watch;
        self.close_watched();
    }

    /// Whether someone watches for writes to the word at an address.
    pub(crate) fn shows_writes(&self, addr: u32) -> bool {
        self.write_watch.as_ref().is_some_and(|watch| watch.covers(u64::from(addr & !3), 4))
    }

    /// Returns the contents. Pages that were not written share those of the last call; all writes since
    /// are from before cycle `written_by`.
    pub(crate) fn save(&mut self, written_by: u64) -> SavedMemory {
        let written = (0..).zip(&self.written).filter(|(_, lines)| **lines != 0);
        let written: Vec<(usize, Lines)> = written.map(|(page, lines)| (page, *lines)).collect();
        self.pages.take(&written, &self.bytes, written_by);
        for (page, lines) in written {
            self.written[page] = 0;
            for flags in self.flags_of(page, lines) {
                *flags &= !OPEN;
            }
        }
        let flags = &self.flags;
        let has_code = |line: &u32| flags[*line as usize] & CODE != 0;
        let code = self
            .code_lines
            .get_or_insert_with(|| (0..flags.len() as u32).filter(has_code).collect());
        let code = Arc::clone(code);
        let stale = self.stale.iter().map(|line| (*line, self.ops(*line)));
        SavedMemory {
            pages: self.pages.clone(),
            code,
            stale: stale.collect(),
            touched: self.touched,
            tensix: self.tensix,
        }
    }

    /// Returns the pages that were ever written before the last checkpoint, with their addresses.
    pub(crate) fn written_pages(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let page =
            |page: usize| (page * PAGE_BYTES, &self.bytes[page * PAGE_BYTES..][..PAGE_BYTES]);
        self.pages.present().map(page)
    }

    /// Creates a memory with these contents; the watches of its harts are not set.
    pub(crate) fn restored(saved: &SavedMemory) -> Self {
        let mut memory = if saved.tensix { Self::tensix() } else { Self::eth() };
        saved.pages.copy_to(&mut memory.bytes);
        // Instructions are decoded again when they are fetched, or before their bytes change.
        for line in saved.code.iter() {
            memory.flags[*line as usize] |= CODE;
        }
        for (line, ops) in &saved.stale {
            memory.flags[*line as usize] |= STALE;
            let first = *line as usize * OPS;
            memory.code[first..first + OPS].copy_from_slice(ops);
            memory.stale.push(*line);
        }
        (memory.pages, memory.touched) = (saved.pages.clone(), saved.touched);
        memory.code_lines = Some(Arc::clone(&saved.code));
        memory
    }

    fn ops(&self, line: u32) -> [Op; OPS] {
        let first = line as usize * OPS;
        let mut ops = [0; OPS];
        ops.copy_from_slice(&self.code[first..first + OPS]);
        ops
    }
}
