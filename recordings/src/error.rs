//! Errors of recordings, with the remedy.

use std::path::PathBuf;
use thiserror::Error;

/// Why a recording cannot be written or opened.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// The operating system reported an error.
    #[error("{}: {error}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        #[source]
        error: std::io::Error,
    },
    /// The file is refused.
    #[error("{0}")]
    Unusable(files::Unusable),
    /// The file is not a recording.
    #[error("{}: not a meshscope recording: {found}", .path.display())]
    NotARecording {
        /// The file.
        path: PathBuf,
        /// What the file is.
        found: String,
    },
    /// A newer meshscope wrote it.
    #[error("{}: recorded by meshscope {made_by} in format {format}; this version reads up to format {known}: \
                 open it with meshscope {made_by} or newer", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: u32,
        /// The newest format that this version reads.
        known: u32,
        /// The version of the meshscope that wrote it.
        made_by: String,
    },
    /// It ends, or is damaged, before the first moment.
    #[error("{}: damaged before the first moment ({what}); record again", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The error.
        what: String,
    },
    /// The file is no fabric snapshot of tt-metal that can be opened.
    #[error("{}: {what}", .path.display())]
    FabricSnapshot {
        /// The file.
        path: PathBuf,
        /// The reason.
        what: String,
    },
    /// The recording could not be continued.
    #[error("{}: cannot continue recording: {what}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error.
        what: String,
    },
}

/// What is damaged in a file.
#[derive(Debug, Error)]
pub(crate) enum Damage {
    /// The operating system reported an error.
    #[error("{0}")]
    Io(std::io::Error),
    /// A record is not MCAP.
    #[error("{0}")]
    Record(mcap::McapError),
    /// JSON of a message.
    #[error("{0}")]
    Json(serde_json::Error),
    /// MessagePack of a message.
    #[error("{0}")]
    Message(rmp_serde::decode::Error),
    /// MessagePack of a chip's message.
    #[error("chip {0}: {1}")]
    Chip(u16, rmp_serde::decode::Error),
    /// The ranges of a chip.
    #[error("chip {0}: its ranges do not fit")]
    Ranges(u16),
    /// A record is no chunk.
    #[error("no chunk")]
    NoChunk,
    /// The lengths of a chunk; its record may have another length, too.
    #[error("lengths that do not fit together")]
    Lengths,
    /// A chunk has this compression.
    #[error("compression {0:?}")]
    Compression(String),
    /// It costs more to open than a file of this size may.
    #[error("more content than a file of this size may have")]
    TooMuch,
    /// The checksum of a chunk.
    #[error("a wrong checksum")]
    Checksum,
    /// The chunk of a moment is missing.
    #[error("it is missing")]
    ChunkMissing,
    /// The message of a moment is missing.
    #[error("its message is missing")]
    MessageMissing,
    /// The file has no such moment.
    #[error("there is no such moment")]
    NoMoment,
    /// The session does not have this key.
    #[error("the session has no `{0}`")]
    NoKey(&'static str),
    /// The session names a mesh that nobody has.
    #[error("the session names {chips} chips and {links} links")]
    Mesh {
        /// Its chips.
        chips: usize,
        /// Its links.
        links: usize,
    },
    /// JSON of this key of the session.
    #[error("the session's `{0}`: {1}")]
    Key(&'static str, serde_json::Error),
}
