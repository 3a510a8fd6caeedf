//! A DRAM channel: 2 GiB, committed page by page on the first write.

use crate::condition::{Refusal, UNMAPPED};
use crate::heap::{allocation, of_arc};
use crate::watch::WriteWatch;
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of a channel (wormhole.md 3.1: two GDDR6 channels of 1 GiB each).
pub(crate) const CHANNEL_BYTES: u64 = 2 << 30;
const PAGE_BYTES: usize = 1 << 16;

/// The memory of a channel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dram {
    /// Written pages, shared with checkpoints until they are written again; all others read as
    /// zeros.
    pages: HashMap<u32, Arc<[u8]>>,
    /// Who wants to know of writes.
    pub(crate) write_watch: Option<Box<WriteWatch>>,
}

/// Splits a range at pages: page number, offset in the page, and the range of the caller's bytes.
fn pieces(addr: u64, len: usize) -> impl Iterator<Item = (u32, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = addr + done as u64;
        let offset = at as usize % PAGE_BYTES;
        let part = (PAGE_BYTES - offset).min(len - done);
        let range = done..done + part;
        done += part;
        (part > 0).then_some(((at / PAGE_BYTES as u64) as u32, offset, range))
    })
}

fn inside(addr: u64, len: usize) -> Result<(), Refusal> {
    let end = addr.checked_add(len as u64);
    if end.is_some_and(|end| end <= CHANNEL_BYTES) { Ok(()) } else { Err(UNMAPPED) }
}

impl Dram {
    /// Copies bytes out.
    pub(crate) fn read(&self, addr: u64, out: &mut [u8]) -> Result<(), Refusal> {
        inside(addr, out.len())?;
        for (page, offset, range) in pieces(addr, out.len()) {
            let out = &mut out[range];
            match self.pages.get(&page) {
                Some(bytes) => out.copy_from_slice(&bytes[offset..offset + out.len()]),
                None => out.fill(0),
            }
        }
        Ok(())
    }

    /// Stores bytes.
    pub(crate) fn write(&mut self, addr: u64, data: &[u8]) -> Result<(), Refusal> {
        inside(addr, data.len())?;
        if let Some(watch) = &mut self.write_watch {
            watch.see(addr, data);
        }
        for (page, offset, range) in pieces(addr, data.len()) {
            let data = &data[range];
            let bytes = self.pages.entry(page).or_insert_with(|| vec![0; PAGE_BYTES].into());
            Arc::make_mut(bytes)[offset..offset + data.len()].copy_from_slice(data);
        }
        Ok(())
    }

    /// Whether the pages of a range are the same copies as at another moment: nothing was written
    /// there in between.
    pub(crate) fn same(&self, other: &Self, addr: u64, len: usize) -> bool {
        pieces(addr, len).all(|(page, ..)| match (self.pages.get(&page), other.pages.get(&page)) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        })
    }

    /// Whether the memory has the same contents as another.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        self.pages == other.pages
    }

    /// Returns the bytes of what the same channel at an earlier moment has not in common.
    pub(crate) fn bytes_beyond(&self, earlier: Option<&Self>) -> usize {
        let shared = |page: &u32, bytes: &Arc<[u8]>| {
            let earlier = earlier.and_then(|earlier| earlier.pages.get(page));
            earlier.is_some_and(|earlier| Arc::ptr_eq(earlier, bytes))
        };
        let pages = self.pages.iter().filter(|(page, bytes)| !shared(page, bytes));
        let pages: usize = pages.map(|(_, bytes)| of_arc(bytes)).sum();
        // A table has a byte beside each place, and places for an eighth more than it holds.
        pages + allocation(self.pages.capacity() * (1 + size_of::<(u32, Arc<[u8]>)>()) * 8 / 7)
    }
}

#[cfg(test)]
mod tests {
    use super::{CHANNEL_BYTES, Dram};

    #[test]
    fn pages_meet_without_a_seam() {
        let mut dram = Dram::default();
        let bytes: Vec<u8> = (0..200_000u32).map(|i| (i * 7) as u8).collect();
        assert_eq!(dram.write(0xFFF0, &bytes), Ok(()));
        let mut back = vec![0; bytes.len()];
        assert_eq!(dram.read(0xFFF0, &mut back), Ok(()));
        assert_eq!(back, bytes);
        assert!(dram.write(CHANNEL_BYTES - 3, &[0; 4]).is_err());
        assert_eq!(dram.write(CHANNEL_BYTES - 4, &[0; 4]), Ok(()));
    }
}
