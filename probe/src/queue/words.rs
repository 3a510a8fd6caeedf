//! What stands where in the queue structure, and the commands that go into it (wormhole.md 6.2, 6.3).

use crate::bus::Answer;
use crate::snapshot::AccessError;
use layouts::{ChipCoord, NocXy, Routing, wormhole};

/// Bytes of an entry; a test compares with the layouts.
pub(super) const ENTRY_BYTES: usize = 32;
/// Words of a queue from its counters to its read index.
pub(super) const INDICES_WORDS: usize = 13;

/// The numbers of the protocol.
pub(super) fn routing() -> &'static Routing {
    &wormhole().eth.routing
}

/// A place on a far chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Far {
    pub(crate) coord: ChipCoord,
    pub(crate) tile: NocXy,
    pub(crate) offset: u64,
}

impl Far {
    pub(super) fn entry(self, data: u32, flags: u32) -> [u8; ENTRY_BYTES] {
        let address = self.offset & 0xF_FFFF_FFFF
            | u64::from(self.tile.x) << 36
            | u64::from(self.tile.y) << 42
            | u64::from(self.coord.x) << 48
            | u64::from(self.coord.y) << 54;
        let mut entry = [0; ENTRY_BYTES];
        entry[..8].copy_from_slice(&address.to_le_bytes());
        entry[8..12].copy_from_slice(&data.to_le_bytes());
        entry[12..16].copy_from_slice(&flags.to_le_bytes());
        entry[16] = self.coord.rack;
        entry[17] = self.coord.shelf;
        entry
    }
}

/// A place in a queue.
#[derive(Clone, Copy)]
pub(super) enum Field {
    Counters,
    WriteIndex,
    ReadIndex,
    Entry(u32),
}

impl Field {
    pub(super) fn offset(self) -> u64 {
        let queue = &wormhole().eth.queue;
        match self {
            Self::Counters => 0,
            Self::WriteIndex => queue.write_index.at,
            Self::ReadIndex => queue.read_index.at,
            Self::Entry(slot) => queue.entry.nth(slot.into()),
        }
    }
}

/// The four indices and the counters, as one look shows them.
pub(super) struct Indices {
    pub(super) cycles: u64,
    pub(super) writes_asked: u32,
    pub(super) writes_done: u32,
    pub(super) reads_asked: u32,
    pub(super) reads_done: u32,
    pub(super) errors: u32,
    pub(super) request_write: u32,
    pub(super) request_read: u32,
    pub(super) response_write: u32,
    pub(super) response_read: u32,
}

impl Indices {
    pub(super) fn take(answer: &mut Answer) -> Result<Self, AccessError> {
        let cycles = answer.cycles()?;
        let mut request = [0; INDICES_WORDS];
        for word in &mut request {
            *word = answer.word()?;
        }
        let layout = &wormhole().eth.queue;
        let at = |offset: u64| request.get((offset / 4) as usize).copied().unwrap_or_default();
        Ok(Self {
            cycles,
            writes_asked: at(layout.writes_requested.at),
            writes_done: at(layout.writes_answered.at),
            reads_asked: at(layout.reads_requested.at),
            reads_done: at(layout.reads_answered.at),
            errors: at(layout.errors.at),
            request_write: at(layout.write_index.at) & 7,
            request_read: at(layout.read_index.at) & 7,
            response_write: answer.word()? & 7,
            response_read: answer
                .skip((layout.read_index.at - layout.write_index.end()) as usize)
                .word()?
                & 7,
        })
    }
}
