//! The arguments of `cores`.

/// Which cores to print, and what of them.
#[derive(Debug, clap::Args)]
pub(crate) struct CoresArguments {
    /// Only this chip, tile or Ethernet channel: 0, 0:9-6 or 0:e8.
    pub(crate) place: Option<String>,
    /// Print a line for each core of the mesh, instead of groups of equal ones.
    #[arg(long, conflicts_with = "merge")]
    pub(crate) all: bool,
    /// Also print the decoded words of each core.
    #[arg(long, conflicts_with = "merge")]
    pub(crate) words: bool,
    /// Print one tree of kernel, function and source line, with the cores at each, and what moved
    /// between two snapshots.
    ///
    /// With --sample the function is the one at which the core was sampled most often, where that
    /// is known, else the one that sets its waypoint.
    #[arg(long)]
    pub(crate) merge: bool,
    /// Time between the two snapshots of --merge, such as 1ms or 200us.
    #[arg(long = "for", value_name = "TIME", default_value = "1ms", requires = "merge")]
    pub(crate) over: String,
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
