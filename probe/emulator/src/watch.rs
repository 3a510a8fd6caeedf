//! Who writes to ranges of memory: a watch that keeps the last writes to each.
//!
//! The machine says who is about to write, and the memory shows each write before it is made. A
//! memory without a watch does neither.

use std::collections::VecDeque;

/// Who wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Writer {
    /// A store of a hart of the tile, at this pc.
    Hart {
        /// Index of the hart in its tile.
        hart: u8,
        /// Address of the instruction.
        pc: u32,
    },
    /// A debugger, by a hart of the tile that it had paused.
    Debugger {
        /// Index of the hart in its tile.
        hart: u8,
    },
    /// A NoC packet.
    Noc {
        /// Column and row, on NOC 0, of the tile whose NIU sent the packet.
        from: (u8, u8),
        /// 0 or 1.
        noc: u8,
        /// What the packet was.
        packet: NocWrite,
    },
    /// A packet of the Ethernet peer.
    Link {
        /// Chip and Ethernet channel of the peer.
        peer: Option<(usize, u8)>,
    },
    /// The mover of the tile.
    Mover,
    /// A write of the host over PCIe.
    Host {
        /// PCIe device.
        device: usize,
    },
    /// The DMA engine of a PCIe device.
    Dma {
        /// PCIe device.
        device: usize,
    },
    /// A reset of the chip, which loads its images again.
    Reset,
}

/// What a NoC packet that writes was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NocWrite {
    /// A write request with bytes.
    Write,
    /// A write request of one word.
    Inline,
    /// An atomic operation.
    Atomic,
    /// The bytes that the tile itself had asked for: the sender is where they come from.
    ReadAnswer,
    /// The old value of an atomic operation that the tile itself had asked for.
    AtomicAnswer,
}

/// A write to a watched range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The cycle in which it happened. A hart's store is visible from the next cycle on.
    pub cycle: u64,
    /// Tile-local address of its first byte in the range.
    pub addr: u64,
    /// The bytes in the range that it replaced.
    pub old: Vec<u8>,
    /// The bytes that it wrote there; equal to the old ones if it changed nothing.
    pub new: Vec<u8>,
    /// Who wrote.
    pub by: Writer,
}

/// Which writes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// All, also those that write the bytes that are already there.
    AllWrites,
    /// Those that change a byte of the range.
    Changes,
}

/// A watch for writes to ranges of one memory.
#[derive(Clone, Debug)]
pub(crate) struct WriteWatch {
    ranges: Vec<WatchedRange>,
    counts: Counts,
    /// Who is about to write, and when.
    next: (u64, Writer),
}

/// A range, and the writes to it that are kept.
#[derive(Clone, Debug)]
struct WatchedRange {
    start: u64,
    /// The present bytes of the range.
    bytes: Vec<u8>,
    /// Most writes that are kept; the oldest are dropped.
    most: usize,
    seen: VecDeque<Seen>,
    /// Whether any were dropped.
    dropped: bool,
}

/// A write, with the whole range before and after it.
#[derive(Clone, Debug)]
struct Seen {
    at: (u64, Writer),
    old: Vec<u8>,
    new: Vec<u8>,
    /// Which bytes of the range it wrote.
    first: usize,
    end: usize,
}

/// The writes to a range that were kept, the oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Writes {
    /// The present bytes of the range.
    pub(crate) bytes: Vec<u8>,
    pub(crate) kept: Vec<Write>,
    /// Whether older ones were dropped.
    pub(crate) dropped: bool,
}

impl WatchedRange {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    fn covers(&self, addr: u64, len: usize) -> bool {
        addr < self.end() && self.start < addr + len as u64
    }

    fn see(&mut self, at: (u64, Writer), counts: Counts, addr: u64, data: &[u8]) {
        if !self.covers(addr, data.len()) {
            return;
        }
        let skipped = self.start.saturating_sub(addr) as usize;
        let first = addr.saturating_sub(self.start) as usize;
        let end = self.bytes.len().min(first + data.len() - skipped);
        let data = &data[skipped..skipped + end - first];
        if counts == Counts::Changes && self.bytes[first..end] == *data {
            return;
        }
        let old = self.bytes.clone();
        self.bytes[first..end].copy_from_slice(data);
        let new = self.bytes.clone();
        match self.seen.back_mut() {
            // A packet with byte enables is several writes.
            Some(last) if last.at == at => {
                (last.first, last.end) = (last.first.min(first), last.end.max(end));
                last.new = new;
            }
            _ => {
                if self.seen.len() == self.most {
                    self.seen.pop_front();
                    self.dropped = true;
                }
                self.seen.push_back(Seen { at, old, new, first, end });
            }
        }
    }

    fn write(&self, seen: &Seen) -> Option<Write> {
        Some(Write {
            cycle: seen.at.0,
            addr: self.start + seen.first as u64,
            old: seen.old.get(seen.first..seen.end)?.to_vec(),
            new: seen.new.get(seen.first..seen.end)?.to_vec(),
            by: seen.at.1,
        })
    }
}

impl WriteWatch {
    /// Creates a watch without ranges.
    pub(crate) fn new(counts: Counts) -> Self {
        Self { ranges: Vec::new(), counts, next: (0, Writer::Reset) }
    }

    /// Adds a range from an address on, with its present bytes, of which this many writes are kept.
    pub(crate) fn add(&mut self, start: u64, bytes: Vec<u8>, most: usize) {
        let (seen, dropped) = (VecDeque::new(), false);
        self.ranges.push(WatchedRange { start, bytes, most, seen, dropped });
    }

    /// Says who writes from now on.
    pub(crate) fn writer(&mut self, cycle: u64, by: Writer) {
        self.next = (cycle, by);
    }

    /// Whether a range has bytes in common with another.
    pub(crate) fn covers(&self, addr: u64, len: usize) -> bool {
        self.ranges.iter().any(|range| range.covers(addr, len))
    }

    /// Returns the lines of this many bytes that the ranges are in.
    pub(crate) fn lines(&self, bytes: u32) -> impl Iterator<Item = usize> {
        let line = move |addr: u64| (addr / u64::from(bytes)) as usize;
        self.ranges
            .iter()
            .flat_map(move |range| line(range.start)..line(range.end().saturating_sub(1)) + 1)
    }

    /// Takes notice of a write of `data` at an address.
    pub(crate) fn see(&mut self, addr: u64, data: &[u8]) {
        for range in &mut self.ranges {
            range.see(self.next, self.counts, addr, data);
        }
    }

    /// Takes notice that the bytes of the ranges may have been replaced; `bytes` returns those of a
    /// range.
    pub(crate) fn replaced(&mut self, cycle: u64, bytes: impl Fn(u64, usize) -> Option<Vec<u8>>) {
        self.writer(cycle, Writer::Reset);
        for range in &mut self.ranges {
            let now = bytes(range.start, range.bytes.len());
            if let Some(now) = now.filter(|now| *now != range.bytes) {
                range.see(self.next, self.counts, range.start, &now);
            }
        }
    }

    /// Returns the writes to a range.
    pub(crate) fn writes(&self, addr: u64, len: usize) -> Option<Writes> {
        let is_it = |range: &&WatchedRange| (range.start, range.bytes.len()) == (addr, len);
        let range = self.ranges.iter().find(is_it)?;
        let kept = range.seen.iter().filter_map(|seen| range.write(seen)).collect();
        Some(Writes { bytes: range.bytes.clone(), kept, dropped: range.dropped })
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, WriteWatch, Writer};

    #[test]
    fn overlaps_merge_and_equal_bytes_count_only_as_writes() {
        for (counts, cycle) in [(Counts::AllWrites, 9), (Counts::Changes, 7)] {
            let mut watch = WriteWatch::new(counts);
            watch.add(0x100, vec![0; 4], 1);
            watch.writer(7, Writer::Mover);
            watch.see(0xFE, &[1, 2, 3]);
            watch.see(0x103, &[4, 5]);
            watch.see(0x104, &[6]);
            watch.writer(9, Writer::Host { device: 0 });
            watch.see(0x100, &[3]);
            let last = watch.writes(0x100, 4).and_then(|mut writes| writes.kept.pop());
            let last = last.map(|write| (write.cycle, write.addr, write.old, write.new));
            let whole = (7, 0x100, vec![0; 4], vec![3, 0, 0, 4]);
            let byte = (9, 0x100, vec![3], vec![3]);
            assert_eq!(last, Some(if cycle == 7 { whole } else { byte }));
        }
    }
}
