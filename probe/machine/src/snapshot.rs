//! Plans, and immutable snapshots of the bytes read and the ranges not read.

use layouts::{ChipId, CoreKind, NoChannel, NocAddr, NocXy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;
use thiserror::Error;

/// Why an access failed or a range was not read; gaps and access errors share it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum AccessError {
    /// The safe access layer does not allow it, for this reason.
    #[error("refused: {0}")]
    Refused(String),
    /// No answer within the deadline.
    #[error("timed out after {deadline_cycles} cycles")]
    TimedOut {
        /// The deadline, in cycles of the target's own time.
        deadline_cycles: u64,
    },
    /// No gateway or route leads to the chip.
    #[error("unreachable: {0}")]
    Unreachable(String),
    /// Another client took over the routing queues in the middle of the request, which can be made
    /// again.
    #[error("unreachable: {0}")]
    #[strum(serialize = "unreachable")]
    Overtaken(String),
    /// The tile does not answer, while its chip does or did until then; the words name it.
    #[error("{0}")]
    Hung(String),
    /// The tile or core is held in reset.
    #[error("in reset")]
    InReset,
    /// The device left the bus or its process ended; the last error.
    #[error("device gone: {0}")]
    DeviceGone(String),
    /// The routing queue answered with error flags.
    #[error("queue error, flags {flags:#010x}")]
    QueueError {
        /// Flags word of the response entry.
        flags: u32,
    },
    /// The recording does not hold this range.
    #[error("not recorded")]
    NotRecorded,
    /// The range was not requested.
    #[error("not asked")]
    #[strum(serialize = "not_asked")]
    NotRequested,
}

impl AccessError {
    /// Returns its stable name in JSON.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

impl From<NoChannel> for AccessError {
    fn from(error: NoChannel) -> Self {
        Self::Unreachable(error.to_string())
    }
}

/// A range of device memory: `len` bytes from `addr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct Span {
    /// First byte.
    #[serde(flatten)]
    pub addr: NocAddr,
    /// Its length in bytes.
    pub len: u32,
}

/// A range of memory that could not be read, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Gap {
    /// What is missing.
    #[serde(flatten)]
    pub span: Span,
    /// Why.
    #[serde(flatten, serialize_with = "named")]
    #[schemars(with = "Reason")]
    pub reason: AccessError,
}

/// An access error in JSON: in recordings and between processes it has its facts.
#[derive(Serialize, JsonSchema)]
struct Reason {
    /// refused, timed_out, unreachable, hung, in_reset, device_gone, queue_error, not_recorded or
    /// not_asked.
    reason: &'static str,
    /// The reason in a sentence.
    detail: String,
}

fn named<S: Serializer>(error: &AccessError, to: S) -> Result<S::Ok, S::Error> {
    Reason { reason: error.name(), detail: error.to_string() }.serialize(to)
}

/// Bytes of an answer, shared with other pieces of the same answer.
#[derive(Clone)]
pub struct Bytes {
    answer: Arc<Vec<u8>>,
    start: u32,
    len: u32,
}

impl Bytes {
    /// Returns `len` bytes of `answer` from `start`.
    pub fn of(answer: &Arc<Vec<u8>>, start: u32, len: u32) -> Self {
        Self { answer: Arc::clone(answer), start, len }
    }

    /// Returns `len` of its bytes from `start`, shared; none if it has fewer.
    fn part(&self, start: usize, len: usize) -> Option<Self> {
        self.get(start..start.checked_add(len)?)?;
        Some(Self::of(&self.answer, self.start + start as u32, len as u32))
    }

    /// Whether both are the same bytes of the same answer.
    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.answer, &other.answer)
            && (self.start, self.len) == (other.start, other.len)
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let start = self.start as usize;
        self.answer.get(start..start + self.len as usize).unwrap_or(&[])
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self { start: 0, len: bytes.len() as u32, answer: Arc::new(bytes) }
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        bytes.to_vec().into()
    }
}

impl FromIterator<u8> for Bytes {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> Self {
        Vec::from_iter(bytes).into()
    }
}

impl Extend<u8> for Bytes {
    fn extend<I: IntoIterator<Item = u8>>(&mut self, more: I) {
        if self.len() != self.answer.len() {
            *self = self.to_vec().into();
        }
        // Copies the answer if it is shared, so that other pieces keep their bytes.
        let own = Arc::make_mut(&mut self.answer);
        own.extend(more);
        self.len = own.len() as u32;
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || **self == **other
    }
}

impl Eq for Bytes {}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// A range that was read, with the times of its own read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First byte.
    pub addr: NocAddr,
    /// Target time when it was read, in device cycles.
    pub target_cycles: u64,
    /// Host time when it was read, in microseconds since the Unix epoch.
    pub host_micros: u64,
    /// The bytes.
    pub bytes: Bytes,
}

impl Piece {
    /// Returns its range.
    pub fn span(&self) -> Span {
        Span { addr: self.addr, len: self.bytes.len() as u32 }
    }

    /// Adds the parts of it that no range covers; the ranges are sorted.
    fn add_without(&self, covered: &[Span], parts: &mut Vec<Self>) {
        let tile = |addr: NocAddr| (addr.chip, addr.tile);
        let (mut at, end) = (self.addr.offset, self.addr.offset + self.bytes.len() as u64);
        let span_end = |span: &Span| span.addr.offset.saturating_add(span.len.into());
        let ends_before = |span: &Span| (tile(span.addr), span_end(span)) <= (tile(self.addr), at);
        let first = covered.partition_point(ends_before);
        let overlaps = |span: &&Span| tile(span.addr) == tile(self.addr) && span.addr.offset < end;
        let same = covered.iter().skip(first).take_while(overlaps);
        for span in same {
            parts.extend(self.part(at..span.addr.offset));
            at = at.max(span_end(span));
        }
        parts.extend(self.part(at..end));
    }

    /// Returns the part of it at these addresses of its tile; none if they are none.
    fn part(&self, range: Range<u64>) -> Option<Self> {
        let start = range.start.checked_sub(self.addr.offset)? as usize;
        let len = range.end.checked_sub(range.start).filter(|len| *len > 0)? as usize;
        let bytes = self.bytes.part(start, len)?;
        Some(Self { addr: NocAddr { offset: range.start, ..self.addr }, bytes, ..self.clone() })
    }
}

/// The ranges to read, in order of priority.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The ranges.
    pub spans: Vec<Span>,
}

impl Plan {
    /// Returns its ranges that a snapshot has neither read nor given up. One that overlaps a piece
    /// takes the piece along, so that one piece of both snapshots holds each range.
    #[must_use]
    pub fn missing_from(&self, snapshot: &Snapshot) -> Self {
        let mut spans = Vec::new();
        for span in self.spans.iter().filter(|span| snapshot.lacks(span)) {
            spans.push(*span);
            spans.extend(snapshot.pieces_in(span).map(Piece::span));
        }
        Self { spans }
    }
}

/// The result of reading a plan: pieces by address, and gaps for the ranges not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// What was read, sorted by address, without overlaps.
    pub pieces: Vec<Piece>,
    /// Requested ranges that were not read.
    pub gaps: Vec<Gap>,
    /// Whether the gaps are sorted by address, without overlaps.
    pub sorted_gaps: bool,
    /// Bus transactions that the read took.
    pub transactions: u64,
    /// The cores that the machine has stopped, if it is an emulated one.
    pub stopped: Vec<(ChipId, StoppedCore)>,
}

/// A core that an emulated machine has stopped, since it does not model what the core did. It stays
/// stopped until it is reset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoppedCore {
    /// The tile.
    pub tile: NocXy,
    /// The core of the tile.
    pub core: CoreKind,
    /// The address of the instruction that stopped it, as the core sees it.
    pub pc: u32,
    /// What was not modelled, as a clause: `illegal-instruction 0x0`.
    pub why: String,
    /// When, in device cycles.
    pub at_cycles: u64,
}

impl Snapshot {
    /// Returns `len` bytes at `addr`, if one piece holds them all.
    ///
    /// # Errors
    /// The reason of the gap that covers `addr`, or `NotRequested`.
    pub fn bytes(&self, addr: NocAddr, len: u32) -> Result<&[u8], AccessError> {
        if let Some(piece) = self.last_before(addr).and_then(|index| self.pieces.get(index)) {
            let start = (addr.offset - piece.addr.offset) as usize;
            if let Some(bytes) = piece.bytes.get(start..start.saturating_add(len as usize)) {
                return Ok(bytes);
            }
        }
        Err(self.gap_reason(addr))
    }

    /// Returns the target time when the byte at `addr` was read, in device cycles.
    pub fn read_at(&self, addr: NocAddr) -> Option<u64> {
        let piece = self.pieces.get(self.last_before(addr)?)?;
        let end = piece.addr.offset + piece.bytes.len() as u64;
        (addr.offset < end).then_some(piece.target_cycles)
    }

    /// Returns the index of the last piece on a tile that does not begin behind `addr`.
    fn last_before(&self, addr: NocAddr) -> Option<usize> {
        let index = self.pieces.partition_point(|piece| piece.addr <= addr).checked_sub(1)?;
        let at = self.pieces.get(index)?.addr;
        ((at.chip, at.tile) == (addr.chip, addr.tile)).then_some(index)
    }

    /// Returns the little-endian word at `addr`.
    ///
    /// # Errors
    /// As [`Snapshot::bytes`].
    pub fn word(&self, addr: NocAddr) -> Result<u32, AccessError> {
        let mut word = [0; 4];
        word.copy_from_slice(self.bytes(addr, 4)?);
        Ok(u32::from_le_bytes(word))
    }

    /// Returns this snapshot, of which some tiles were not read yet, with those tiles as they were
    /// read before.
    #[must_use]
    pub fn over(&self, before: Option<&Self>) -> Self {
        let place = |addr: NocAddr| (addr.chip, addr.tile);
        let read = self.pieces.iter().map(|piece| place(piece.addr));
        let given_up = self.gaps.iter().map(|gap| place(gap.span.addr));
        let fresh: HashSet<_> = read.chain(given_up).collect();
        let mut whole = self.clone();
        if let Some(before) = before {
            let stale = |addr: NocAddr| !fresh.contains(&place(addr));
            whole.pieces.extend(before.pieces.iter().filter(|p| stale(p.addr)).cloned());
            whole.gaps.extend(before.gaps.iter().filter(|g| stale(g.span.addr)).cloned());
            whole.sort_gaps();
        }
        whole.pieces.sort_by_key(|piece| piece.addr);
        whole
    }

    /// Returns this snapshot with the bytes that an older one has and this one did not read, each
    /// with the time of its own read.
    #[must_use]
    pub fn completed_by(&self, older: &Self) -> Self {
        let mut whole = self.clone();
        let mut known: Vec<Span> = self.gaps.iter().map(|gap| gap.span).collect();
        known.extend(self.pieces.iter().map(Piece::span));
        known.sort_unstable();
        whole.pieces.reserve(older.pieces.len());
        for piece in &older.pieces {
            piece.add_without(&known, &mut whole.pieces);
        }
        whole.pieces.sort_by_key(|piece| piece.addr);
        whole
    }

    /// Returns this snapshot with what was read later because it lacked it.
    #[must_use]
    pub fn extended_by(&self, later: &Self) -> Self {
        let mut whole = later.completed_by(self);
        whole.gaps.extend(self.gaps.iter().cloned());
        whole.sort_gaps();
        whole.transactions += self.transactions;
        whole
    }

    /// Sorts the gaps by address. Of two that overlap, the first keeps what both have.
    fn sort_gaps(&mut self) {
        self.gaps.sort_by_key(|gap| gap.span.addr);
        let mut before: Option<Span> = None;
        self.gaps.retain_mut(|gap| {
            let tile = |span: Span| (span.addr.chip, span.addr.tile);
            if let Some(last) = before.filter(|last| tile(*last) == tile(gap.span)) {
                let end = last.addr.offset.saturating_add(last.len.into());
                let cut = end.saturating_sub(gap.span.addr.offset).min(gap.span.len.into());
                gap.span.addr.offset += cut;
                gap.span.len -= cut as u32;
            }
            let stays = gap.span.len > 0;
            if stays {
                before = Some(gap.span);
            }
            stays
        });
        self.sorted_gaps = true;
    }

    /// Whether it has neither read a range nor given it up.
    fn lacks(&self, span: &Span) -> bool {
        self.bytes(span.addr, span.len) == Err(AccessError::NotRequested)
    }

    /// Returns its pieces with bytes of a range.
    fn pieces_in(&self, span: &Span) -> impl Iterator<Item = &Piece> {
        let end = NocAddr { offset: span.addr.offset + u64::from(span.len), ..span.addr };
        let first = self.pieces.partition_point(move |piece| {
            let behind = piece.addr.offset + piece.bytes.len() as u64;
            NocAddr { offset: behind, ..piece.addr } <= span.addr
        });
        self.pieces.iter().skip(first).take_while(move |piece| piece.addr < end)
    }

    /// Returns its pieces with bytes of a plan, and none of its gaps: what was not read may be read now.
    #[must_use]
    pub fn part_of(&self, plan: &Plan) -> Self {
        let pieces = plan.spans.iter().flat_map(|span| self.pieces_in(span));
        let mut pieces: Vec<Piece> = pieces.cloned().collect();
        pieces.sort_by_key(|piece| piece.addr);
        pieces.dedup_by_key(|piece| piece.addr);
        Self { pieces, ..Self::default() }
    }

    /// Returns what it has of some tiles.
    #[must_use]
    pub fn of_tiles(&self, tiles: &BTreeSet<(ChipId, NocXy)>) -> Self {
        let on_them = |addr: NocAddr| tiles.contains(&(addr.chip, addr.tile));
        let pieces = self.pieces.iter().filter(|piece| on_them(piece.addr));
        let gaps = self.gaps.iter().filter(|gap| on_them(gap.span.addr));
        Self {
            pieces: pieces.cloned().collect(),
            gaps: gaps.cloned().collect(),
            stopped: self.stopped.clone(),
            ..*self
        }
    }

    /// Replaces bytes that it has; others are left out.
    pub fn replace(&mut self, addr: NocAddr, bytes: &[u8]) {
        let piece = self.last_before(addr).and_then(|index| self.pieces.get_mut(index));
        let Some(piece) = piece else { return };
        let start = (addr.offset - piece.addr.offset) as usize;
        let mut whole = piece.bytes.to_vec();
        if let Some(place) = whole.get_mut(start..start.saturating_add(bytes.len())) {
            place.copy_from_slice(bytes);
            piece.bytes = whole.into();
        }
    }

    fn gap_reason(&self, addr: NocAddr) -> AccessError {
        let covers = |gap: &&Gap| {
            let start = gap.span.addr;
            (start.chip, start.tile) == (addr.chip, addr.tile)
                && (start.offset..start.offset + u64::from(gap.span.len)).contains(&addr.offset)
        };
        let found = if self.sorted_gaps {
            let after = self.gaps.partition_point(|gap| gap.span.addr <= addr);
            after.checked_sub(1).and_then(|index| self.gaps.get(index)).filter(covers)
        } else {
            self.gaps.iter().find(covers)
        };
        found.map_or(AccessError::NotRequested, |gap| gap.reason.clone())
    }

    /// Returns the newest target time of any piece of `chip`, in device cycles.
    pub fn newest_cycles(&self, chip: ChipId) -> Option<u64> {
        self.pieces.iter().filter(|p| p.addr.chip == chip).map(|p| p.target_cycles).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(offset: u64, bytes: &[u8]) -> Piece {
        let addr = NocAddr { chip: ChipId(0), tile: NocXy { x: 1, y: 2 }, offset };
        Piece { addr, target_cycles: u64::from(bytes[0]), host_micros: 0, bytes: bytes.into() }
    }

    #[test]
    fn an_older_snapshot_completes_a_newer_one_where_that_did_not_read() {
        let older = Snapshot {
            pieces: vec![piece(0, &[1; 8]), piece(16, &[2; 16]), piece(64, &[3; 4])],
            ..Snapshot::default()
        };
        let gap = Gap { span: piece(64, &[0; 4]).span(), reason: AccessError::InReset };
        let newer = Snapshot {
            pieces: vec![piece(4, &[9; 4]), piece(20, &[9; 2]), piece(30, &[9; 8])],
            gaps: vec![gap],
            sorted_gaps: true,
            transactions: 3,
            stopped: Vec::new(),
        };
        let whole = newer.completed_by(&older);
        let shown: Vec<(u64, usize, u64)> =
            whole.pieces.iter().map(|p| (p.addr.offset, p.bytes.len(), p.target_cycles)).collect();
        let parts = [(0, 4, 1), (4, 4, 9), (16, 4, 2), (20, 2, 9), (22, 8, 2), (30, 8, 9)];
        assert_eq!(shown, parts);
        assert_eq!((whole.gaps.len(), whole.transactions), (1, 3));
    }

    #[test]
    fn gaps_are_sorted_and_overlap_nothing_once_a_snapshot_is_extended() {
        let gap = |offset, len, reason| {
            let span = Span { len, ..piece(offset, &[0]).span() };
            Gap { span, reason }
        };
        let before = Snapshot {
            gaps: vec![gap(64, 8, AccessError::InReset), gap(0, 8, AccessError::InReset)],
            ..Snapshot::default()
        };
        let later = Snapshot {
            gaps: vec![gap(68, 12, AccessError::NotRecorded), gap(4, 4, AccessError::NotRecorded)],
            ..Snapshot::default()
        };
        let whole = before.extended_by(&later);
        let shown: Vec<_> = whole.gaps.iter().map(|g| (g.span.addr.offset, g.span.len)).collect();
        assert_eq!(shown, [(0, 8), (64, 8), (72, 8)]);
        let reason = |offset| whole.word(piece(offset, &[0]).addr).err();
        assert_eq!(reason(68), Some(AccessError::InReset));
        assert_eq!(reason(76), Some(AccessError::NotRecorded));
        assert_eq!(reason(80), Some(AccessError::NotRequested));
    }

    #[test]
    fn what_a_snapshot_lacks_is_read_later_and_each_range_stays_whole() {
        let gap = Gap { span: piece(64, &[0; 4]).span(), reason: AccessError::InReset };
        let read = Snapshot {
            pieces: vec![piece(0, &[1; 8]), piece(16, &[2; 16])],
            gaps: vec![gap],
            ..Snapshot::default()
        };
        let span = |offset, len| Span { len, ..piece(offset, &[0]).span() };
        let plan = Plan { spans: vec![span(4, 4), span(64, 4), span(28, 8), span(40, 4)] };
        let missing = plan.missing_from(&read);
        assert_eq!(missing.spans, [span(28, 8), span(16, 16), span(40, 4)]);

        let rest = vec![piece(16, &[9; 20]), piece(40, &[9; 4])];
        let whole = read.extended_by(&Snapshot { pieces: rest, ..Snapshot::default() });
        let is_whole = |span: &Span| whole.bytes(span.addr, span.len).is_ok();
        assert!([span(0, 8), span(16, 16), span(28, 8), span(40, 4)].iter().all(is_whole));
        assert_eq!(whole.bytes(span(64, 4).addr, 4), Err(AccessError::InReset));
        assert_eq!(plan.missing_from(&whole), Plan::default());
    }
}
