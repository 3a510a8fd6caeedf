//! The program from arguments to exit code.

use crate::args::{Arguments, When};
use crate::exit::{self, Failure, Outcome};
use crate::feed::Feed;
use crate::glyph::Glyphs;
use crate::machine::{Machine, Opening};
use crate::model::Model;
use crate::output::{self, say};
use crate::theme::Theme;
use crate::words::one_line;
use crate::{manual, screen, verbs};
use clap::error::ErrorKind;
use machine::past::Keeps;
use std::ffi::OsString;
use std::io::IsTerminal;

/// Runs the program and returns its exit code; an error is one line on standard error.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let result = match manual::parse(arguments) {
        Ok(arguments) => carry_out(&arguments),
        Err(error) => refuse(&error),
    };
    if let Err(failure) = &result
        && !matches!(failure, Failure::ClosedPipe)
        && !failure.to_string().is_empty()
    {
        say(&failure.to_string());
    }
    exit::code(&result)
}

/// Help goes to standard output; clap's errors go to standard error.
fn refuse(error: &clap::Error) -> Result<Outcome, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output::text(&error.render().to_string())?;
            Ok(Outcome::Healthy)
        }
        _ => Err(Failure::Usage(one_line(&error.render().to_string()))),
    }
}

fn carry_out(arguments: &Arguments) -> Result<Outcome, Failure> {
    match &arguments.verb {
        Some(verb) => verbs::run(verb, arguments),
        None if shows_screens(arguments) && !arguments.dry_run => show(arguments),
        None => verbs::print_mesh(arguments),
    }
}

/// Whether to show the live view: it needs a terminal for input and output.
fn shows_screens(arguments: &Arguments) -> bool {
    let terminal = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    terminal
        && !arguments.json
        && !arguments.csv
        && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}

fn show(arguments: &Arguments) -> Result<Outcome, Failure> {
    // The past of an emulated mesh can be visited.
    let opening = Opening::of(arguments).keeping(Keeps::Past);
    let size = crossterm::terminal::size().unwrap_or((80, 24));
    let theme = Theme { color: uses_color(arguments.color) };
    let model = Model::new(&opening.words, theme, Glyphs { ascii: arguments.ascii }, size);
    // The probe thread opens the target, so that the terminal responds meanwhile.
    let feed = Feed::start(move |listener| Machine::open(&opening, listener))
        .map_err(|e| Failure::Internal(format!("probe thread: {e}")))?;
    screen::run(model, feed)
}

fn uses_color(when: When) -> bool {
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
    }
}
