//! Options of `step`.

use crate::exit::Failure;
use clap::{Args, Parser};

/// Which kernels step.
#[derive(Args, Clone, Debug)]
pub(crate) struct StepArguments {
    /// The cores, such as 0:e8 or 0:1-2; without any, all that are paused.
    #[arg(value_name = "CORE")]
    pub(crate) cores: Vec<String>,
    /// Both ends of this link, named by one of them: 0.8 is channel 8 of chip 0.
    #[arg(long, value_name = "LINK")]
    pub(crate) link: Option<String>,
    /// Release only this end of the link, such as 0.8; the other is shown beside it.
    #[arg(long, value_name = "END", requires = "link")]
    pub(crate) release: Option<String>,
    /// Go back to the previous change of stage, in a recording.
    #[arg(long)]
    pub(crate) back: bool,
    /// Number of steps.
    #[arg(short = 'n', long, default_value = "1", value_name = "N")]
    pub(crate) count: String,
}

/// A line of `s`.
#[derive(Parser)]
#[command(name = "s", no_binary_name = true, disable_help_flag = true)]
struct StepLine {
    #[command(flatten)]
    step: StepArguments,
}

impl StepArguments {
    /// Parses the words behind `s`.
    ///
    /// # Errors
    /// `Usage` with the first line of what is wrong.
    pub(crate) fn of<'a>(words: impl Iterator<Item = &'a str>) -> Result<Self, Failure> {
        let parsed = StepLine::try_parse_from(words);
        parsed.map(|line| line.step).map_err(|error| {
            let text = error.to_string();
            Failure::Usage(text.lines().next().map_or("", |line| line).to_owned())
        })
    }
}
