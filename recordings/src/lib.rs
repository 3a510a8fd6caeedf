//! Moments kept: format, writer, reader, replay.
//!
//! A recording holds raw bytes with their addresses and times, never decoded state: a better decoder improves old
//! recordings. The container is MCAP, whose records other tools can list; a moment is one MessagePack message. [`Writer`] appends
//! snapshots of a target; [`Replay`] is a [`machine::target::Target`] that answers from the moment at which it stands.
//! `recordings/library` has the recordings of which every screen is kept as a golden frame.
//!
//! ```
//! use machine::target::Target;
//! use recordings::Replay;
//!
//! let file = concat!(env!("CARGO_MANIFEST_DIR"), "/library/n300_ring_ping.mcap");
//! let replay = Replay::open(file.as_ref())?;
//! assert_eq!(replay.mesh().chips.len(), 2);
//! assert!(replay.abilities().allow.is_nothing()); // the past cannot be changed
//! # Ok::<(), recordings::RecordingError>(())
//! ```
//!
//! # Invariants
//!
//! What was not recorded is a gap ("not recorded"), never a guess. Of a file that was cut off, what is whole is read. No byte of
//! a file panics.
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
