//! The message of one chip in a moment: which ranges were read, when, and which bytes changed.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use std::collections::BTreeMap;

/// The JSON schema of the message.
pub(crate) const SCHEMA: &str = r#"{
  "title": "meshscope.Chip",
  "description": "The ranges of one chip that a moment read. The message is MessagePack.",
  "type": "object",
  "properties": {
    "since": {"enum": ["nothing", "key", "before"], "description": "What `changes` is relative to: memory of which nothing is known and all bytes are 0, the moment `key_moment` of the moment's message, or the message of the chip before this one."},
    "pieces": {"type": ["array", "null"], "description": "The ranges read: tiles (NOC 0 x, y) of which the same ranges were read, and these (byte offset in the tile, length in bytes). The pieces are all of them, sorted by x, y and offset. Null: those of the message before.", "items": {"type": "array"}},
    "read": {"type": ["array", "null"], "description": "How many pieces in turn were read, and were not: these keep their times and bytes of what `changes` is relative to. Null: all were read.", "items": {"type": "integer"}},
    "target_cycles": {"type": "array", "description": "The times at which pieces were read, each once, in device cycles: the first, then the difference from the time before.", "items": {"type": "integer"}},
    "host_micros": {"type": "array", "description": "The same times in microseconds since the Unix epoch.", "items": {"type": "integer"}},
    "which": {"type": ["array", "null"], "description": "The index of the time of each piece that was read: the first, then the difference from the piece before. Null: each has a time of its own.", "items": {"type": "integer"}},
    "changes": {"type": "array", "description": "The changed bytes of all pieces in their order: number of bytes that are unchanged since the change before, then the new bytes.", "items": {"type": "array"}}
  }
}"#;

/// What the changes of a chip's message are relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Since {
    /// Memory of which nothing is known, and all bytes are 0.
    Nothing,
    /// The key snapshot.
    Key,
    /// The chip's message before.
    Before,
}

/// A range that was read: x, y, byte offset in the tile, length in bytes.
pub(crate) type StoredSpan = (u8, u8, u64, u32);

/// Tiles of which the same ranges were read: x, y; and these: byte offset in the tile, length in
/// bytes.
pub(crate) type StoredTiles = (Vec<(u8, u8)>, Ranges);

/// Byte offsets in a tile, and lengths in bytes.
type Ranges = Vec<(u64, u32)>;

/// The ranges of one chip that a moment read.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ChipMoment {
    pub(crate) since: Since,
    /// None: those of the message before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pieces: Option<Vec<StoredTiles>>,
    /// How many pieces in turn were read, and were not. None, as in format 2: all were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) read: Option<Vec<u32>>,
    /// When pieces were read, each time once: the first, then differences.
    pub(crate) target_cycles: Vec<i64>,
    pub(crate) host_micros: Vec<i64>,
    /// The index of the time of each piece that was read: the first, then differences. None, as in
    /// format 3: each has a time of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) which: Option<Vec<i64>>,
    /// Unchanged bytes since the change before, and the new bytes.
    pub(crate) changes: Vec<(u32, ByteBuf)>,
}

impl ChipMoment {
    /// Returns the number of bytes that change.
    pub(crate) fn changed(&self) -> u32 {
        self.changes.iter().map(|(_, bytes)| bytes.len() as u32).sum()
    }

    /// Returns when each piece that was read was read: target and host. None if they do not fit.
    pub(crate) fn times(&self) -> Option<Vec<(u64, u64)>> {
        (self.target_cycles.len() == self.host_micros.len()).then_some(())?;
        let times: Vec<_> = sums(&self.target_cycles).zip(sums(&self.host_micros)).collect();
        let Some(which) = &self.which else { return Some(times) };
        let time = |index| times.get(usize::try_from(index).ok()?).copied();
        sums(which).map(time).collect()
    }
}

/// Returns ranges, which are sorted, by the tiles that share them: most tiles of a kind do.
pub(crate) fn by_tiles(spans: &[StoredSpan]) -> Vec<StoredTiles> {
    let mut tiles: BTreeMap<Ranges, Vec<(u8, u8)>> = BTreeMap::new();
    for of_tile in spans.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let ranges = of_tile.iter().map(|span| (span.2, span.3)).collect();
        let tile = of_tile.first().map(|span| (span.0, span.1));
        tiles.entry(ranges).or_default().extend(tile);
    }
    tiles.into_iter().map(|(ranges, tiles)| (tiles, ranges)).collect()
}

/// Returns the ranges of [`by_tiles`], sorted; none if they are more than `most`.
pub(crate) fn of_tiles(stored: &[StoredTiles], most: usize) -> Option<Vec<StoredSpan>> {
    let count = |(tiles, ranges): &StoredTiles| tiles.len().saturating_mul(ranges.len());
    let total = stored.iter().map(count).fold(0_usize, usize::saturating_add);
    (total <= most).then_some(())?;
    let of = |(tiles, ranges): &StoredTiles| {
        let ranges = ranges.clone();
        let spans = |(x, y): (u8, u8)| {
            ranges.iter().map(move |(offset, len)| (x, y, *offset, *len)).collect::<Vec<_>>()
        };
        tiles.iter().copied().flat_map(spans).collect::<Vec<_>>()
    };
    let mut spans: Vec<StoredSpan> = stored.iter().flat_map(of).collect();
    spans.sort_unstable();
    Some(spans)
}

/// Returns the first time and the differences of the further ones.
pub(crate) fn differences(times: impl Iterator<Item = u64>) -> Vec<i64> {
    let mut before = 0_u64;
    times
        .map(|time| {
            let difference = time.wrapping_sub(before).cast_signed();
            before = time;
            difference
        })
        .collect()
}

/// Returns the times of [`differences`].
pub(crate) fn sums(differences: &[i64]) -> impl Iterator<Item = u64> {
    differences.iter().scan(0_u64, |time, difference| {
        *time = time.wrapping_add(difference.cast_unsigned());
        Some(*time)
    })
}

/// Returns how many pieces in turn were read, and were not.
pub(crate) fn in_turn(was_read: &[bool]) -> Vec<u32> {
    let mut turns: Vec<u32> =
        was_read.chunk_by(|a, b| a == b).map(|turn| turn.len() as u32).collect();
    if was_read.first() == Some(&false) {
        turns.insert(0, 0);
    }
    turns
}

/// Returns, of this many pieces, which were read, by the turns of [`in_turn`]; none if they are of
/// another number of pieces.
pub(crate) fn of_turns(turns: &[u32], pieces: usize) -> Option<Vec<bool>> {
    let total = turns.iter().fold(0_usize, |total, turn| total.saturating_add(*turn as usize));
    (total == pieces).then_some(())?;
    let turn = |(i, turn): (usize, &u32)| std::iter::repeat_n(i % 2 == 0, *turn as usize);
    Some(turns.iter().enumerate().flat_map(turn).collect())
}
