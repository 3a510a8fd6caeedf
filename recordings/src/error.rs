//! What can be wrong with a recording, in sentences that say what to do.

use std::fmt;
use std::path::PathBuf;

/// Why a recording cannot be written or opened.
#[derive(Debug)]
pub enum RecordingError {
    /// The operating system refused.
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        error: std::io::Error,
    },
    /// The file cannot be read.
    Unusable(files::Unusable),
    /// The file is something else.
    NotARecording {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        found: String,
    },
    /// A newer meshscope made it.
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: u32,
        /// The newest format that this program reads.
        known: u32,
        /// Version of the meshscope that made it.
        made_by: String,
    },
    /// It ends, or is spoilt, before the first thing that could be shown.
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The recording could not be continued.
    Write {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Unusable(error) => write!(f, "{error}"),
            Self::NotARecording { path, found } => {
                write!(f, "{}: not a recording of meshscope: {found}", path.display())
            }
            Self::Newer { path, format, known, made_by } => write!(
                f,
                "{}: recorded by meshscope {made_by} in format {format}, and this one reads up to format {known}: \
                 open it with meshscope {made_by} or newer",
                path.display()
            ),
            Self::Damaged { path, what } => write!(
                f,
                "{}: the recording is damaged before its first moment ({what}): nothing can be shown, record again",
                path.display()
            ),
            Self::Write { path, what } => {
                write!(f, "{}: cannot go on recording: {what}", path.display())
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
