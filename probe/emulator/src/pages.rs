//! The pages of a tile's L1 as checkpoints keep them: one copy of each, however many checkpoints
//! have it in common, and when each of its lines was written.

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

/// A page at some moment.
#[derive(Debug)]
struct Page {
    bytes: [u8; PAGE_BYTES],
    /// Lines with a cycle before which they were last written, that of the first checkpoint after it;
    /// the newest first.
    written: Vec<(u64, Lines)>,
}

/// All pages of a memory at one moment; those that were never written are absent, and zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pages {
    pages: Arc<Vec<Option<Arc<Page>>>>,
    /// Which memory this is: a reset makes another one.
    memory: Arc<()>,
}

impl Pages {
    /// Returns the bytes of a page; `None` if it was never written.
    pub(crate) fn get(&self, page: usize) -> Option<&[u8; PAGE_BYTES]> {
        Some(&self.page(page)?.bytes)
    }

    fn page(&self, page: usize) -> Option<&Arc<Page>> {
        self.pages.get(page)?.as_ref()
    }

    /// Replaces the pages of which some lines were written, all before a cycle, by those of the memory.
    pub(crate) fn replace(&mut self, written: &[(usize, Lines)], memory: &[u8], written_by: u64) {
        if written.is_empty() {
            return;
        }
        let pages = Arc::make_mut(&mut self.pages);
        pages.resize(memory.len() / PAGE_BYTES, None);
        for &(page, lines) in written {
            let bytes = memory.get(page * PAGE_BYTES..).and_then(|rest| rest.first_chunk());
            let before = pages[page].as_ref().map_or(&[][..], |before| &before.written);
            let written = times(written_by, lines, before);
            pages[page] = bytes.map(|bytes| Arc::new(Page { bytes: *bytes, written }));
        }
    }

    /// Returns the numbers of the pages that are present.
    pub(crate) fn present(&self) -> impl Iterator<Item = usize> {
        (0..).zip(self.pages.iter()).filter_map(|(number, page)| page.is_some().then_some(number))
    }

    /// Whether nobody wrote to the lines of a range of addresses since an earlier checkpoint of the
    /// same memory, in cycle `then`. It may be false although nobody did.
    pub(crate) fn untouched(&self, earlier: &Self, then: u64, range: &Range<usize>) -> bool {
        let untouched = |(page, lines): (usize, Lines)| match (self.page(page), earlier.page(page))
        {
            (Some(now), Some(before)) if Arc::ptr_eq(now, before) => true,
            (Some(now), _) => {
                let mut since = now.written.iter().take_while(|(cycle, _)| *cycle > then);
                since.all(|(_, written)| written & lines == 0)
            }
            (None, before) => before.is_none(),
        };
        Arc::ptr_eq(&self.memory, &earlier.memory) && lines(range).all(untouched)
    }

    /// Returns the bytes of what the same memory at an earlier moment has not in common.
    pub(crate) fn bytes_beyond(&self, earlier: Option<&Self>) -> usize {
        if earlier.is_some_and(|earlier| Arc::ptr_eq(&self.pages, &earlier.pages)) {
            return 0;
        }
        let same = |page: usize, earlier: &Self| match (self.page(page), earlier.page(page)) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        let new = |page: &usize| earlier.is_none_or(|earlier| !same(*page, earlier));
        self.present().filter(new).count() * size_of::<Page>()
            + self.pages.len() * size_of::<Option<Arc<Page>>>()
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
    let mut times = vec![(written_by, lines)];
    let earlier = before.iter().map(|(cycle, written)| (*cycle, written & !lines));
    times.extend(earlier.filter(|(_, written)| *written != 0));
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
    use super::{LINE_BYTES, PAGE_BYTES, Pages, lines};

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
        // In each step another line of page 1, and line 0 now and then.
        for step in 1..40_u64 {
            let lines = 1 << (step % 8 + 8) | u128::from(step % 16 == 0);
            pages.replace(&[(1, lines)], &memory, step * 100);
            moments.push((step * 100, pages.clone()));
        }
        let written = |line: u64, from: u64, to: u64| {
            (from + 1..=to)
                .any(|step| if line == 0 { step % 16 == 0 } else { step % 8 + 8 == line })
        };
        let mut sharp = 0;
        for from in 1..40 {
            for to in from..40 {
                for line in [0, 8, 11, 15, 20] {
                    let at = PAGE_BYTES + line as usize * LINE_BYTES;
                    let (then, earlier) = &moments[from as usize];
                    let untouched = moments[to as usize].1.untouched(earlier, *then, &(at..at + 4));
                    assert!(!(untouched && written(line, from, to)), "{line}: {from} to {to}");
                    sharp += u32::from(untouched);
                }
            }
        }
        assert!(sharp > 1000, "{sharp}");
        assert!(pages.untouched(&moments[3].1, 300, &(0..PAGE_BYTES)));
        assert!(!pages.untouched(&Pages::default(), 0, &(0..1)), "another memory");
    }
}
