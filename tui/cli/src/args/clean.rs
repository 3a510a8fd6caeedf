//! The options of `clean`.

use clap::Args;

/// Tear down what runs on the mesh, also if whoever launched it is dead.
///
/// On a target outside this process it needs --allow launch,write, and reset with --escalate.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CleanArguments {
    /// End kernels that stay, and those of other tools, at once; then reset their compute tiles.
    #[arg(long)]
    pub(crate) escalate: bool,
}
