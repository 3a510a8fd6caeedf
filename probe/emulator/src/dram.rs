//! A DRAM channel: 2 GiB, committed page by page on the first write.

use crate::condition::{Refusal, UNMAPPED};
use std::collections::HashMap;

/// Bytes of a channel (wormhole.md 3.1: two GDDR6 channels of 1 GiB each).
pub(crate) const CHANNEL_BYTES: u64 = 2 << 30;
const PAGE_BYTES: usize = 1 << 16;

/// Written pages; all others read as zeros.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dram(HashMap<u32, Box<[u8]>>);

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
            match self.0.get(&page) {
                Some(bytes) => out.copy_from_slice(&bytes[offset..offset + out.len()]),
                None => out.fill(0),
            }
        }
        Ok(())
    }

    /// Stores bytes.
    pub(crate) fn write(&mut self, addr: u64, data: &[u8]) -> Result<(), Refusal> {
        inside(addr, data.len())?;
        for (page, offset, range) in pieces(addr, data.len()) {
            let data = &data[range];
            let bytes = self.0.entry(page).or_insert_with(|| vec![0; PAGE_BYTES].into());
            bytes[offset..offset + data.len()].copy_from_slice(data);
        }
        Ok(())
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
