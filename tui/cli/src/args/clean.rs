//! The options of `clean`.

use clap::Args;

/// How far a teardown goes.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CleanArguments {
    /// End kernels that stay, and those of other tools, at once; then reset their compute tiles.
    #[arg(long)]
    pub(crate) escalate: bool,
}
