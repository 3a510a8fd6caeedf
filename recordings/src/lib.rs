//! Recorded moments of a mesh: format, writer, flight recorder, reader, replay.
//!
//! A recording contains raw bytes with their addresses and times, never decoded state: a better
//! decoder improves old recordings. The container is MCAP with chunks compressed by zstd, whose
//! records other tools can list. What was done and reported ([`machine::notes::Note`]) has JSON
//! channels of its own. A moment is one snapshot: a JSON message on `/moments`, after a
//! MessagePack message for each chip with the bytes that changed. A *key snapshot* begins from
//! nothing; the first moment of every other chunk is relative to the last key snapshot, and all
//! further moments are relative to the moment before. So a moment needs two chunks at most, and a
//! damaged chunk costs its own moments: one, or an eighth of those before it. The first moment, which
//! a short recording needs as a whole, stands in the file once more, as an attachment.
//!
//! [`Writer`] appends snapshots of a target to a file, [`FlightRecorder`] keeps the newest in
//! bounded memory, and [`Replay`] is a [`machine::target::Target`] that answers from its current
//! moment. `recordings/library` contains the recordings of the golden frames.
//!
//! Marks that a person sets in a recording are lines of JSON in a file beside it, `FILE.marks`.
//!
//! [`FabricSnapshot`] reads what tt-metal's own capture tool kept of a fabric, and makes another
//! such target of it.
//!
//! ```
//! use machine::target::Target;
//! use recordings::Replay;
//!
//! let file = concat!(env!("CARGO_MANIFEST_DIR"), "/library/n300_ring_ping.mcap");
//! let replay = Replay::open(file.as_ref())?;
//! assert_eq!(replay.mesh().chips.len(), 2);
//! assert!(replay.abilities().allow.is_nothing()); // a recording cannot be changed
//! # Ok::<(), recordings::RecordingError>(())
//! ```
//!
//! # Invariants
//!
//! Bytes that were not recorded are a gap ("not recorded"). The undamaged parts of a damaged file
//! are readable. No file content causes a panic. A moment of a finished file is read without
//! reading the whole file.
#![forbid(unsafe_code)]

mod decoder;
mod encoder;
mod error;
mod excerpt;
mod fabric_snapshot;
mod file;
mod flight;
mod format;
mod marks;
mod memory;
mod redacted;
mod replay;
mod writer;

pub use error::RecordingError;
pub use fabric_snapshot::{
    FabricSnapshot, FabricSnapshotTarget, FabricWords, RouterWords, digest as sha256,
};
pub use file::Attachment;
pub use flight::FlightRecorder;
pub use format::FORMAT;
pub use redacted::{Kept, Redacted, without_folders};
pub use replay::Replay;
pub use writer::Writer;
