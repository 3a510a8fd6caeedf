//! What was observed on many hosts and days, one row for each observation.
//!
//! [`files_below`] finds the files of folders, [`Format::of`] recognises what each is, and [`read`] makes
//! [`Row`]s of it: lines of JSON that this program prints or keeps, logs of tt-metal and of its Watcher,
//! reports of tt-triage, metrics as text, also packed with gzip. Recordings are recognised here and read by
//! `probe`'s users. With the feature `store`, `Writer` writes rows as Parquet below `day=.../host=...`, and
//! `Logs` asks such files with SQL; the questions in [`Question`] are SQL too.
//!
//! # Invariants
//!
//! A file is never held in memory as a whole, and no line longer than a limit. A line that cannot be read
//! costs a remark, not the rest of its file. Nothing is overwritten.
#![forbid(unsafe_code)]

mod change;
mod error;
mod format;
mod json;
mod lines;
mod metal;
mod metrics;
mod opened;
mod question;
mod row;
mod source;
#[cfg(feature = "store")]
mod store;
mod triage;
mod walk;
mod watcher;

pub use change::Changes;
pub use error::LogError;
pub use format::{Format, read};
pub use jiff::civil::Date as Day;
pub use json::{cable, is_wrong};
pub use question::{By, Question};
pub use row::{Clock, Kind, Row, Text, host_name, text};
pub use source::{Sink, Source};
#[cfg(feature = "store")]
pub use store::{Answer, Logs, Writer, Written};
pub use walk::{FoundFile, files_below};
