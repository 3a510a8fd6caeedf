//! Options of `step`.

use clap::{Args, Parser};
use console::exit::Failure;
use console::locate::{self, NamedPlace};
use console::run::StepOrder;
use layouts::{ChipId, EthId};

/// Let paused kernels begin their next stage, and print what has changed.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepArguments {
    /// The cores, such as 0:e8 or 0:1-2; without any, all that are paused.
    #[arg(value_name = "CORE")]
    pub(crate) cores: Vec<String>,
    /// Both ends of this link, named by one of them: 0.8 and 0:e8 are channel 8 of chip 0.
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

/// More steps are an error.
const MOST_STEPS: u64 = 10_000;

impl StepArguments {
    /// Returns the steps that the options ask for.
    ///
    /// # Errors
    /// `Usage` that names the wrong option.
    pub(crate) fn order(&self) -> Result<StepOrder, Failure> {
        let wrong = |why: String| Failure::Usage(format!("--count: {why}"));
        let count = locate::number(&self.count).map_err(wrong)?;
        if count == 0 || count > MOST_STEPS {
            return Err(wrong(format!("{count} is not from 1 to {MOST_STEPS}")));
        }
        let cores = self.cores.iter().map(|core| locate::core(core));
        let cores = cores.collect::<Result<_, _>>().map_err(Failure::Usage)?;
        let end = |words: &Option<String>| {
            words.as_deref().map(link_end).transpose().map_err(Failure::Usage)
        };
        let (link, released) = (end(&self.link)?, end(&self.release)?);
        let words =
            [self.cores.clone(), self.link.iter().map(|it| format!("--link {it}")).collect()];
        let words = words.concat().join(" ");
        Ok(StepOrder { cores, link, released, back: self.back, count, words })
    }

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

/// A link end such as 0.8 or 0:e8.
fn link_end(words: &str) -> Result<EthId, String> {
    let parts = words.split_once('.');
    let end = parts.and_then(|(chip, channel)| {
        Some(EthId { chip: ChipId(chip.parse().ok()?), channel: channel.parse().ok()? })
    });
    let place = || match locate::place(words) {
        Ok(NamedPlace::Tile(chip, tile)) => {
            let channel = locate::layout().tile_at(tile)?.channel?;
            Some(EthId { chip, channel })
        }
        _ => None,
    };
    end.or_else(place)
        .ok_or_else(|| format!("--link: '{words}' is not a link end, such as 0.8 or 0:e8"))
}
