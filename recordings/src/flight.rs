//! A flight recorder: the newest moments of a target, in bounded memory.

use crate::encoder::{Encoded, Encoder};
use crate::error::RecordingError;
use crate::writer::Writer;
use machine::snapshot::Snapshot;
use std::collections::VecDeque;

/// Keeps the newest moments, encoded as in a file. The oldest are dropped together with the key
/// snapshot that they need.
pub struct FlightRecorder {
    encoder: Encoder,
    moments: VecDeque<Encoded>,
    bytes: usize,
    most_bytes: usize,
    dropped: u64,
}

impl FlightRecorder {
    /// Returns an empty recorder that keeps at most this many bytes of messages.
    pub fn new(most_bytes: usize) -> Self {
        // Groups that are dropped as a whole leave most of the limit in use.
        let (encoder, moments) = (Encoder::with_key_after(most_bytes / 8), VecDeque::new());
        Self { encoder, moments, bytes: 0, most_bytes, dropped: 0 }
    }

    /// Keeps a moment, and drops the oldest ones that exceed the limit.
    pub fn append(&mut self, snapshot: &Snapshot) {
        // Bytes and numbers always become MessagePack; a moment that did not would be counted.
        let Ok(moment) = self.encoder.encode(snapshot) else {
            self.dropped += 1;
            return;
        };
        self.bytes += moment.len();
        self.moments.push_back(moment);
        while self.bytes > self.most_bytes && self.has_older_group() {
            self.drop_group();
        }
    }

    /// Returns the number of moments kept.
    pub fn moments(&self) -> usize {
        self.moments.len()
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
    pub fn write(self, writer: &mut Writer) -> Result<(), RecordingError> {
        self.moments.iter().try_for_each(|moment| writer.write(moment))?;
        writer.go_on_with(self.encoder);
        Ok(())
    }

    /// Whether a key snapshot follows the first one.
    fn has_older_group(&self) -> bool {
        self.moments.iter().skip(1).any(Encoded::is_key)
    }

    fn drop_group(&mut self) {
        while let Some(oldest) = self.moments.pop_front() {
            self.bytes -= oldest.len();
            self.dropped += 1;
            if self.moments.front().is_none_or(Encoded::is_key) {
                return;
            }
        }
    }
}
