//! Commands of the queue: reads and writes of a word or a block.

use super::words::{ENTRY_BYTES, Far};
use crate::eth_firmware::routing;

/// Bytes of a far chip, and the target's time when they arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamped {
    pub(crate) bytes: Vec<u8>,
    pub(crate) cycles: u64,
}

/// A command at an address of a far chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Reads the word.
    ReadWord(Far),
    /// Reads this number of bytes: a multiple of 4, at most 1 KiB, at a multiple of 32.
    ReadBlock(Far, u32),
    /// Writes this word.
    WriteWord(Far, u32),
    /// Writes this number of bytes, with the limits of a read.
    WriteBlock(Far, u32),
}

impl Command {
    /// Returns the address.
    pub(crate) fn far(&self) -> Far {
        match self {
            Self::ReadWord(far)
            | Self::ReadBlock(far, _)
            | Self::WriteWord(far, _)
            | Self::WriteBlock(far, _) => *far,
        }
    }

    /// Returns the bytes of its block; none for a word.
    pub(super) fn block(&self) -> Option<u32> {
        match self {
            Self::ReadBlock(_, len) | Self::WriteBlock(_, len) => Some(*len),
            Self::ReadWord(_) | Self::WriteWord(..) => None,
        }
    }

    pub(super) fn entry(&self) -> [u8; ENTRY_BYTES] {
        let routing = routing();
        match *self {
            // The length of a word is set as UMD sets it.
            Self::ReadWord(far) => far.entry(4, routing.read_request),
            Self::ReadBlock(far, len) => far.entry(len, routing.read_request | routing.block),
            Self::WriteWord(far, value) => far.entry(value, routing.write_request),
            Self::WriteBlock(far, len) => far.entry(len, routing.write_request | routing.block),
        }
    }

    /// Returns the flags of the answer to a successful read.
    pub(super) fn expected(&self) -> u32 {
        routing().read_data | self.block().map_or(0, |_| routing().block)
    }
}
