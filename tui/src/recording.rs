//! Recordings that are being made: by `record`, by other verbs, and by the live view.

mod file;
mod moments;

pub(crate) use file::RecordingFile;
pub(crate) use moments::Moments;

/// Bytes of messages that a flight recorder keeps: minutes of a T3000.
pub(crate) const FLIGHT_BYTES: usize = 64 << 20;
