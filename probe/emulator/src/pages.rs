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
        let at = |pages: &Self| pages.0.get(page).cloned().flatten();
        match (at(self), at(other)) {
            (Some(a), Some(b)) => Arc::ptr_eq(&a, &b),
            (None, None) => true,
            _ => false,
        }
    }

    /// Returns the bytes that dropping this would free: those of pages that nobody else keeps.
    pub(crate) fn own_bytes(&self) -> usize {
        if Arc::strong_count(&self.0) > 1 {
            return 0;
        }
        let own = self.0.iter().flatten().filter(|page| Arc::strong_count(page) == 1).count();
        own * PAGE_BYTES + self.0.len() * size_of::<Option<Page>>()
    }
}
