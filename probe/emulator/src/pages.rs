//! The pages of a tile's L1 as checkpoints keep them: one copy of each, however many checkpoints
//! have it in common.

use std::sync::Arc;

/// Bytes of a page.
pub(crate) const PAGE_BYTES: usize = 4096;

/// The bytes of a page at some moment.
type Page = Arc<[u8; PAGE_BYTES]>;

/// All pages of a memory at one moment; those that were never written are absent, and zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pages(Arc<Vec<Option<Page>>>);

impl Pages {
    /// Returns the bytes of a page; `None` if it was never written.
    pub(crate) fn get(&self, page: usize) -> Option<&[u8; PAGE_BYTES]> {
        self.0.get(page)?.as_deref()
    }

    /// Replaces pages: their numbers, and the memory they are part of.
    pub(crate) fn replace(&mut self, written: &[usize], memory: &[u8]) {
        if written.is_empty() {
            return;
        }
        let pages = Arc::make_mut(&mut self.0);
        pages.resize(memory.len() / PAGE_BYTES, None);
        for &page in written {
            let bytes = memory.get(page * PAGE_BYTES..).and_then(|rest| rest.first_chunk());
            pages[page] = bytes.map(|bytes| Arc::new(*bytes));
        }
    }

    /// Returns the numbers of the pages that are present.
    pub(crate) fn present(&self) -> impl Iterator<Item = usize> {
        (0..).zip(self.0.iter()).filter_map(|(number, page)| page.is_some().then_some(number))
    }

    /// Whether a page is the same copy as at another moment: it was not written in between.
    pub(crate) fn same(&self, other: &Self, page: usize) -> bool {
        match (self.get(page), other.get(page)) {
            (Some(a), Some(b)) => std::ptr::eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        }
    }

    /// Returns the bytes of what the same memory at an earlier moment has not in common.
    pub(crate) fn bytes_beyond(&self, earlier: Option<&Self>) -> usize {
        if earlier.is_some_and(|earlier| Arc::ptr_eq(&self.0, &earlier.0)) {
            return 0;
        }
        let new = |page: &usize| earlier.is_none_or(|earlier| !self.same(earlier, *page));
        self.present().filter(new).count() * PAGE_BYTES + self.0.len() * size_of::<Option<Page>>()
    }
}
