//! Messages to snapshots.

use crate::error::Damage;
use crate::format::{
    ChipMoment, MomentRecord, Since, Stopped, StoredGap, StoredSpan, TILE_END, of_tiles, of_turns,
};
use crate::memory::Memory;
use layouts::{ChipId, NocAddr, NocXy};
use machine::snapshot::{AccessError, Gap, Piece, Snapshot, Span};
use std::collections::BTreeMap;

/// Limit of the bytes of a moment: a file must not exhaust the host's memory.
const MOST_BYTES: u64 = 256 << 20;
/// Limit of its ranges.
const MOST_RANGES: usize = 1 << 20;

#[derive(Clone, Debug, Default)]
struct ChipState {
    now: Memory,
    key: Memory,
    pieces: Vec<StoredSpan>,
    /// Bytes of the pieces.
    bytes: u64,
    /// When each was read: target and host.
    times: Vec<(u64, u64)>,
    /// The same of the key snapshot.
    key_times: Vec<(u64, u64)>,
    /// The number of the moment of its newest message.
    number: u32,
}

/// The state after the messages so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decoder {
    chips: BTreeMap<u16, ChipState>,
    /// The bytes of the pieces of all chips, and their number.
    bytes: u64,
    ranges: usize,
    gaps: Vec<StoredGap>,
    stopped: Stopped,
}

impl Decoder {
    /// Takes the message of a chip.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn take_chip(&mut self, chip: u16, number: u32, data: &[u8]) -> Result<(), Damage> {
        let message: ChipMoment =
            rmp_serde::from_slice(data).map_err(|error| Damage::Chip(chip, error))?;
        let state = self.chips.entry(chip).or_default();
        self.bytes -= state.bytes;
        self.ranges -= state.pieces.len();
        let most = (MOST_BYTES - self.bytes, MOST_RANGES - self.ranges);
        let taken = state.take(&message, number, most).ok_or(Damage::Ranges(chip));
        self.bytes += state.bytes;
        self.ranges += state.pieces.len();
        taken
    }

    /// Takes the message of a moment, and returns the snapshot.
    pub(crate) fn finish(&mut self, number: u32, record: MomentRecord) -> Snapshot {
        let transactions = record.transactions;
        self.take_lasting(record);
        let stopped = self.stopped.clone();
        let mut snapshot = Snapshot { transactions, stopped, ..Snapshot::default() };
        for (chip, state) in self.chips.iter().filter(|(_, state)| state.number == number) {
            state.read(ChipId(*chip), &mut snapshot);
        }
        snapshot.gaps.extend(self.gaps.iter().filter_map(StoredGap::gap));
        snapshot
    }

    /// Keeps what the moments after this one do not repeat.
    pub(crate) fn take_lasting(&mut self, record: MomentRecord) {
        self.gaps = record.gaps.unwrap_or_else(|| std::mem::take(&mut self.gaps));
        self.stopped = record.stopped.unwrap_or_else(|| std::mem::take(&mut self.stopped));
    }
}

impl ChipState {
    /// Takes a message, whose pieces have at most this many bytes and ranges.
    fn take(
        &mut self,
        message: &ChipMoment,
        number: u32,
        (most_bytes, most_ranges): (u64, usize),
    ) -> Option<()> {
        if let Some(pieces) = &message.pieces {
            let pieces = of_tiles(pieces, most_ranges)?;
            self.bytes = fit(&pieces).filter(|bytes| *bytes <= most_bytes)?;
            self.pieces = pieces;
        }
        match message.since {
            Since::Nothing => {
                self.now = Memory::default();
                self.pieces.iter().for_each(|span| self.now.learn(*span));
            }
            Since::Key => self.now = self.key.clone(),
            Since::Before => {}
        }
        self.change(&message.changes)?;
        self.times = self.times_after(message)?;
        if message.since == Since::Nothing {
            self.key = self.now.clone();
            self.key_times.clone_from(&self.times);
        }
        self.number = number;
        Some(())
    }

    /// Returns when each piece was read, after this message.
    fn times_after(&self, message: &ChipMoment) -> Option<Vec<(u64, u64)>> {
        let count = self.pieces.len();
        let was_read = match &message.read {
            Some(turns) => of_turns(turns, count)?,
            None => vec![true; count],
        };
        let mut read = message.times()?.into_iter();
        let time = |(i, was_read): (usize, &bool)| match (was_read, message.since) {
            (true, _) => read.next(),
            (false, Since::Before) => self.times.get(i).copied(),
            // A piece that was not read since a key snapshot that is lost is unknown.
            (false, _) => Some(self.key_times.get(i).copied().unwrap_or_default()),
        };
        let times = was_read.iter().enumerate().map(time).collect::<Option<Vec<_>>>()?;
        read.next().is_none().then_some(times)
    }

    /// Makes the changes, whose positions count the bytes of all pieces.
    fn change(&mut self, changes: &[(u32, serde_bytes::ByteBuf)]) -> Option<()> {
        let mut spans = self.pieces.iter().scan(0_u64, |end, span| {
            let start = *end;
            *end += u64::from(span.3);
            Some((start, *end, *span))
        });
        let mut span = spans.next();
        let mut at = 0_u64;
        for (skip, bytes) in changes {
            at += u64::from(*skip);
            let mut bytes = bytes.as_slice();
            while !bytes.is_empty() {
                let (start, end, (x, y, offset, _)) = span?;
                if at >= end {
                    span = spans.next();
                    continue;
                }
                let len = bytes.len().min((end - at) as usize);
                let (now, rest) = bytes.split_at_checked(len)?;
                self.now.store((x, y, offset + (at - start)), now);
                (bytes, at) = (rest, at + len as u64);
            }
        }
        Some(())
    }

    /// Adds the pieces. Where the key snapshot is lost, only what changed since is known.
    fn read(&self, chip: ChipId, snapshot: &mut Snapshot) {
        for (span, (target_cycles, host_micros)) in self.pieces.iter().zip(&self.times) {
            let (x, y, offset, len) = *span;
            let addr = |at: u64| NocAddr { chip, tile: NocXy { x, y }, offset: offset + at };
            let mut gap = |from: u64, to: u64| {
                let span = Span { addr: addr(from), len: (to - from) as u32 };
                if span.len > 0 {
                    snapshot.gaps.push(Gap { span, reason: AccessError::NotRecorded });
                }
            };
            let mut end = 0;
            for (at, bytes) in self.now.known(*span) {
                gap(end, at);
                end = at + bytes.len() as u64;
                snapshot.pieces.push(Piece {
                    addr: addr(at),
                    target_cycles: *target_cycles,
                    host_micros: *host_micros,
                    bytes: bytes.into(),
                });
            }
            gap(end, u64::from(len));
        }
    }
}

/// Returns the bytes of ranges; none unless they are sorted, do not overlap, and end within a tile's
/// addresses.
fn fit(spans: &[StoredSpan]) -> Option<u64> {
    let end = |span: &StoredSpan| span.2.saturating_add(u64::from(span.3));
    let place = |span: &StoredSpan| (span.0, span.1);
    let total: u64 = spans.iter().map(|span| u64::from(span.3)).sum();
    let sorted = spans.windows(2).all(|pair| match pair {
        [a, b] => place(a) < place(b) || (place(a) == place(b) && end(a) <= b.2),
        _ => true,
    });
    let fit = sorted && spans.iter().all(|span| end(span) <= TILE_END && span.3 > 0);
    fit.then_some(total)
}
