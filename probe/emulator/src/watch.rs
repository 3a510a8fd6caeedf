//! Who writes to a range of memory: a watch that keeps the last write.
//!
//! The machine says who is about to write, and the memory shows each write before it is made. A
//! memory without a watch does neither.

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

/// A watch for writes to a range of one memory.
#[derive(Clone, Debug)]
pub(crate) struct WriteWatch {
    start: u64,
    /// The present bytes of the range.
    bytes: Vec<u8>,
    counts: Counts,
    /// Who is about to write, and when.
    next: (u64, Writer),
    last: Option<Seen>,
}

/// The last write, with the whole range before and after it.
#[derive(Clone, Debug)]
struct Seen {
    at: (u64, Writer),
    old: Vec<u8>,
    new: Vec<u8>,
    /// Which bytes of the range it wrote.
    first: usize,
    end: usize,
}

impl WriteWatch {
    /// Creates a watch for a range from an address on, with its present bytes.
    pub(crate) fn new(start: u64, bytes: Vec<u8>, counts: Counts) -> Self {
        Self { start, bytes, counts, next: (0, Writer::Reset), last: None }
    }

    /// Says who writes from now on.
    pub(crate) fn writer(&mut self, cycle: u64, by: Writer) {
        self.next = (cycle, by);
    }

    /// Whether the range has bytes in common with another.
    pub(crate) fn covers(&self, addr: u64, len: usize) -> bool {
        addr < self.start + self.bytes.len() as u64 && self.start < addr + len as u64
    }

    /// Returns the lines of this many bytes that the range is in.
    pub(crate) fn lines(&self, bytes: u32) -> std::ops::Range<usize> {
        let end = self.start + self.bytes.len() as u64;
        let line = |addr: u64| (addr / u64::from(bytes)) as usize;
        line(self.start)..line(end.saturating_sub(1)) + 1
    }

    /// Takes notice of a write of `data` at an address.
    pub(crate) fn see(&mut self, addr: u64, data: &[u8]) {
        if !self.covers(addr, data.len()) {
            return;
        }
        let skipped = self.start.saturating_sub(addr) as usize;
        let first = addr.saturating_sub(self.start) as usize;
        let end = self.bytes.len().min(first + data.len() - skipped);
        let data = &data[skipped..skipped + end - first];
        if self.counts == Counts::Changes && self.bytes[first..end] == *data {
            return;
        }
        let old = self.bytes.clone();
        self.bytes[first..end].copy_from_slice(data);
        let (at, new) = (self.next, self.bytes.clone());
        match &mut self.last {
            // A packet with byte enables is several writes.
            Some(last) if last.at == at => {
                (last.first, last.end) = (last.first.min(first), last.end.max(end));
                last.new = new;
            }
            last => *last = Some(Seen { at, old, new, first, end }),
        }
    }

    /// Takes notice that all bytes of the range were replaced.
    pub(crate) fn replaced(&mut self, cycle: u64, bytes: &[u8]) {
        if self.bytes != bytes {
            self.writer(cycle, Writer::Reset);
            self.see(self.start, bytes);
        }
    }

    /// Returns the range: its address and length.
    pub(crate) fn range(&self) -> (u64, usize) {
        (self.start, self.bytes.len())
    }

    /// Returns the last write.
    pub(crate) fn last(&self) -> Option<Write> {
        let seen = self.last.as_ref()?;
        Some(Write {
            cycle: seen.at.0,
            addr: self.start + seen.first as u64,
            old: seen.old.get(seen.first..seen.end)?.to_vec(),
            new: seen.new.get(seen.first..seen.end)?.to_vec(),
            by: seen.at.1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, WriteWatch, Writer};

    #[test]
    fn overlaps_merge_and_equal_bytes_count_only_as_writes() {
        for (counts, cycle) in [(Counts::AllWrites, 9), (Counts::Changes, 7)] {
            let mut watch = WriteWatch::new(0x100, vec![0; 4], counts);
            watch.writer(7, Writer::Mover);
            watch.see(0xFE, &[1, 2, 3]);
            watch.see(0x103, &[4, 5]);
            watch.see(0x104, &[6]);
            watch.writer(9, Writer::Host { device: 0 });
            watch.see(0x100, &[3]);
            let last = watch.last().map(|write| (write.cycle, write.addr, write.old, write.new));
            let whole = (7, 0x100, vec![0; 4], vec![3, 0, 0, 4]);
            let byte = (9, 0x100, vec![3], vec![3]);
            assert_eq!(last, Some(if cycle == 7 { whole } else { byte }));
        }
    }
}
