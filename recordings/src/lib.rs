//! Moments kept: format, writer, reader, replay.
//!
//! A recording holds raw bytes with their addresses and times, never decoded state: a better decoder improves old
//! recordings. The container is MCAP, whose records other tools can list; a moment is one MessagePack message.
#![forbid(unsafe_code)]

mod error;
mod file;
mod format;
mod replay;
mod writer;

pub use error::RecordingError;
pub use file::Attachment;
pub use format::FORMAT;
pub use replay::Replay;
pub use writer::Writer;
