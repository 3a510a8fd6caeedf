//! Why logs could not be read, written or asked.

use std::path::PathBuf;

/// Why logs could not be read, written or asked.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// A file or folder cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        error: std::io::Error,
    },
    /// A file is refused.
    #[error(transparent)]
    Unusable(#[from] files::Unusable),
    /// The folder to write has something in it.
    #[error("{}: it is not empty, and nothing is overwritten: name a new folder", .0.display())]
    NotEmpty(PathBuf),
    /// A Parquet file has other columns.
    #[error("{}: {why}", path.display())]
    OtherSchema {
        /// The file.
        path: PathBuf,
        /// What differs, in words.
        why: String,
    },
    /// Parquet could not be written.
    #[error("{}: {why}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// No file has rows to ask.
    #[error("no file of `meshscope scan --out` is below {0}")]
    NoLogs(String),
    /// The SQL is refused, wrong, or needs too much.
    #[error("SQL: {0}")]
    Sql(String),
    /// The engine could not be started.
    #[error("the SQL engine: {0}")]
    Engine(String),
}
