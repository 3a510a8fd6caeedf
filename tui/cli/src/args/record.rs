//! Options of `record`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `record`.
#[derive(Args, Debug)]
pub(crate) struct RecordArguments {
    /// The file; an existing one is not overwritten.
    pub(crate) file: PathBuf,
    /// Number of snapshots; 10 unless --for or --on is given.
    #[arg(long, value_name = "N")]
    pub(crate) moments: Option<String>,
    /// Record for this time of the target, such as 30s.
    #[arg(long = "for", value_name = "TIME", conflicts_with = "moments")]
    pub(crate) over: Option<String>,
    /// Time of the target from one snapshot to the next, such as 10ms or 0ns; it is at least as long
    /// as a snapshot takes.
    #[arg(long, default_value = "1ms", value_name = "TIME")]
    pub(crate) every: String,
    /// Keep only the newest snapshots in memory of this size, and write them when something is found.
    #[arg(long, value_name = "SIZE", requires = "on")]
    pub(crate) ring: Option<String>,
    /// When the snapshots in memory are written; 4 more are recorded then.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) on: Option<Trigger>,
}

/// What ends a recording in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Trigger {
    /// Something stands still because of a fault or a deadlock.
    Stall,
    /// `why` finds anything worse than slow.
    Finding,
    /// Enter is pressed.
    Key,
}
