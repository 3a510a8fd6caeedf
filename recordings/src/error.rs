//! Errors of recordings, with the remedy.

use std::fmt;
use std::path::PathBuf;

/// Why a recording cannot be written or opened.
#[derive(Debug)]
pub enum RecordingError {
    /// The operating system reported an error.
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        error: std::io::Error,
    },
    /// The file is refused.
    Unusable(files::Unusable),
    /// The file is not a recording.
    NotARecording {
        /// The file.
        path: PathBuf,
        /// What the file is.
        found: String,
    },
    /// A newer meshscope wrote it.
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
    Damaged {
        /// The file.
        path: PathBuf,
        /// The error.
        what: String,
    },
    /// The file is no fabric snapshot of tt-metal that can be opened.
    FabricSnapshot {
        /// The file.
        path: PathBuf,
        /// The reason.
        what: String,
    },
    /// The recording could not be continued.
    Write {
        /// The file.
        path: PathBuf,
        /// The error.
        what: String,
    },
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Unusable(error) => write!(f, "{error}"),
            Self::NotARecording { path, found } => {
                write!(f, "{}: not a meshscope recording: {found}", path.display())
            }
            Self::Newer { path, format, known, made_by } => write!(
                f,
                "{}: recorded by meshscope {made_by} in format {format}; this version reads up to format {known}: \
                 open it with meshscope {made_by} or newer",
                path.display()
            ),
            Self::Damaged { path, what } => write!(
                f,
                "{}: damaged before the first moment ({what}); record again",
                path.display()
            ),
            Self::FabricSnapshot { path, what } => write!(f, "{}: {what}", path.display()),
            Self::Write { path, what } => {
                write!(f, "{}: cannot continue recording: {what}", path.display())
            }
        }
    }
}

impl std::error::Error for RecordingError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// What is damaged in a file.
#[derive(Debug)]
pub(crate) enum Damage {
    /// The operating system reported an error.
    Io(std::io::Error),
    /// A record is not MCAP.
    Record(mcap::McapError),
    /// JSON of a message.
    Json(serde_json::Error),
    /// MessagePack of a message.
    Message(rmp_serde::decode::Error),
    /// MessagePack of a chip's message.
    Chip(u16, rmp_serde::decode::Error),
    /// The ranges of a chip.
    Ranges(u16),
    /// A record is no chunk.
    NoChunk,
    /// The lengths of a chunk; its record may have another length, too.
    Lengths,
    /// A chunk has this compression.
    Compression(String),
    /// The checksum of a chunk.
    Checksum,
    /// The chunk of a moment is missing.
    ChunkMissing,
    /// The message of a moment is missing.
    MessageMissing,
    /// The file has no such moment.
    NoMoment,
    /// The session does not have this key.
    NoKey(&'static str),
    /// JSON of this key of the session.
    Key(&'static str, serde_json::Error),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "{error}"),
            Self::Record(error) => write!(f, "{error}"),
            Self::Json(error) => write!(f, "{error}"),
            Self::Message(error) => write!(f, "{error}"),
            Self::Chip(chip, error) => write!(f, "chip {chip}: {error}"),
            Self::Ranges(chip) => write!(f, "chip {chip}: its ranges do not fit"),
            Self::NoChunk => f.write_str("no chunk"),
            Self::Lengths => f.write_str("lengths that do not fit together"),
            Self::Compression(name) => write!(f, "compression {name:?}"),
            Self::Checksum => f.write_str("a wrong checksum"),
            Self::ChunkMissing => f.write_str("it is missing"),
            Self::MessageMissing => f.write_str("its message is missing"),
            Self::NoMoment => f.write_str("there is no such moment"),
            Self::NoKey(key) => write!(f, "the session has no `{key}`"),
            Self::Key(key, error) => write!(f, "the session's `{key}`: {error}"),
        }
    }
}
