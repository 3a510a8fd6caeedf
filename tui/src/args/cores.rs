//! The arguments of `cores`.

/// Which cores to print, and what of them.
#[derive(Debug, clap::Args)]
pub(crate) struct CoresArguments {
    /// Only this chip, tile or Ethernet channel: 0, 0:9-6 or 0:e8.
    pub(crate) place: Option<String>,
    /// Also print the decoded words of each core.
    #[arg(long)]
    pub(crate) words: bool,
    /// Sample the program counter of each running core N times, without halting it, and print where
    /// it was; of a tile or channel, of every core that is not in reset.
    ///
    /// It writes to the debug bus of each tile. On a target outside this process it needs --allow
    /// sample.
    #[arg(long, value_name = "N", conflicts_with = "words")]
    pub(crate) sample: Option<String>,
    /// Mean time of the target between two samples, in cycles of a nanosecond; a second at most.
    #[arg(long, default_value = "10_000", value_name = "CYCLES", requires = "sample")]
    pub(crate) every: String,
}

/// `images`.
#[derive(clap::Args, Debug)]
pub(crate) struct ImagesArguments {
    /// Only this chip, tile or Ethernet channel: 0, 0:9-6 or 0:e8.
    pub(crate) place: Option<String>,
}
