//! Snapshots to messages: what changed since the key snapshot, or since the moment before.

use crate::format::{
    ChipMoment, MomentRecord, Since, Stopped, StoredGap, StoredSpan, by_tiles, differences, in_turn,
};
use crate::memory::Memory;
use machine::snapshot::{Piece, Snapshot};
use serde_bytes::ByteBuf;
use std::collections::BTreeMap;

/// Host time that a chunk covers.
const CHUNK_MICROS: u64 = 1_000_000;
/// Moments that a chunk has even if they take longer: what is the same in each is stored once.
const CHUNK_MOMENTS: u32 = 10;
/// Host time that a chunk covers at most.
const MOST_CHUNK_MICROS: u64 = 5_000_000;
/// Host time after which a key snapshot is taken.
const KEY_MICROS: u64 = 30_000_000;
/// Bytes of messages after which a chunk ends.
const CHUNK_BYTES: usize = 2 << 20;
/// The part of the moments before it that a chunk has at most: a damaged one costs no more of a short
/// recording.
const CHUNK_PART: u32 = 8;
/// Bytes of messages in a file after which a key snapshot is taken.
const GROUP_BYTES: usize = 64 << 20;

/// A moment as messages.
#[derive(Debug)]
pub(crate) struct Encoded {
    /// Its sequence number.
    pub(crate) number: u32,
    /// Whether it begins a chunk.
    pub(crate) begins_chunk: bool,
    pub(crate) record: MomentRecord,
    /// The encoded message of each chip.
    pub(crate) chips: Vec<(u16, Vec<u8>)>,
}

impl Encoded {
    /// Whether it is a key snapshot.
    pub(crate) fn is_key(&self) -> bool {
        self.record.key_moment == self.number
    }

    /// Returns the bytes of its messages.
    pub(crate) fn len(&self) -> usize {
        self.chips.iter().map(|(_, message)| message.len()).sum()
    }
}

#[derive(Clone, Default)]
struct ChipState {
    now: Memory,
    pieces: Vec<Piece>,
    key: Memory,
    key_pieces: Vec<Piece>,
}

/// What the next moment is relative to.
#[derive(Clone)]
pub(crate) struct Encoder {
    next: u32,
    chips: BTreeMap<u16, ChipState>,
    gaps: Vec<StoredGap>,
    stopped: Stopped,
    /// Whether a moment had stopped cores: then each chunk says which.
    had_stopped: bool,
    key_moment: u32,
    key_micros: u64,
    /// Bytes that the key snapshot read.
    key_bytes: usize,
    chunk_micros: u64,
    chunk_moments: u32,
    chunk_bytes: usize,
    group_bytes: usize,
    most_group_bytes: usize,
    target_cycles: u64,
    host_micros: u64,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::with_key_after(GROUP_BYTES)
    }
}

impl Encoder {
    /// Returns an encoder that takes a key snapshot after this many bytes of messages.
    pub(crate) fn with_key_after(most_group_bytes: usize) -> Self {
        Self {
            next: 0,
            chips: BTreeMap::new(),
            gaps: Vec::new(),
            stopped: Vec::new(),
            had_stopped: false,
            key_moment: 0,
            key_micros: 0,
            key_bytes: 0,
            chunk_micros: 0,
            chunk_moments: 0,
            chunk_bytes: 0,
            group_bytes: 0,
            most_group_bytes,
            target_cycles: 0,
            host_micros: 0,
        }
    }

    /// Returns the messages of a moment, of which perhaps only a part was read. Its time is that of
    /// its newest piece; without pieces, that of the moment before.
    ///
    /// # Errors
    /// Bytes that cannot be encoded.
    pub(crate) fn encode(
        &mut self,
        snapshot: &Snapshot,
        partial: bool,
    ) -> Result<Encoded, rmp_serde::encode::Error> {
        let newest = |time: fn(&Piece) -> u64| snapshot.pieces.iter().map(time).max();
        self.target_cycles = newest(|piece| piece.target_cycles).unwrap_or(self.target_cycles);
        self.host_micros = newest(|piece| piece.host_micros).unwrap_or(self.host_micros);
        let begins_chunk = self.begins_chunk();
        let chips = by_chip(&snapshot.pieces);
        // Relative to the moment before, the changes are those of the message.
        let mut changed = BTreeMap::new();
        if begins_chunk {
            let now = |chip: u16| self.chip(chip).map(|state| &state.now);
            changed.extend(chips.iter().map(|(chip, pieces)| {
                (*chip, now(*chip).map_or(0, |memory| different(memory, pieces)))
            }));
        }
        let since = self.since(begins_chunk, &chips);
        if begins_chunk {
            self.forget(since);
        }
        let mut messages = Vec::new();
        for (chip, pieces) in &chips {
            let known = self.chips.contains_key(chip);
            let message = encode_chip(self.chips.entry(*chip).or_default(), pieces, since);
            changed.entry(*chip).or_insert_with(|| if known { message.changed() } else { 0 });
            messages.push((*chip, rmp_serde::to_vec_named(&message)?));
        }
        let number = self.next;
        if since == Since::Nothing {
            (self.key_moment, self.key_micros) = (number, self.host_micros);
            self.group_bytes = 0;
            self.key_bytes = snapshot.pieces.iter().map(|piece| piece.bytes.len()).sum();
            for state in self.chips.values_mut() {
                state.key = state.now.clone();
                state.key_pieces.clone_from(&state.pieces);
            }
        }
        let encoded = Encoded {
            number,
            begins_chunk,
            record: MomentRecord { partial, ..self.record(snapshot, changed, begins_chunk) },
            chips: messages,
        };
        self.next += 1;
        self.chunk_bytes += encoded.len();
        self.group_bytes += encoded.len();
        Ok(encoded)
    }

    /// Sets every chip to the state in which a reader begins a chunk.
    fn forget(&mut self, since: Since) {
        for state in self.chips.values_mut() {
            (state.now, state.pieces) = match since {
                Since::Nothing => Default::default(),
                Since::Key | Since::Before => (state.key.clone(), state.key_pieces.clone()),
            };
        }
    }

    /// Lets the next moment begin a chunk.
    pub(crate) fn end_chunk(&mut self) {
        self.chunk_bytes = CHUNK_BYTES;
    }

    fn chip(&self, chip: u16) -> Option<&ChipState> {
        self.chips.get(&chip)
    }

    fn record(
        &mut self,
        snapshot: &Snapshot,
        changed_bytes: BTreeMap<u16, u32>,
        begins_chunk: bool,
    ) -> MomentRecord {
        let gaps: Vec<StoredGap> = snapshot.gaps.iter().map(StoredGap::from).collect();
        let stored = (begins_chunk || gaps != self.gaps).then(|| gaps.clone());
        self.gaps = gaps;
        let new = snapshot.stopped != self.stopped;
        self.had_stopped |= new;
        self.stopped.clone_from(&snapshot.stopped);
        let stopped = (new || begins_chunk && self.had_stopped).then(|| self.stopped.clone());
        MomentRecord {
            target_cycles: self.target_cycles,
            host_micros: self.host_micros,
            transactions: snapshot.transactions,
            key_moment: self.key_moment,
            changed_bytes,
            partial: false,
            gaps: stored,
            stopped,
        }
    }

    /// Whether the next moment begins a chunk; clocks may run backwards.
    fn begins_chunk(&mut self) -> bool {
        let covers = self.host_micros.abs_diff(self.chunk_micros);
        let begins = self.next == 0
            || covers >= CHUNK_MICROS && self.chunk_moments >= CHUNK_MOMENTS
            || covers >= MOST_CHUNK_MICROS
            || self.chunk_bytes >= CHUNK_BYTES
            || self.chunk_moments >= (self.next / CHUNK_PART).max(1);
        if begins {
            (self.chunk_micros, self.chunk_moments, self.chunk_bytes) = (self.host_micros, 0, 0);
        }
        self.chunk_moments += 1;
        begins
    }

    /// What the next moment is relative to. A key snapshot is due after a time, or when the bytes
    /// that differ from the last one are more than half of its own.
    fn since(&self, begins_chunk: bool, chips: &BTreeMap<u16, Vec<&Piece>>) -> Since {
        if !begins_chunk {
            return Since::Before;
        }
        let read = |pieces: &[&Piece]| pieces.iter().map(|piece| piece.bytes.len()).sum::<usize>();
        let differ = |(chip, pieces): (&u16, &Vec<&Piece>)| match self.chip(*chip) {
            Some(state) => different(&state.key, pieces) as usize,
            None => read(pieces),
        };
        let due = self.next == 0
            || self.host_micros.abs_diff(self.key_micros) >= KEY_MICROS
            || self.group_bytes >= self.most_group_bytes;
        if due || chips.iter().map(differ).sum::<usize>() * 2 > self.key_bytes {
            Since::Nothing
        } else {
            Since::Key
        }
    }
}

fn by_chip(pieces: &[Piece]) -> BTreeMap<u16, Vec<&Piece>> {
    let mut chips: BTreeMap<u16, Vec<&Piece>> = BTreeMap::new();
    for piece in pieces.iter().filter(|piece| !piece.bytes.is_empty()) {
        chips.entry(piece.addr.chip.0).or_default().push(piece);
    }
    chips
}

fn place(piece: &Piece) -> (u8, u8, u64) {
    (piece.addr.tile.x, piece.addr.tile.y, piece.addr.offset)
}

fn span(piece: &Piece) -> StoredSpan {
    let (x, y, offset) = place(piece);
    (x, y, offset, piece.bytes.len() as u32)
}

/// Returns the number of bytes that are unknown or different in a memory.
fn different(memory: &Memory, pieces: &[&Piece]) -> u32 {
    let mut count = 0;
    for piece in pieces {
        memory.compare(place(piece), &piece.bytes, &mut |_, run| count += run.len());
    }
    count as u32
}

fn encode_chip(state: &mut ChipState, pieces: &[&Piece], since: Since) -> ChipMoment {
    if since == Since::Nothing {
        for piece in pieces {
            state.now.learn(span(piece));
        }
    }
    let spans = || pieces.iter().map(|piece| span(piece));
    let same = state.pieces.iter().map(span).eq(spans());
    let before = state.pieces.iter().map(Some).chain(std::iter::repeat(None));
    let was_read: Vec<bool> =
        pieces.iter().zip(before).map(|(now, before)| !same || before != Some(now)).collect();
    let read = pieces.iter().zip(&was_read).filter_map(|(piece, read)| read.then_some(piece));
    let when: Vec<_> = read.map(|piece| (piece.target_cycles, piece.host_micros)).collect();
    let mut times = when.clone();
    times.sort_unstable();
    times.dedup();
    let which = when.iter().filter_map(|time| Some(times.binary_search(time).ok()? as u64));
    let message = ChipMoment {
        since,
        // Those of a key snapshot that is lost would be unknown.
        pieces: (!same || since == Since::Key).then(|| by_tiles(&spans().collect::<Vec<_>>())),
        read: same.then(|| in_turn(&was_read)),
        target_cycles: differences(times.iter().map(|time| time.0)),
        host_micros: differences(times.iter().map(|time| time.1)),
        which: Some(differences(which)),
        changes: changes(&mut state.now, pieces.iter().copied().zip(was_read.iter().copied())),
    };
    state.pieces = pieces.iter().copied().cloned().collect();
    message
}

/// Returns the changes of a memory by the pieces that were read, and makes them.
fn changes<'a>(
    memory: &mut Memory,
    pieces: impl Iterator<Item = (&'a Piece, bool)>,
) -> Vec<(u32, ByteBuf)> {
    let mut changes: Vec<(u32, ByteBuf)> = Vec::new();
    let (mut start, mut end) = (0, 0);
    for (piece, was_read) in pieces {
        if was_read {
            memory.compare(place(piece), &piece.bytes, &mut |at, run| {
                let at = start + at;
                match changes.last_mut() {
                    Some((_, bytes)) if at == end => bytes.extend_from_slice(run),
                    _ => changes.push(((at - end) as u32, ByteBuf::from(run))),
                }
                end = at + run.len();
            });
        }
        // What did not change is shared with the key snapshot.
        if end > start {
            memory.store(place(piece), &piece.bytes);
        }
        start += piece.bytes.len();
    }
    changes
}
