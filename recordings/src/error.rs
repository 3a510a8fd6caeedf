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
