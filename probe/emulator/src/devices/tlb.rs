//! The 186 windows of BAR0 and the 64-bit entries that configure them (wormhole.md 1.2,
//! wormhole.md 1.3).

/// Number of windows, of all sizes.
pub(crate) const WINDOWS: usize = 186;
/// First BAR0 offset after the windows.
pub(crate) const WINDOWS_END: u64 = 0x1F00_0000;

/// A window of BAR0: its start and log2 of its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TlbWindow {
    pub(crate) index: usize,
    pub(crate) base: u64,
    pub(crate) shift: u32,
}

impl TlbWindow {
    /// Returns the window that contains this BAR0 offset.
    pub(crate) fn at(offset: u64) -> Option<Self> {
        let (first, base, shift) = match offset {
            0..0x09C0_0000 => (0, 0, 20),
            0x09C0_0000..0x0B00_0000 => (156, 0x09C0_0000, 21),
            0x0B00_0000..WINDOWS_END => (166, 0x0B00_0000, 24),
            _ => return None,
        };
        let nth = (offset - base) >> shift;
        Some(Self { index: first + nth as usize, base: base + (nth << shift), shift })
    }

    /// Returns the size in bytes.
    pub(crate) fn size(self) -> u64 {
        1 << self.shift
    }
}

/// A decoded entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TlbEntry {
    /// Tile-local address of the window's first byte.
    pub(crate) local: u64,
    pub(crate) end: (u8, u8),
    pub(crate) start: (u8, u8),
    pub(crate) noc: usize,
    pub(crate) multicast: bool,
    pub(crate) ordering: u8,
    pub(crate) linked: bool,
}

impl TlbEntry {
    /// Decodes the entry of a window of 2^`shift` bytes. The fields follow an offset of 36 -
    /// `shift` bits.
    pub(crate) fn decode(raw: u64, shift: u32) -> Self {
        let offset_bits = 36 - shift;
        let field = |at: u32, bits: u32| ((raw >> (offset_bits + at)) & ((1 << bits) - 1)) as u8;
        Self {
            local: (raw & ((1 << offset_bits) - 1)) << shift,
            end: (field(0, 6), field(6, 6)),
            start: (field(12, 6), field(18, 6)),
            noc: usize::from(field(24, 1)),
            multicast: field(25, 1) == 1,
            ordering: field(26, 2),
            linked: field(28, 1) == 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TlbEntry, TlbWindow};

    #[test]
    fn windows_of_three_sizes() {
        let at = |offset| TlbWindow::at(offset).map(|w| (w.index, w.base, w.size()));
        assert_eq!(at(0x0012_3456), Some((1, 0x0010_0000, 1 << 20)));
        assert_eq!(at(0x09C0_0000), Some((156, 0x09C0_0000, 2 << 20)));
        assert_eq!(at(0x0AFF_FFFF), Some((165, 0x0AE0_0000, 2 << 20)));
        assert_eq!(at(0x0B00_0000), Some((166, 0x0B00_0000, 16 << 20)));
        assert_eq!(at(0x1DFF_FFFF), Some((184, 0x1D00_0000, 16 << 20)));
        assert_eq!(at(0x1EFF_FFFF), Some((185, 0x1E00_0000, 16 << 20)));
        assert_eq!(at(0x1F00_0000), None);
    }

    #[test]
    fn the_worked_value() {
        let entry = TlbEntry::decode(0x0000_2400_0189_0000, 20);
        assert_eq!((entry.local, entry.end, entry.noc), (0, (9, 6), 0));
        assert_eq!((entry.ordering, entry.multicast, entry.linked), (1, false, false));
    }
}
