//! The layout of the queue structure, and its commands (wormhole.md 6.2, wormhole.md 6.3).

use crate::eth_firmware::eth;
use layouts::{ChipCoord, NocXy};

/// Bytes of an entry; a test compares with the layouts.
pub(super) const ENTRY_BYTES: usize = 32;
/// Number of queue counters that are read: from the first to the errors.
pub(super) const COUNTERS: u32 = 5;

/// An address on a far chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Far {
    pub(crate) coord: ChipCoord,
    pub(crate) tile: NocXy,
    pub(crate) offset: u64,
}

impl Far {
    /// Encodes tile, chip and offset as one number.
    pub(super) fn address(self) -> u64 {
        self.offset & 0xF_FFFF_FFFF
            | u64::from(self.tile.x) << 36
            | u64::from(self.tile.y) << 42
            | u64::from(self.coord.x) << 48
            | u64::from(self.coord.y) << 54
    }

    pub(super) fn entry(self, data: u32, flags: u32) -> [u8; ENTRY_BYTES] {
        let mut entry = [0; ENTRY_BYTES];
        entry[..8].copy_from_slice(&self.address().to_le_bytes());
        entry[8..12].copy_from_slice(&data.to_le_bytes());
        entry[12..16].copy_from_slice(&flags.to_le_bytes());
        entry[16] = self.coord.rack;
        entry[17] = self.coord.shelf;
        entry
    }
}

#[derive(Clone, Copy)]
pub(super) enum Field {
    Counters,
    WriteIndex,
    ReadIndex,
    Entry(u32),
}

impl Field {
    pub(super) fn offset(self) -> u64 {
        let queue = &eth().queue;
        match self {
            Self::Counters => 0,
            Self::WriteIndex => queue.write_index.at,
            Self::ReadIndex => queue.read_index.at,
            Self::Entry(slot) => queue.entry.nth(slot.into()),
        }
    }
}
