//! Options of `export` and `bundle`.

use crate::screens::Screen;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `export`.
#[derive(Args, Debug)]
pub(crate) struct ExportArguments {
    /// The file; an existing one is not overwritten.
    pub(crate) file: PathBuf,
    /// What is written.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: ExportFormat,
    /// Adds the packets of the Ethernet links to --to perfetto, of a recording that has its run: it is
    /// executed again.
    #[arg(long)]
    pub(crate) packets: bool,
    /// The screen of --to svg; the mesh without it.
    #[arg(long, value_enum, value_name = "SCREEN")]
    pub(crate) screen: Option<Screen>,
    /// Columns and rows of --to svg, such as 80x24; 120x40 without it.
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<String>,
    /// What is selected on the screen of --to svg: a chip, tile or Ethernet channel, such as 0:e8.
    #[arg(long, value_name = "PLACE")]
    pub(crate) place: Option<String>,
}

/// A format that other programs read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A trace for ui.perfetto.dev and trace_processor, of a recording.
    Perfetto,
    /// A picture of a screen.
    Svg,
}

/// `bundle`.
#[derive(Args, Debug)]
pub(crate) struct BundleArguments {
    /// The archive, such as hang.tar.gz; an existing file is not overwritten.
    pub(crate) file: PathBuf,
    /// Number of snapshots that are recorded of a live target, 1 ms apart.
    #[arg(long, value_name = "N", default_value = "4")]
    pub(crate) moments: String,
}
