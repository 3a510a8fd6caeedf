//! The commands that control a core: of the `:` line to the core on screen, of `debug` in a row.

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use console::halted::CoreCommand;
use console::words::one_line;

/// A command to a core.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum CoreWords {
    /// Let the core go on, to its next breakpoint if it has one.
    Continue,
    /// Execute one instruction of the halted core, or several.
    Stepi {
        /// Number of instructions.
        #[arg(value_name = "N", default_value_t = 1)]
        count: u32,
    },
    /// Step the halted core to another source line, into functions.
    StepLine,
    /// Step the halted core to another source line, over functions.
    NextLine,
    /// Halt the core at an address, a function, or FILE:LINE.
    Break {
        /// The place.
        #[arg(value_name = "PLACE")]
        place: String,
    },
    /// Halt the core after a store to an address.
    Watch {
        /// The address, as the core sees it.
        #[arg(value_name = "ADDR")]
        addr: String,
    },
    /// Remove all breakpoints and watchpoints of the core.
    Delete,
}

impl From<CoreWords> for CoreCommand {
    fn from(words: CoreWords) -> Self {
        match words {
            CoreWords::Continue => Self::Continue,
            CoreWords::Stepi { count } => Self::Stepi { count },
            CoreWords::StepLine => Self::StepLine,
            CoreWords::NextLine => Self::NextLine,
            CoreWords::Break { place } => Self::Break { place },
            CoreWords::Watch { addr } => Self::Watch { addr },
            CoreWords::Delete => Self::Delete,
        }
    }
}

/// A command of `debug`, which also prints.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum DebugWords {
    /// Print the general registers.
    Registers,
    /// Print the instructions around the program counter.
    Code,
    #[command(flatten)]
    Core(CoreWords),
}

#[derive(Parser)]
#[command(
    name = "debug",
    no_binary_name = true,
    disable_help_flag = true,
    disable_help_subcommand = true
)]
struct Line {
    #[command(subcommand)]
    command: DebugWords,
}

/// Parses commands in a row: each takes the words that its grammar has, and an optional word unless it
/// is another command.
///
/// # Errors
/// What is wrong with the first command that is none, in a sentence.
pub(crate) fn commands(words: &[String]) -> Result<Vec<DebugWords>, String> {
    let grammar = Line::command();
    let mut words = words.iter().peekable();
    let mut all = Vec::new();
    while let Some(word) = words.next() {
        let Some(command) = grammar.find_subcommand(word) else {
            let names = grammar.get_subcommands().map(usage).collect::<Vec<_>>().join(", ");
            return Err(format!("'{word}' is not a command: {names}"));
        };
        let mut line = vec![word];
        for takes in command.get_positionals() {
            let is_command = |next: &&String| grammar.find_subcommand(*next).is_some();
            line.extend(words.next_if(|next| takes.is_required_set() || !is_command(next)));
        }
        let parsed = Line::command().try_get_matches_from(line);
        let parsed = parsed.and_then(|matches| Line::from_arg_matches(&matches));
        all.push(parsed.map_err(|error| one_line(&error.render().to_string()))?.command);
    }
    Ok(all)
}

/// A command with what it takes.
fn usage(command: &clap::Command) -> String {
    let takes = command.get_positionals().map(|arg| {
        let name = super::value_name(arg);
        if arg.is_required_set() { format!(" {name}") } else { format!(" [{name}]") }
    });
    command.get_name().to_owned() + &takes.collect::<String>()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn commands_take_their_words() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let parsed = commands(&words("stepi break brisc.cpp:59 stepi 3 continue registers"));
        let break_at = |place: &str| DebugWords::Core(CoreWords::Break { place: place.to_owned() });
        let stepi = |count| DebugWords::Core(CoreWords::Stepi { count });
        let go_on = DebugWords::Core(CoreWords::Continue);
        assert_eq!(
            parsed.unwrap(),
            [stepi(1), break_at("brisc.cpp:59"), stepi(3), go_on, DebugWords::Registers]
        );
        assert_eq!(commands(&words("break code")).unwrap(), [break_at("code")], "a function");
        for (wrong, says) in [
            ("halt", "'halt' is not a command: registers, code, continue, stepi [N]"),
            ("break", "<PLACE>"),
            ("stepi x", "'x'"),
            ("continue 3", "'3' is not a command"),
        ] {
            let error = commands(&words(wrong)).unwrap_err();
            assert!(error.contains(says) && !error.contains('\n'), "{wrong}: {error}");
        }
    }
}
