//! One command for the queue: a word or a block, to be read or written.

use super::words::{ENTRY_BYTES, Far};
use crate::eth_firmware::routing;

/// Bytes from afar and the target's time when they had come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamped {
    pub(crate) bytes: Vec<u8>,
    pub(crate) cycles: u64,
}

/// What to do at a far place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Reads the word there.
    ReadWord(Far),
    /// Reads so many bytes: a multiple of 4, at most 1 KiB, from a multiple of 32.
    ReadBlock(Far, u32),
    /// Writes this word.
    WriteWord(Far, u32),
    /// Writes so many bytes, as for reading.
    WriteBlock(Far, u32),
}

impl Command {
    /// Where.
    pub(crate) fn far(&self) -> Far {
        match self {
            Self::ReadWord(far)
            | Self::ReadBlock(far, _)
            | Self::WriteWord(far, _)
            | Self::WriteBlock(far, _) => *far,
        }
    }

    /// Bytes of its block; none for a word.
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

    /// Flags of the answer to a read that went well.
    pub(super) fn expected(&self) -> u32 {
        routing().read_data | self.block().map_or(0, |_| routing().block)
    }
}
