//! Recorded moments of a mesh: format, writer, reader, replay.
//!
//! A recording contains raw bytes with their addresses and times, never decoded state: a better
//! decoder improves old recordings. The container is MCAP, whose records other tools can list; a
//! moment is one MessagePack message. [`Writer`] appends snapshots of a target; [`Replay`] is a
//! [`machine::target::Target`] that answers from its current moment. `recordings/library` contains
//! the recordings of the golden frames.
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
//! Bytes that were not recorded are a gap ("not recorded"). The undamaged part of a truncated file
//! is readable. No file content causes a panic.
#![forbid(unsafe_code)]

mod error;
mod excerpt;
mod fabric_snapshot;
mod file;
mod format;
mod replay;
mod writer;

pub use error::RecordingError;
pub use fabric_snapshot::{
    FabricSnapshot, FabricSnapshotTarget, FabricWords, RouterWords, digest as sha256,
};
pub use file::Attachment;
pub use format::FORMAT;
pub use replay::Replay;
pub use writer::Writer;
