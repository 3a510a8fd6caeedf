//! The command line of meshscope: verbs, arguments, JSON, the manual, and the grammar of the `:` line.
//!
//! A verb opens the target, takes a snapshot or asks one question of a file, and prints text or
//! JSON. What it does to a machine it does by `console`; what it shows of a screen it asks of
//! [`Screens`]. The pages of `meshscope help` are in `src/manual`.
//!
//! # Invariants
//!
//! Every verb works the same on a live target and on a recording. What `--json` prints has a schema.
#![forbid(unsafe_code)]

mod amount;
mod args;
mod environment;
pub mod interrupt;
mod junit;
pub mod line;
mod manual;
mod output;
mod registration;
mod screens;
mod shape;
mod target;
mod verb;
mod verbs;
mod waiting;

pub use args::DEFAULT_TARGET;
pub use output::say;
pub use screens::{Drawn, Looks, Picture, Screen, Screens, TourStep};
pub use verbs::{bundle, record_session};

use args::Arguments;
use clap::ArgMatches;
use clap::error::ErrorKind;
use console::exit::{self, Failure, Outcome};
use console::words::one_line;
use machine::past::Keeps;
use std::ffi::OsString;
use verbs::{MeshArguments, VERBS, WhyArguments, descriptions};

/// Runs the program and returns its exit code; an error is one line on standard error.
pub fn run(arguments: impl IntoIterator<Item = OsString>, screens: &'static dyn Screens) -> u8 {
    interrupt::bear_limits();
    let result = match manual::parse(arguments, &descriptions()) {
        Ok((arguments, verb)) => carry_out(&arguments, verb, screens),
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

fn carry_out(
    arguments: &Arguments,
    verb: Option<(String, ArgMatches)>,
    screens: &'static dyn Screens,
) -> Result<Outcome, Failure> {
    match verb {
        Some((name, matches)) => {
            let known = VERBS.iter().find(|verb| verb.description.name == name);
            let unknown = || Failure::Usage(format!("there is no verb {name}"));
            known.ok_or_else(unknown)?.run(&matches, arguments, (descriptions, screens))
        }
        None if shows_screens(arguments) => {
            // The past of an emulated mesh can be visited.
            let opening = arguments.first_opening().keeping(Keeps::Past);
            let is_first = arguments.target.is_none() && opening.words == args::FIRST_TARGET;
            let tour = if is_first { FIRST_TOUR } else { &[] };
            screens.show(opening, arguments.looks(environment::has_colors()), tour)
        }
        None => {
            let surroundings: registration::Surroundings = (descriptions, screens);
            let mesh = || registration::act(&MeshArguments::default(), arguments, surroundings);
            // Of data there is one table, or one document.
            if !is_text(arguments) {
                return mesh();
            }
            let verdict = registration::act(&WhyArguments::usual(), arguments, surroundings)?;
            mesh().map(|_| verdict)
        }
    }
}

/// What to look at without hardware.
const FIRST_TOUR: &[TourStep] = &[TourStep {
    screen: Screen::Chip,
    text: "no device: an emulated T3000; Enter opens a chip; meshscope demo shows hangs",
}];

/// Whether to show the live view: it needs a person at a terminal that can draw.
fn shows_screens(arguments: &Arguments) -> bool {
    environment::is_interactive() && is_text(arguments) && !environment::is_dumb()
}

/// Whether it is text that is printed.
fn is_text(arguments: &Arguments) -> bool {
    !arguments.json && !arguments.csv && !arguments.dry_run
}
