//! The commands of the `:` line, in the grammar of the verbs, and their completion by Tab.

mod core;

pub(crate) use core::{CoreWords, DebugWords, commands};

use crate::args::{CleanArguments, LaunchArguments, PathArguments, RunArguments, StepArguments};
use crate::screens::Screen;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, CommandFactory, Parser, Subcommand};
use collectives::CleanSettings;
use console::fabric::Addressee;
use console::halted::CoreCommand;
use console::host_time::now_micros;
use console::locate;
use console::player::PlayOrder;
use console::run::MachineOrder;
use console::words::one_line;
use console::words::shown;
use layouts::NocAddr;
use machine::fault::FaultError;
use machine::snapshot::Span;
use probe::spec::Moment;
use std::path::PathBuf;

/// What a line asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Typed {
    /// To change the machine, in this order.
    Orders(Vec<MachineOrder>),
    /// To control the core on screen.
    Core(CoreCommand),
    /// To show the path of a packet.
    Path {
        /// The chip or node that sends it.
        from: Addressee,
        /// The chip or node that receives it.
        to: Addressee,
    },
    /// To show a screen.
    Show(Screen),
    /// To go to a place.
    Goto(String),
    /// To show the list of links.
    Links,
    /// To write what is on screen to a file, as SVG.
    Svg(PathBuf),
    /// To show or hide the results.
    Results,
    /// To explain keys and glyphs.
    Help,
    /// To quit.
    Quit,
}

/// A command of the line.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
enum LineWords {
    /// Run a collective, or send a trace, with the options of `meshscope run`.
    Run(Box<RunArguments>),
    /// Launch a kernel of your own, with the options of `meshscope launch`; :stop takes it away.
    Launch(Box<LaunchArguments>),
    /// Stop the run or the launched kernel; without one, the ring ping and its workers.
    Stop,
    /// Pause the kernels that run, and count their credits.
    Pause,
    /// Let paused kernels run on.
    Resume,
    /// Let paused kernels begin their next stage: those of these cores, such as 0:e8, or all.
    Step(StepArguments),
    /// Tear down what runs on the mesh, also if whoever launched it is dead.
    Clean(CleanArguments),
    /// Disturb an emulated mesh now, such as link:0.8:down.
    Fault {
        /// The fault.
        #[arg(value_name = "FAULT")]
        fault: String,
    },
    /// Go to a moment of a recording: -2ms before the last one, 17ms of the target's time, or #12.
    Goto {
        /// The moment.
        #[arg(value_name = "MOMENT", allow_hyphen_values = true)]
        moment: String,
    },
    /// Play this many moments of a recording per second, backwards if negative.
    Play {
        /// Moments per second.
        #[arg(value_name = "N", default_value = "10", allow_hyphen_values = true)]
        speed: String,
    },
    /// Search the last write to a word of an emulated mesh, such as 0:e8:0x1104; :stop ends it.
    WhoWrote {
        /// The place.
        #[arg(value_name = "PLACE")]
        place: String,
    },
    /// Mark the moment of a recording with words.
    Mark {
        /// The words.
        #[arg(value_name = "WORD")]
        words: Vec<String>,
    },
    /// Write the last minutes and all that follows to a file; without one it ends, or gets a name.
    Record {
        /// The file.
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Write an archive to hand over: recording, verdict, pictures; without a file it gets a name.
    Bundle {
        /// The archive, such as hang.tar.gz.
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Cycles of an emulated mesh per second, such as 100k or 10M, or max.
    Pace {
        /// The pace.
        #[arg(value_name = "CYCLES")]
        pace: String,
    },
    /// Halt the core on screen; it goes on when the live view ends.
    Halt,
    #[command(flatten)]
    Control(CoreWords),
    /// Show the path of a packet through the fabric, from a chip or a node such as M1D3 to another.
    Path(PathArguments),
    /// Show the mesh: the map of its chips.
    Mesh,
    /// Show the links.
    Links,
    /// Show the tiles of the selected chip, or of another one.
    Chip(PlaceWord),
    /// Show the selected core, or another one, such as 0:e8.
    Core(PlaceWord),
    /// Show what could not be read.
    Gaps,
    /// Show routers, muxes and clients of the fabric.
    Fabric,
    /// Show what stands still, and why.
    Why,
    /// Show which operations run, and which chips are behind.
    Operations,
    /// Show what runs on the tiles, and which are free.
    Resources,
    /// Show the routing queues of base firmware, and transmit queues.
    Queues,
    /// Show semaphores and circular buffers of what runs, and who waits for them.
    Semaphores,
    /// Show the path of a packet, routing tables, and the schedules of collectives.
    Routes,
    /// Show what was done and reported in this session.
    Log,
    /// Write what is on screen to a file, as SVG.
    Svg {
        /// The file.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Show or hide the results of this session.
    Results,
    /// Explain keys and glyphs.
    Help,
    /// Quit.
    #[command(alias = "q")]
    Quit,
}

/// The place that a screen shows.
#[derive(clap::Args, Clone, Debug, PartialEq, Eq)]
struct PlaceWord {
    /// The place.
    #[arg(value_name = "PLACE")]
    place: Option<String>,
}

impl PlaceWord {
    /// Goes to the place, or shows a screen.
    fn or(self, screen: Screen) -> Typed {
        self.place.map_or(Typed::Show(screen), Typed::Goto)
    }
}

#[derive(Parser)]
#[command(
    name = ":",
    no_binary_name = true,
    disable_help_flag = true,
    disable_help_subcommand = true,
    disable_version_flag = true
)]
struct CommandLine {
    #[command(subcommand)]
    order: LineWords,
}

/// Parses a command; none if the first word is not a command, but a place.
pub fn parse(text: &str) -> Option<Result<Typed, String>> {
    words(text).map(|words| words.and_then(LineWords::typed))
}

fn words(text: &str) -> Option<Result<LineWords, String>> {
    let first = text.split_whitespace().next()?;
    let grammar = CommandLine::command();
    let order = grammar.find_subcommand(first)?;
    let parsed = CommandLine::try_parse_from(text.split_whitespace());
    Some(parsed.map(|line| line.order).map_err(|error| {
        if error.kind() == ErrorKind::MissingRequiredArgument {
            return incomplete(order, &error);
        }
        let message = one_line(&error.render().to_string());
        // There is no --help on this line.
        let message = message.trim_end_matches(" (see --help)");
        message.chars().filter(|c| !c.is_control()).collect()
    }))
}

impl LineWords {
    /// Returns what the words ask for.
    fn typed(self) -> Result<Typed, String> {
        let order = match self {
            Self::Run(options) => {
                let run = if let Some(file) = &options.from {
                    MachineOrder::Replay(Box::new(options.replay(file)?))
                } else if options.schedule {
                    let sweep = Box::new(options.sweep()?);
                    return Ok(Typed::Orders(vec![MachineOrder::Schedule(sweep)]));
                } else {
                    MachineOrder::Run(Box::new(options.sweep()?))
                };
                let record = options.record.map(|file| MachineOrder::Record(Some(file)));
                return Ok(Typed::Orders(record.into_iter().chain([run]).collect()));
            }
            Self::Launch(options) => {
                let order = options.order().map_err(|failure| failure.to_string())?;
                MachineOrder::Launch(Box::new(order))
            }
            Self::Stop => MachineOrder::Stop,
            Self::Pause => MachineOrder::Pause,
            Self::Resume => MachineOrder::Resume,
            Self::Step(options) => {
                MachineOrder::Step(options.order().map_err(|failure| failure.to_string())?)
            }
            Self::Clean(CleanArguments { escalate }) => {
                MachineOrder::Clean(CleanSettings { escalate })
            }
            Self::Fault { fault } => {
                MachineOrder::Fault(fault.parse().map_err(|error: FaultError| error.to_string())?)
            }
            Self::Pace { pace } => {
                MachineOrder::Pace(probe::spec::pace(&pace).map_err(|error| error.to_string())?)
            }
            Self::Goto { moment } => {
                let moment = Moment::parse(&moment).map_err(|error| error.to_string())?;
                MachineOrder::Play(PlayOrder::Goto(moment))
            }
            Self::Play { speed } => {
                let wrong =
                    |_| format!("play: '{}' is not a number of moments per second", shown(&speed));
                MachineOrder::Play(PlayOrder::Play(speed.parse().map_err(wrong)?))
            }
            Self::WhoWrote { place } => {
                let (chip, tile, offset) = locate::address(&place)?;
                let word = Span { addr: NocAddr { chip, tile, offset }, len: 4 };
                MachineOrder::Play(PlayOrder::WhoWrote(word))
            }
            Self::Mark { words } => MachineOrder::Play(PlayOrder::Mark(words.join(" "))),
            Self::Record { file } => MachineOrder::Record(file),
            Self::Bundle { file } => MachineOrder::Bundle(file.unwrap_or_else(|| {
                PathBuf::from(format!("bundle-{}.tar.gz", now_micros() / 1_000_000))
            })),
            Self::Halt => return Ok(Typed::Core(CoreCommand::Halt)),
            Self::Control(command) => return Ok(Typed::Core(command.into())),
            Self::Path(PathArguments { from, to }) => return Ok(Typed::Path { from, to }),
            Self::Mesh => return Ok(Typed::Show(Screen::Mesh)),
            Self::Links => return Ok(Typed::Links),
            Self::Chip(word) => return Ok(word.or(Screen::Chip)),
            Self::Core(word) => return Ok(word.or(Screen::Core)),
            Self::Gaps => return Ok(Typed::Show(Screen::Gaps)),
            Self::Fabric => return Ok(Typed::Show(Screen::Fabric)),
            Self::Why => return Ok(Typed::Show(Screen::Why)),
            Self::Operations => return Ok(Typed::Show(Screen::Operations)),
            Self::Resources => return Ok(Typed::Show(Screen::Resources)),
            Self::Queues => return Ok(Typed::Show(Screen::Queues)),
            Self::Semaphores => return Ok(Typed::Show(Screen::Semaphores)),
            Self::Routes => return Ok(Typed::Show(Screen::Routes)),
            Self::Log => return Ok(Typed::Show(Screen::Log)),
            Self::Svg { file } => return Ok(Typed::Svg(file)),
            Self::Results => return Ok(Typed::Results),
            Self::Help => return Ok(Typed::Help),
            Self::Quit => return Ok(Typed::Quit),
        };
        Ok(Typed::Orders(vec![order]))
    }
}

/// The error of a command without an argument that it needs.
fn incomplete(order: &clap::Command, error: &clap::Error) -> String {
    let takes = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) => missing.join(" "),
        _ => String::new(),
    };
    let about = order.get_about().map(ToString::to_string).unwrap_or_default();
    format!("{} takes {takes}: {about}", order.get_name())
}

/// The names of all commands.
pub fn names() -> Vec<String> {
    CommandLine::command().get_subcommands().map(|order| order.get_name().to_owned()).collect()
}

/// Every command and every option of it, in the words of the grammar.
pub fn explained() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for order in CommandLine::command().get_subcommands() {
        let words = |text: Option<&clap::builder::StyledStr>| {
            text.map(ToString::to_string).unwrap_or_default()
        };
        let takes = order.get_positionals().map(|arg| format!(" {}", value_name(arg)));
        all.push((
            order.get_name().to_owned() + &takes.collect::<String>(),
            words(order.get_about()),
        ));
        for arg in order.get_arguments().filter(|arg| !arg.is_positional()) {
            let long = || arg.get_long().map(|long| format!("--{long}"));
            let name = arg.get_short().map(|short| format!("-{short}")).or_else(long);
            let value =
                if arg.get_action().takes_values() { value_name(arg) } else { String::new() };
            let name = format!("  {} {value}", name.unwrap_or_default());
            all.push((name.trim_end().to_owned(), words(arg.get_help())));
        }
    }
    all
}

fn value_name(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// What else can follow in a line, besides words of the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Further {
    /// Nothing.
    Nothing,
    /// Places of the mesh.
    Places,
    /// Files.
    Files,
}

impl Further {
    /// What an argument takes.
    fn of(arg: &Arg) -> Self {
        let name = value_name(arg);
        match name.trim_end_matches(",...") {
            _ if !arg.get_possible_values().is_empty() => Self::Nothing,
            "PLACE" | "CORE" | "LINK" | "END" | "FROM" | "TO" => Self::Places,
            "FILE" | "KERNEL.elf" => Self::Files,
            _ => Self::Nothing,
        }
    }
}

/// What can follow in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follow {
    /// Where the word begins that it completes.
    pub start: usize,
    /// Words of the grammar.
    pub words: Vec<String>,
    /// What else.
    pub further: Further,
}

impl Follow {
    /// The values of an argument.
    fn of(arg: &Arg, start: usize, word: &str) -> Self {
        let comma = arg.get_value_delimiter().and_then(|comma| word.rfind(comma));
        let past = comma.map_or(0, |at| at + 1);
        let words = beginning_with(word.get(past..).unwrap_or_default(), values(arg));
        Self { start: start + past, words, further: Further::of(arg) }
    }

    fn words(start: usize, words: Vec<String>) -> Self {
        Self { start, words, further: Further::Nothing }
    }
}

/// The candidates for the last word of a line.
pub fn candidates(text: &str) -> Follow {
    let start = text.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let (before, word) = text.split_at(start);
    let before: Vec<&str> = before.split_whitespace().collect();
    let Some((order, given)) = before.split_first() else {
        let further = Further::Places;
        return Follow { start, words: beginning_with(word, names()), further };
    };
    let grammar = CommandLine::command();
    let Some(order) = grammar.find_subcommand(order) else {
        return Follow::words(start, Vec::new());
    };
    if let Some((option, value)) = word.split_once('=') {
        let at = start + option.len() + 1;
        let of = |arg| Follow::of(arg, at, value);
        return find(order, option).map_or_else(|| Follow::words(at, Vec::new()), of);
    }
    let takes = |word: &&str| find(order, word).filter(|arg| takes_value(arg));
    if let Some(option) = given.last().and_then(takes) {
        return Follow::of(option, start, word);
    }
    if !word.starts_with('-')
        && let Some(arg) = next_positional(order, given)
    {
        let follow = Follow::of(arg, start, word);
        if !follow.words.is_empty() || follow.further != Further::Nothing {
            return follow;
        }
    }
    let unused = |name: &String| !given.contains(&name.as_str());
    Follow::words(start, beginning_with(word, options(order).filter(unused)))
}

/// The argument without an option's name that comes after those that are given.
fn next_positional<'a>(order: &'a clap::Command, given: &[&str]) -> Option<&'a Arg> {
    let takes = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| given.get(before));
        before.and_then(|word| find(order, word)).is_some_and(takes_value)
    };
    let positional = |(at, word): &(usize, &&str)| !word.starts_with('-') && !takes(*at);
    let count = given.iter().enumerate().filter(positional).count();
    let many = |arg: &&Arg| arg.get_num_args().is_some_and(|range| range.max_values() > 1);
    order.get_positionals().nth(count).or_else(|| order.get_positionals().last().filter(many))
}

fn beginning_with(word: &str, all: impl IntoIterator<Item = String>) -> Vec<String> {
    all.into_iter().filter(|name| name.starts_with(word)).collect()
}

fn options(order: &clap::Command) -> impl Iterator<Item = String> {
    order.get_arguments().filter_map(Arg::get_long).map(|long| format!("--{long}"))
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values() && !arg.is_require_equals_set()
}

fn values(arg: &Arg) -> Vec<String> {
    arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect()
}

/// The option that a word names: `-b` or `--topology`.
fn find<'a>(order: &'a clap::Command, word: &str) -> Option<&'a Arg> {
    let long = word.strip_prefix("--");
    let short = word.strip_prefix('-').and_then(|rest| rest.chars().next());
    let named = |arg: &&Arg| match long {
        Some(long) => arg.get_long() == Some(long),
        None => word.len() == 2 && short.is_some() && arg.get_short() == short,
    };
    order.get_arguments().find(named)
}

/// The longest common prefix.
pub fn common(candidates: &[String]) -> String {
    let Some((first, rest)) = candidates.split_first() else { return String::new() };
    let same = |other: &String| {
        first
            .chars()
            .zip(other.chars())
            .take_while(|(a, b)| a == b)
            .map(|(a, _)| a.len_utf8())
            .sum()
    };
    let len = rest.iter().map(same).min().unwrap_or(first.len());
    first.get(..len).unwrap_or_default().to_owned()
}

/// The error of an unknown command.
pub fn unknown(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    format!("'{}' is neither a place nor a command: {}", shown(first), names().join(", "))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
    use super::*;

    fn error(text: &str) -> String {
        words(text).unwrap().unwrap_err()
    }

    #[test]
    fn orders_have_the_grammar_of_the_verbs() {
        let LineWords::Run(run) =
            words("run all-gather --chips 0-7 --topology ring -b 4K -e 1M -f 2 --check")
                .unwrap()
                .unwrap()
        else {
            panic!()
        };
        assert_eq!(run.op.map(collectives::Op::name), Some("all-gather"));
        assert_eq!((&*run.min_bytes, run.max_bytes.as_deref()), ("4K", Some("1M")));
        assert!(run.check && !run.worker_initiated);
        let line = "run all-gather --bidirectional half --termination worker --seed -1";
        let LineWords::Run(run) = words(line).unwrap().unwrap() else { panic!() };
        assert_eq!(run.bidirectional, collectives::Bidirectional::HalfTensors);
        assert!(run.worker_initiated);
        assert_eq!(run.seed, "-1", "the program reports bad values itself");
        let line = "launch k.elf --on 0:1-2,1:1-1 --args 1,0x20 --for 2ms";
        let LineWords::Launch(launch) = words(line).unwrap().unwrap() else { panic!() };
        assert_eq!(
            (launch.on.join(" "), launch.args.join(" ")),
            ("0:1-2 1:1-1".into(), "1 0x20".into())
        );
        assert_eq!((launch.over.as_deref(), launch.wait), (Some("2ms"), false));
        assert_eq!(words("stop"), Some(Ok(LineWords::Stop)));
        assert_eq!(words("q"), Some(Ok(LineWords::Quit)));
        assert_eq!(words("pace 100k"), Some(Ok(LineWords::Pace { pace: "100k".into() })));
        assert_eq!(words("0:9-6"), None, "a place");
        assert_eq!(words(""), None);
    }

    #[test]
    fn what_is_wrong_is_one_line() {
        assert!(error("pace").starts_with("pace takes <CYCLES>: "), "{}", error("pace"));
        for wrong in ["run all-gather --json", "run all-gather -b -1"] {
            assert!(!error(wrong).contains("tip"), "{}", error(wrong));
        }
        assert!(error("run").contains("<OP>"), "{}", error("run"));
        for (wrong, says) in [
            ("launch k.elf", "launch takes --on <PLACE,...>: "),
            ("launch --on 0:1-2", "launch takes <KERNEL.elf>: "),
            ("launch k.elf --stop --on 0:1-2", "--stop"),
        ] {
            assert!(error(wrong).contains(says), "{}", error(wrong));
        }
        assert!(error("run all-gathr").contains("all-gather"), "{}", error("run all-gathr"));
        for wrong in
            ["run all-gather --topology star", "run all-gather -f 2 -i 4K", "pace", "stop now"]
        {
            let text = error(wrong);
            assert!(!text.contains('\n') && !text.contains("--help"), "{text}");
        }
        assert!(!error("run \u{1b}[2J").contains('\u{1b}'));
    }

    #[test]
    fn help_explains_every_order_and_option() {
        let all = explained();
        let about = |name: &str| all.iter().find(|(of, _)| of == name).map(|(_, about)| &**about);
        assert!(about("run OP").is_some() && about("quit").is_some(), "{all:?}");
        assert!(about("  --delay TIME").unwrap().contains("follow"), "{all:?}");
        assert!(all.iter().all(|(_, about)| !about.is_empty()), "{all:?}");
    }

    #[test]
    fn tab_knows_orders_collectives_options_and_values() {
        let list = |text| candidates(text).words;
        assert_eq!(list("r"), ["run", "resume", "record", "resources", "routes", "results"]);
        assert_eq!(list("ru"), ["run"]);
        assert_eq!(list("run all"), ["all-gather", "all-reduce", "all-to-all"]);
        assert_eq!(list("run all-gather --to"), ["--topology"]);
        assert_eq!(list("run all-gather --topology "), ["ring", "line"]);
        assert_eq!(list("run all-gather --bidirectional=h"), ["half"]);
        assert_eq!(list("run all-gather --bidirectional "), ["no", "half", "full"]);
        assert_eq!(list("run all-gather --termination "), ["count", "worker"]);
        assert_eq!(list("run -d f"), ["fp32"]);
        assert!(
            list("run all-gather ").contains(&"--check".to_owned()),
            "options, not a second op"
        );
        assert!(!list("run all-gather --check --c").contains(&"--check".to_owned()));
        assert!(list("0:9").is_empty());
        assert_eq!(candidates("run all").start, 4);
        let further = |text| (candidates(text).start, candidates(text).further);
        assert_eq!(further("0:e"), (0, Further::Places));
        assert_eq!(further("launch k.elf --on 0:1-2,"), (24, Further::Places));
        assert_eq!(further("launch "), (7, Further::Files));
        assert_eq!(further("path 0 "), (7, Further::Places));
        assert_eq!(further("step 0:e8 "), (10, Further::Places));
        assert_eq!(further("bundle ha"), (7, Further::Files));
        assert_eq!(further("pace "), (5, Further::Nothing));
        assert_eq!(common(&list("run all")), "all-");
    }
}
