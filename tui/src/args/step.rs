//! Options of `step`.

use clap::Args;

/// Which kernels step.
#[derive(Args, Clone, Debug)]
pub(crate) struct StepArguments {
    /// The cores, such as 0:e8 or 0:1-2; without any, all that are paused.
    #[arg(value_name = "CORE")]
    pub(crate) cores: Vec<String>,
    /// Both ends of this link, named by one of them: 0.8 is channel 8 of chip 0.
    #[arg(long, value_name = "LINK")]
    pub(crate) link: Option<String>,
    /// Number of steps.
    #[arg(short = 'n', long, default_value = "1", value_name = "N")]
    pub(crate) count: String,
}
