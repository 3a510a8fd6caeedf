//! Recordings that are being made: by `record`, by other verbs, and by the live view.

mod file;
mod moments;
mod running;

pub(crate) use file::RecordingFile;
pub(crate) use moments::Moments;
pub(crate) use running::RunRecorder;

/// Bytes of messages that a flight recorder keeps: minutes of a T3000.
pub(crate) const FLIGHT_BYTES: usize = 64 << 20;
