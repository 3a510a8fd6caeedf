//! Decodes the newest entries of the status queues of routers.

use super::site::Site;
use images::fabric::{Memory as _, RouterCounts, StatusHead, StatusLayout, StatusWords, Word};
use machine::snapshot::Span;

/// Most entries of a queue that are read: the newest ones.
const MOST_ENTRIES: usize = 16;

/// The status queue of a router that has written entries, being decoded.
pub(super) struct StatusQueue<'a> {
    layout: &'a StatusLayout,
    /// Its tile.
    site: Site<'a>,
    address: u64,
}

impl<'a> StatusQueue<'a> {
    /// Finds the queue, if the router has one and has written to it.
    pub(super) fn of(
        site: Site<'a>,
        layout: &'a StatusLayout,
        counts: &RouterCounts,
    ) -> Option<Self> {
        let word = |word: Word| site.word(word).known().copied();
        counts.status_entries.known().filter(|count| **count > 0)?;
        let tile = StatusLayout::tile_of(word(layout.tile)? as u32)?;
        Some(Self { layout, site: Site { tile, ..site }, address: word(layout.address)? })
    }

    fn span(&self, offset: u64, bytes: u64) -> Span {
        let at = self.address.saturating_add(offset);
        Span { addr: self.site.at(at), len: bytes as u32 }
    }

    fn bytes(&self, span: Span) -> Option<&'a [u8]> {
        self.site.view.snapshot.bytes(span.addr, span.len).ok()
    }

    fn head(&self) -> Option<StatusHead> {
        self.layout.head(self.bytes(self.span(0, self.layout.head_bytes))?)
    }

    fn newest(&self) -> Vec<Span> {
        let Some(head) = self.head() else { return Vec::new() };
        let numbers = head.waiting().rev().take(MOST_ENTRIES);
        let bytes = self.layout.entry_bytes;
        let spans = numbers.map(|number| self.span(self.layout.offset(&head, number), bytes));
        let mut spans: Vec<Span> = spans.collect();
        spans.reverse();
        spans
    }

    /// Returns the spans of the head and of the newest entries.
    pub(super) fn spans(&self) -> Vec<Span> {
        let head = self.span(0, self.layout.head_bytes);
        [head].into_iter().chain(self.newest()).collect()
    }

    /// Decodes the newest entries, as far as they were read.
    pub(super) fn entries(&self) -> Vec<StatusWords> {
        let spans = self.newest().into_iter();
        spans.filter_map(|span| self.layout.entry(self.bytes(span)?)).collect()
    }
}
