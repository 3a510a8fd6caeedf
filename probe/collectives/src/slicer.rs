//! The tensor slicer: how a block of pages is cut for links and directions, packets and the pipeline.

use super::request::Request;

/// A block: what one rank gives to or gets from another, in whole pages. The last page has less of it, and its padding up to
/// a multiple of 32 bytes is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its real elements.
    pub elements: u64,
    /// Its pages.
    pub pages: u32,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Bytes of its last page, a multiple of 32.
    pub last_page_bytes: u32,
}

impl Block {
    /// A block of so many elements.
    pub fn new(elements: u64, element_bytes: u64, page_bytes: u32) -> Self {
        let bytes = elements * element_bytes;
        let page = u64::from(page_bytes);
        let pages = bytes.div_ceil(page).max(1);
        let last = (bytes - (pages - 1) * page).next_multiple_of(32);
        Self { elements, pages: pages as u32, page_bytes, last_page_bytes: last as u32 }
    }

    /// Cuts it into so many parts, or fewer if it has fewer pages; the first ones are larger.
    pub fn parts(&self, parts: u32) -> Vec<PageSlice> {
        let whole =
            PageSlice { first_page: 0, pages: self.pages, last_page_bytes: self.last_page_bytes };
        whole.cut(parts, self.page_bytes)
    }
}

/// A stretch of pages of every block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSlice {
    /// Its first page.
    pub first_page: u32,
    /// How many.
    pub pages: u32,
    /// Bytes of the last of them.
    pub last_page_bytes: u32,
}

impl PageSlice {
    /// Cuts it into so many parts, or fewer if it has fewer pages; the first ones are larger.
    pub fn cut(&self, parts: u32, page_bytes: u32) -> Vec<Self> {
        let (each, more) = (self.pages / parts, self.pages % parts);
        let end = self.first_page + self.pages;
        let mut first_page = self.first_page;
        let part = |index| {
            let pages = each + u32::from(index < more);
            let last = first_page + pages == end;
            let last_page_bytes = if last { self.last_page_bytes } else { page_bytes };
            let part = Self { first_page, pages, last_page_bytes };
            first_page += pages;
            part
        };
        (0..parts).map(part).filter(|part| part.pages > 0).collect()
    }
}

/// Pages of a packet at most: as many as a buffer holds.
pub fn packet_pages(request: &Request, page_bytes: u32) -> u32 {
    (request.buffer_bytes / page_bytes).max(1)
}

/// Pages of a slice with which a ring cannot deadlock: its packets fit the buffers of one channel. A worker is never more than
/// a slice ahead of what it got, so that not all channels of a ring can be full.
pub fn slice_pages(request: &Request, page_bytes: u32) -> u32 {
    packet_pages(request, page_bytes).saturating_mul(request.buffers_per_channel)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn odd_pages_are_cut_without_loss() {
        let block = Block::new(1001, 4, 128);
        assert_eq!(
            (block.pages, block.last_page_bytes),
            (32, 64),
            "4004 bytes: 36 in the last page"
        );
        let parts = block.parts(5);
        assert_eq!(parts.iter().map(|part| part.pages).collect::<Vec<_>>(), [7, 7, 6, 6, 6]);
        assert_eq!(
            parts.iter().map(|part| part.first_page).collect::<Vec<_>>(),
            [0, 7, 14, 20, 26]
        );
        let last: Vec<u32> = parts.iter().map(|part| part.last_page_bytes).collect();
        assert_eq!(last, [128, 128, 128, 128, 64]);
    }

    #[test]
    fn fewer_pages_than_parts_leave_parts_out() {
        let block = Block::new(3, 2, 64);
        assert_eq!(block.parts(4), [PageSlice { first_page: 0, pages: 1, last_page_bytes: 32 }]);
    }
}
