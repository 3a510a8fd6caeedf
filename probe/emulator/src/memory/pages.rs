//! The pages of a tile's L1 as checkpoints keep them: one copy of each, however many checkpoints
//! have it in common, the lines that were written after it, and when each line was written.

use crate::heap::{of_arc, of_vec};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a page.
pub(crate) const PAGE_BYTES: usize = 4096;

/// Bytes of a line.
pub(crate) const LINE_BYTES: usize = 32;

/// Lines of a page.
pub(crate) const PAGE_LINES: usize = PAGE_BYTES / LINE_BYTES;

/// A bit for each line of a page.
pub(crate) type Lines = u128;

/// Most times that a page keeps.
const MOST_TIMES: usize = 8;

/// Most lines of a page that are kept beside it; of more, the page is copied.
const MOST_LINES_OF_PAGE: u32 = 8;

/// Most lines of a memory that are kept beside its pages.
const MOST_LINES: usize = 64;

/// A page at some moment.
#[derive(Debug)]
struct Page {
    bytes: [u8; PAGE_BYTES],
    /// Lines with a cycle before which they were last written, that of the first checkpoint after it;
    /// the newest first.
    written: Vec<(u64, Lines)>,
}

/// A line that was written after the copy of its page was made.
#[derive(Clone, Debug)]
struct Line {
    /// Its number in the memory.
    number: usize,
    /// A cycle before which it was last written, that of the first checkpoint after it.
    written_by: u64,
    bytes: [u8; LINE_BYTES],
}

impl Line {
    fn page(&self) -> usize {
        self.number / PAGE_LINES
    }

    /// Returns the bit of the line in its page.
    fn bit(&self) -> Lines {
        1 << (self.number % PAGE_LINES)
    }
}

/// All pages of a memory at one moment; those that were never written are absent, and zero.
///
/// A core that waits writes a few lines, such as its heartbeat, again and again. They are kept beside
/// the copies of their pages, so that a checkpoint costs these lines only.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pages {
    copies: Arc<Vec<Option<Arc<Page>>>>,
    /// Lines that differ from the copies of their pages, in the order of addresses.
    lines: Arc<Vec<Line>>,
    /// Which memory this is: a reset makes another one.
    memory: Arc<()>,
}

impl Pages {
    /// Copies all pages that are present into a memory.
    pub(crate) fn copy_to(&self, memory: &mut [u8]) {
        for (number, page) in (0..).zip(self.copies.iter()) {
            if let Some(page) = page {
                memory[number * PAGE_BYTES..][..PAGE_BYTES].copy_from_slice(&page.bytes);
            }
        }
        for line in self.lines.iter() {
            memory[line.number * LINE_BYTES..][..LINE_BYTES].copy_from_slice(&line.bytes);
        }
    }

    fn page(&self, page: usize) -> Option<&Arc<Page>> {
        self.copies.get(page)?.as_ref()
    }

    /// Takes from the memory the lines of its pages that were written, all before a cycle.
    pub(crate) fn take(&mut self, written: &[(usize, Lines)], memory: &[u8], written_by: u64) {
        if written.is_empty() {
            return;
        }
        let mut lines = std::mem::take(&mut self.lines);
        let kept = Arc::make_mut(&mut lines);
        for &(page, written) in written {
            if written.count_ones() > MOST_LINES_OF_PAGE || self.page(page).is_none() {
                self.copy_page(page, (written_by, written), kept, memory);
                continue;
            }
            let written = (0..PAGE_LINES).filter(|line| written >> line & 1 == 1);
            for number in written.map(|line| page * PAGE_LINES + line) {
                let mut bytes = [0; LINE_BYTES];
                bytes.copy_from_slice(&memory[number * LINE_BYTES..][..LINE_BYTES]);
                let line = Line { number, written_by, bytes };
                match kept.binary_search_by_key(&number, |line| line.number) {
                    Ok(at) => kept[at] = line,
                    Err(at) => kept.insert(at, line),
                }
            }
        }
        while let Some(page) = kept.last().filter(|_| kept.len() > MOST_LINES).map(Line::page) {
            self.copy_page(page, (written_by, 0), kept, memory);
        }
        self.lines = lines;
    }

    /// Copies a page, some lines of which were last written before a cycle, in place of its last copy
    /// and of the lines beside that.
    fn copy_page(
        &mut self,
        page: usize,
        (written_by, new): (u64, Lines),
        lines: &mut Vec<Line>,
        memory: &[u8],
    ) {
        let pages = Arc::make_mut(&mut self.copies);
        pages.resize(memory.len() / PAGE_BYTES, None);
        let bytes = memory.get(page * PAGE_BYTES..).and_then(|rest| rest.first_chunk());
        let before = pages[page].take();
        let mut written = before.map_or(Vec::new(), |before| before.written.clone());
        let mut beside: Vec<Line> = lines.extract_if(.., |line| line.page() == page).collect();
        beside.sort_by_key(|line| line.written_by);
        for same in beside.chunk_by(|a, b| a.written_by == b.written_by) {
            let lines = same.iter().fold(0, |lines, line| lines | line.bit());
            written = times(same[0].written_by, lines, &written);
        }
        written = times(written_by, new, &written);
        pages[page] = bytes.map(|bytes| Arc::new(Page { bytes: *bytes, written }));
    }

    /// Returns the numbers of the pages that are present.
    pub(crate) fn present(&self) -> impl Iterator<Item = usize> {
        (0..).zip(self.copies.iter()).filter_map(|(number, page)| page.is_some().then_some(number))
    }

    /// Whether nobody wrote to the lines of a range of addresses since an earlier checkpoint of the
    /// same memory, in cycle `then`. It may be false although nobody did.
    pub(crate) fn untouched(&self, earlier: &Self, then: u64, range: &Range<usize>) -> bool {
        let untouched = |(page, lines): (usize, Lines)| {
            let new =
                self.lines.iter().filter(|line| line.page() == page && line.written_by > then);
            let beside = new.fold(0, |lines, line| lines | line.bit());
            let in_page = match (self.page(page), earlier.page(page)) {
                (Some(now), Some(before)) if Arc::ptr_eq(now, before) => 0,
                (Some(now), _) => {
                    let since = now.written.iter().take_while(|(cycle, _)| *cycle > then);
                    since.fold(0, |all, (_, lines)| all | lines)
                }
                (None, None) => 0,
                (None, Some(_)) => Lines::MAX,
            };
            (beside | in_page) & lines == 0
        };
        Arc::ptr_eq(&self.memory, &earlier.memory) && lines(range).all(untouched)
    }

    /// Returns the bytes of what the same memory at an earlier moment has not in common.
    pub(crate) fn bytes_beyond(&self, earlier: Option<&Self>) -> usize {
        let same_lines = earlier.is_some_and(|earlier| Arc::ptr_eq(&self.lines, &earlier.lines));
        let lines = if same_lines { 0 } else { of_arc(&self.lines) + of_vec(&self.lines) };
        if earlier.is_some_and(|earlier| Arc::ptr_eq(&self.copies, &earlier.copies)) {
            return lines;
        }
        let new = |(number, page): (usize, &Option<Arc<Page>>)| {
            let page = page.as_ref()?;
            let before = earlier.and_then(|earlier| earlier.page(number));
            let same = before.is_some_and(|before| Arc::ptr_eq(page, before));
            (!same).then(|| of_arc(page) + of_vec(&page.written))
        };
        let pages: usize = self.copies.iter().enumerate().filter_map(new).sum();
        pages + of_arc(&self.copies) + of_vec(&self.copies) + lines
    }
}

/// Returns the pages of a range of addresses, each with its lines in the range.
pub(crate) fn lines(range: &Range<usize>) -> impl Iterator<Item = (usize, Lines)> + use<> {
    let first = range.start / LINE_BYTES;
    let last = range.end.saturating_sub(1).max(range.start) / LINE_BYTES;
    (first / PAGE_LINES..=last / PAGE_LINES).map(move |page| {
        let from = first.saturating_sub(page * PAGE_LINES);
        let to = (last - page * PAGE_LINES).min(PAGE_LINES - 1);
        (page, Lines::MAX >> (PAGE_LINES - 1 - to) & Lines::MAX << from)
    })
}

/// Returns when lines were written, after some of them were written again before a cycle.
fn times(written_by: u64, lines: Lines, before: &[(u64, Lines)]) -> Vec<(u64, Lines)> {
    let earlier = before.iter().map(|(cycle, written)| (*cycle, written & !lines));
    let times = std::iter::once((written_by, lines)).chain(earlier);
    let mut times: Vec<_> = times.filter(|(_, written)| *written != 0).collect();
    // Lines that were written long ago count as written a little later.
    while times.len() > MOST_TIMES {
        let oldest = times.pop().map_or(0, |(_, lines)| lines);
        if let Some((_, lines)) = times.last_mut() {
            *lines |= oldest;
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::{LINE_BYTES, PAGE_BYTES, PAGE_LINES, Pages, lines};

    #[test]
    fn ranges_have_lines() {
        let of = |range| lines(&range).collect::<Vec<_>>();
        assert_eq!(of(0..1), [(0, 1)]);
        assert_eq!(of(31..33), [(0, 3)]);
        assert_eq!(of(4095..4097), [(0, 1 << 127), (1, 1)]);
        assert_eq!(of(4096..12288), [(1, u128::MAX), (2, u128::MAX)]);
        assert_eq!(of(64..64), [(0, 4)]);
    }

    #[test]
    fn a_line_is_untouched_until_it_is_written() {
        let memory = vec![0; 2 * PAGE_BYTES];
        let mut pages = Pages::default();
        let mut moments = vec![(0, pages.clone())];
        // In each step another line of page 1; line 0 now and then; many lines more rarely.
        let written = |line: u64, step: u64| match line {
            0 => step.is_multiple_of(16),
            8..16 => step % 8 + 8 == line,
            32..64 => step % 10 == 5,
            _ => false,
        };
        for step in 1..40_u64 {
            let lines = (0..64).filter(|line| written(*line, step)).map(|line| 1 << line).sum();
            pages.take(&[(1, lines)], &memory, step * 100);
            moments.push((step * 100, pages.clone()));
        }
        let mut sharp = 0;
        for from in 1..40 {
            for to in from..40 {
                for line in [0, 8, 11, 15, 20, 40] {
                    let at = PAGE_BYTES + line as usize * LINE_BYTES;
                    let (then, earlier) = &moments[from as usize];
                    let untouched = moments[to as usize].1.untouched(earlier, *then, &(at..at + 4));
                    let touched = (from + 1..=to).any(|step| written(line, step));
                    assert!(!(untouched && touched), "{line}: {from} to {to}");
                    sharp += u32::from(untouched);
                }
            }
        }
        assert!(sharp > 1500, "{sharp}");
        assert!(pages.untouched(&moments[3].1, 300, &(0..PAGE_BYTES)));
        assert!(!pages.untouched(&Pages::default(), 0, &(0..1)), "another memory");
    }

    #[test]
    fn each_moment_keeps_its_bytes() {
        let mut memory = vec![0; 4 * PAGE_BYTES];
        let mut pages = Pages::default();
        let mut moments = Vec::new();
        let mut random = 1_u64;
        let mut next = |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) as usize % below
        };
        for step in 1..300 {
            let mut written = vec![(next(3), 0)];
            for _ in 0..1 << next(5) {
                let line = next(PAGE_LINES);
                written[0].1 |= 1 << line;
                memory[written[0].0 * PAGE_BYTES + line * LINE_BYTES + next(LINE_BYTES)] ^=
                    step as u8;
            }
            pages.take(&written, &memory, step);
            moments.push((pages.clone(), memory.clone()));
        }
        for (pages, memory) in &moments {
            let mut copy = vec![0; memory.len()];
            pages.copy_to(&mut copy);
            assert_eq!(&copy, memory);
        }
    }
}
