//! One moment: the bytes read, with their times, and the gaps, with their reasons.

use layouts::{ChipId, NocAddr, NocXy};
use machine::snapshot::{AccessError, Gap, Piece, Snapshot, Span};
use serde::{Deserialize, Serialize};

/// Tile-local addresses have 36 bits.
const TILE_END: u64 = 1 << 36;

/// A snapshot in the file's form.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Moment {
    /// The target time of the moment, in device cycles.
    pub(crate) cycles: u64,
    pieces: Vec<StoredPiece>,
    gaps: Vec<StoredGap>,
    transactions: u64,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StoredPiece {
    at: SpanPlace,
    target_cycles: u64,
    host_micros: u64,
    #[serde(with = "serde_bytes")]
    bytes: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StoredGap {
    at: SpanPlace,
    len: u32,
    reason: String,
    #[serde(default)]
    words: String,
    #[serde(default)]
    number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SpanPlace {
    chip: u16,
    x: u8,
    y: u8,
    offset: u64,
}

impl SpanPlace {
    /// Whether `len` bytes, at least one, end within a tile's addresses.
    fn holds(self, len: usize) -> bool {
        len > 0 && self.offset.saturating_add(len as u64) <= TILE_END
    }
}

impl From<NocAddr> for SpanPlace {
    fn from(addr: NocAddr) -> Self {
        let NocAddr { chip, tile, offset } = addr;
        Self { chip: chip.0, x: tile.x, y: tile.y, offset }
    }
}

impl From<SpanPlace> for NocAddr {
    fn from(place: SpanPlace) -> Self {
        let tile = NocXy { x: place.x, y: place.y };
        Self { chip: ChipId(place.chip), tile, offset: place.offset }
    }
}

/// Returns the reason's keyword in the file, its words and its number.
fn encode_reason(reason: &AccessError) -> (&'static str, String, u64) {
    match reason {
        AccessError::Refused(why) => ("refused", why.clone(), 0),
        AccessError::TimedOut { deadline_cycles } => ("timed_out", String::new(), *deadline_cycles),
        AccessError::Unreachable(why) => ("unreachable", why.clone(), 0),
        AccessError::Hung(why) => ("hung", why.clone(), 0),
        AccessError::InReset => ("in_reset", String::new(), 0),
        AccessError::DeviceGone(words) => ("device_gone", words.clone(), 0),
        AccessError::QueueError { flags } => ("queue_error", String::new(), u64::from(*flags)),
        AccessError::NotRecorded => ("not_recorded", String::new(), 0),
        AccessError::NotRequested => ("not_asked", String::new(), 0),
    }
}

/// Returns the reason of a gap. An unknown reason, from a newer meshscope, is kept as text.
fn decode_reason(gap: &StoredGap) -> AccessError {
    match gap.reason.as_str() {
        "refused" => AccessError::Refused(gap.words.clone()),
        "timed_out" => AccessError::TimedOut { deadline_cycles: gap.number },
        "unreachable" => AccessError::Unreachable(gap.words.clone()),
        "hung" => AccessError::Hung(gap.words.clone()),
        "in_reset" => AccessError::InReset,
        "device_gone" => AccessError::DeviceGone(gap.words.clone()),
        "queue_error" => AccessError::QueueError { flags: gap.number as u32 },
        "not_recorded" => AccessError::NotRecorded,
        "not_asked" => AccessError::NotRequested,
        newer => AccessError::Refused(format!("{newer} {}", gap.words).trim_end().to_owned()),
    }
}

impl Moment {
    /// Returns the moment of a snapshot at this target time.
    pub(crate) fn new(snapshot: &Snapshot, cycles: u64) -> Self {
        let piece = |piece: &Piece| StoredPiece {
            at: piece.addr.into(),
            target_cycles: piece.target_cycles,
            host_micros: piece.host_micros,
            bytes: piece.bytes.to_vec(),
        };
        let gap = |gap: &Gap| {
            let (reason, words, number) = encode_reason(&gap.reason);
            let (at, len) = (gap.span.addr.into(), gap.span.len);
            StoredGap { at, len, reason: reason.into(), words, number }
        };
        Self {
            cycles,
            pieces: snapshot.pieces.iter().map(piece).collect(),
            gaps: snapshot.gaps.iter().map(gap).collect(),
            transactions: snapshot.transactions,
        }
    }

    /// Returns the recorded snapshot. The file may violate the invariants of [`Snapshot`]: pieces
    /// are sorted, and pieces that overlap others or exceed a tile's 36 bits are dropped.
    pub(crate) fn into_snapshot(self) -> Snapshot {
        let gap = |gap: &StoredGap| Gap {
            span: Span { addr: gap.at.into(), len: gap.len },
            reason: decode_reason(gap),
        };
        let piece = |piece: StoredPiece| Piece {
            addr: piece.at.into(),
            target_cycles: piece.target_cycles,
            host_micros: piece.host_micros,
            bytes: piece.bytes.into(),
        };
        let gaps = self.gaps.iter().filter(|gap| gap.at.holds(gap.len as usize)).map(gap).collect();
        let whole = self.pieces.into_iter().filter(|piece| piece.at.holds(piece.bytes.len()));
        let mut pieces: Vec<Piece> = whole.map(piece).collect();
        pieces.sort_by_key(|piece| piece.addr);
        pieces.dedup_by(|next, before| overlaps(before, next));
        Snapshot { pieces, gaps, transactions: self.transactions }
    }
}

fn overlaps(before: &Piece, next: &Piece) -> bool {
    let same_tile = (before.addr.chip, before.addr.tile) == (next.addr.chip, next.addr.tile);
    same_tile && before.addr.offset.saturating_add(before.bytes.len() as u64) > next.addr.offset
}
