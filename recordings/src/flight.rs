//! A flight recorder: the newest moments of a target, in bounded memory.

use crate::encoder::{Encoded, Encoder};
use crate::error::RecordingError;
use crate::writer::Writer;
use machine::history::Mark;
use machine::notes::Note;
use machine::snapshot::Snapshot;
use std::collections::VecDeque;

/// Something that was recorded.
enum Item {
    Moment(Encoded),
    Mark(Mark),
    Note(Note),
}

impl Item {
    fn len(&self) -> usize {
        match self {
            Self::Moment(moment) => moment.len(),
            Self::Mark(mark) => mark.text.len(),
            Self::Note(note) => note.memory_bytes(),
        }
    }

    fn is_key(&self) -> bool {
        matches!(self, Self::Moment(moment) if moment.is_key())
    }
}

/// Keeps the newest moments, encoded as in a file, with the marks and notes between them. The
/// oldest are dropped together with the key snapshot that they need.
pub struct FlightRecorder {
    encoder: Encoder,
    items: VecDeque<Item>,
    bytes: usize,
    most_bytes: usize,
    dropped: u64,
}

impl FlightRecorder {
    /// Returns an empty recorder that keeps at most this many bytes of messages.
    pub fn new(most_bytes: usize) -> Self {
        // Groups that are dropped as a whole leave most of the limit in use.
        let (encoder, items) = (Encoder::with_key_after(most_bytes / 8), VecDeque::new());
        Self { encoder, items, bytes: 0, most_bytes, dropped: 0 }
    }

    /// Keeps a moment, and drops the oldest ones that exceed the limit.
    pub fn append(&mut self, snapshot: &Snapshot) {
        self.encode(snapshot, false);
    }

    /// Keeps a moment of which only a part was read; the rest is as the moment before has it.
    pub fn append_partial(&mut self, snapshot: &Snapshot) {
        self.encode(snapshot, true);
    }

    fn encode(&mut self, snapshot: &Snapshot, partial: bool) {
        // Bytes and numbers always become MessagePack; a moment that did not would be counted.
        let Ok(moment) = self.encoder.encode(snapshot, partial) else {
            self.dropped += 1;
            return;
        };
        self.keep(Item::Moment(moment));
    }

    /// Keeps a mark.
    pub fn mark(&mut self, mark: Mark) {
        self.keep(Item::Mark(mark));
    }

    /// Keeps a note.
    pub fn note(&mut self, note: Note) {
        self.keep(Item::Note(note));
    }

    /// Returns the number of moments kept.
    pub fn moments(&self) -> usize {
        self.items.iter().filter(|item| matches!(item, Item::Moment(_))).count()
    }

    /// Returns the number of moments dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the bytes of the messages kept.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Writes everything kept to a new file, which goes on from there.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, writer: &mut Writer) -> Result<(), RecordingError> {
        for item in &self.items {
            match item {
                Item::Moment(moment) => writer.write(moment)?,
                Item::Mark(mark) => writer.mark(mark.clone())?,
                Item::Note(note) => writer.note(note)?,
            }
        }
        writer.go_on_with(self.encoder.clone());
        Ok(())
    }

    fn keep(&mut self, item: Item) {
        self.bytes += item.len();
        self.items.push_back(item);
        while self.bytes > self.most_bytes && self.has_older_group() {
            self.drop_group();
        }
    }

    /// Whether a key snapshot follows the first one.
    fn has_older_group(&self) -> bool {
        self.items.iter().filter(|item| item.is_key()).nth(1).is_some()
    }

    /// Drops everything up to the second key snapshot.
    fn drop_group(&mut self) {
        while let Some(oldest) = self.items.pop_front() {
            self.bytes -= oldest.len();
            self.dropped += u64::from(matches!(oldest, Item::Moment(_)));
            if self.items.front().is_none_or(Item::is_key) {
                return;
            }
        }
    }
}
