//! Options of `changes` and `diff`.

use clap::Args;

/// `changes`.
#[derive(Args, Debug)]
pub(crate) struct ChangesArguments {
    /// Only this chip or tile: 0, 0:9-6 or 0:e8; or the word 0:e8:0x1104, whose last change is shown
    /// with what else changed then.
    pub(crate) place: Option<String>,
    /// The moment to compare with: -2ms before the last one, 17ms of the target's time, or #12; by
    /// default the one before.
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// The moment that is compared; by default the one at which the recording opens.
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,
    /// Print every word.
    #[arg(long)]
    pub(crate) all: bool,
}

/// `diff`.
#[derive(Args, Debug)]
pub(crate) struct DiffArguments {
    /// A recording, or another target: run.mcap, run.mcap,at=17ms.
    pub(crate) a: String,
    /// The one that is compared with it.
    pub(crate) b: String,
    /// Only this chip or tile: 0, 0:9-6 or 0:e8.
    pub(crate) place: Option<String>,
    /// Print every word.
    #[arg(long)]
    pub(crate) all: bool,
}
