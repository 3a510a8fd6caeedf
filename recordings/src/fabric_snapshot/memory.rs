//! Bytes and gaps of a tile, out of parts that may overlap.

use layouts::{ChipId, NocAddr, NocXy};
use machine::snapshot::{AccessError, Gap, Piece, Snapshot, Span};
use std::collections::BTreeMap;

/// When the parts of a tile were read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReadTime {
    /// The chip's own time, in device cycles.
    pub(super) cycles: u64,
    /// The host's time, in microseconds since the Unix epoch.
    pub(super) micros: u64,
}

/// The memory and registers of a tile, as far as they were captured.
#[derive(Debug, Default)]
pub(super) struct TileMemory {
    /// Bytes by address, without overlaps.
    pieces: BTreeMap<u64, (ReadTime, Vec<u8>)>,
    gaps: Vec<(u64, u32, AccessError)>,
}

impl TileMemory {
    /// Adds bytes; those that are already there stay.
    pub(super) fn add(&mut self, offset: u64, bytes: &[u8], time: ReadTime) {
        let end = offset.saturating_add(bytes.len() as u64);
        let mut at = offset;
        while at < end {
            let before = self.pieces.range(..=at).next_back();
            let covered = before.map_or(0, |(start, (_, there))| start + there.len() as u64);
            if covered > at {
                at = covered;
                continue;
            }
            let next = self.pieces.range(at..).next().map_or(end, |(start, _)| *start);
            let stop = next.min(end);
            let part = bytes.get((at - offset) as usize..(stop - offset) as usize);
            self.pieces.insert(at, (time, part.unwrap_or_default().to_vec()));
            at = stop;
        }
    }

    /// Adds a word, or the reason why it was not read.
    pub(super) fn word(&mut self, at: u64, word: Result<u32, AccessError>, time: ReadTime) {
        match word {
            Ok(word) => self.add(at, &word.to_le_bytes(), time),
            Err(reason) => self.gap(at, 4, reason),
        }
    }

    /// Adds the reason why a range was not read; bytes that are there, and reasons that were added
    /// before, stay.
    pub(super) fn gap(&mut self, offset: u64, len: u32, reason: AccessError) {
        self.gaps.push((offset, len, reason));
    }

    /// Appends everything to a snapshot.
    pub(super) fn append_to(self, snapshot: &mut Snapshot, (chip, tile): (ChipId, NocXy)) {
        let at = |offset| NocAddr { chip, tile, offset };
        let pieces = self.pieces.into_iter().map(|(offset, (time, bytes))| Piece {
            addr: at(offset),
            target_cycles: time.cycles,
            host_micros: time.micros,
            bytes: bytes.into(),
        });
        snapshot.pieces.extend(pieces);
        let gaps = self.gaps.into_iter();
        let gaps = gaps.map(|(offset, len, reason)| (Span { addr: at(offset), len }, reason));
        snapshot.gaps.extend(gaps.map(|(span, reason)| Gap { span, reason }));
    }
}
