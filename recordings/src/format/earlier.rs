//! A moment of format 1: one message with all bytes read. Only read.

use super::reason::{SpanPlace, StoredGap};
use machine::snapshot::{Piece, Snapshot};
use serde::Deserialize;

/// A moment of format 1.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct EarlierMoment {
    /// The target time of the moment, in device cycles.
    pub(crate) cycles: u64,
    pieces: Vec<EarlierPiece>,
    gaps: Vec<StoredGap>,
    transactions: u64,
}

#[derive(Debug, Deserialize)]
struct EarlierPiece {
    at: SpanPlace,
    target_cycles: u64,
    host_micros: u64,
    #[serde(with = "serde_bytes")]
    bytes: Vec<u8>,
}

impl EarlierMoment {
    /// Returns the host time of its newest piece, in microseconds since the Unix epoch.
    pub(crate) fn host_micros(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.host_micros).max().unwrap_or(0)
    }

    /// Returns the recorded snapshot. The file may violate the invariants of [`Snapshot`]: pieces
    /// are sorted, and pieces that overlap others or exceed a tile's 36 bits are dropped.
    pub(crate) fn into_snapshot(self) -> Snapshot {
        let piece = |piece: EarlierPiece| Piece {
            addr: piece.at.into(),
            target_cycles: piece.target_cycles,
            host_micros: piece.host_micros,
            bytes: piece.bytes.into(),
        };
        let whole = self.pieces.into_iter().filter(|piece| piece.at.holds(piece.bytes.len()));
        let mut pieces: Vec<Piece> = whole.map(piece).collect();
        pieces.sort_by_key(|piece| piece.addr);
        pieces.dedup_by(|next, before| overlaps(before, next));
        let gaps = self.gaps.iter().filter_map(StoredGap::gap).collect();
        Snapshot { pieces, gaps, transactions: self.transactions, ..Snapshot::default() }
    }
}

fn overlaps(before: &Piece, next: &Piece) -> bool {
    let same_tile = (before.addr.chip, before.addr.tile) == (next.addr.chip, next.addr.tile);
    same_tile && before.addr.offset.saturating_add(before.bytes.len() as u64) > next.addr.offset
}
