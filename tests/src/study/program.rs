//! The program `study`: one registry of all studies, and the command line that it makes.

use super::printer::Printer;
use super::{
    clean, collectives, hostile, operations, pause, relaunch, reroute, traffic, transport,
    watching, why,
};
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::ffi::OsString;
use studies::shape::{Choice, Options, Report, Study, StudyError};

/// The studies of the house.
const OWN: &[Study] = &[
    watching::STUDY,
    relaunch::STUDY,
    traffic::STUDY,
    transport::STUDY,
    collectives::STUDY,
    reroute::STUDY,
    pause::STUDY,
    clean::STUDY,
    why::STUDY,
    hostile::STUDY,
    #[cfg(feature = "scan")]
    super::fleet::STUDY,
    operations::STUDY,
];

/// The option that prints one line of JSON.
const JSON: &str = "json";

/// Returns all studies.
pub fn all() -> impl Iterator<Item = Study> {
    studies::ALL.into_iter().chain(OWN.iter().copied())
}

/// Runs the program and returns its exit code: 0, 1 if something is not as it must be, 2 for
/// unusable arguments, 70 for an error of its own.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let matches = match command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => {
            let _ = error.print();
            return error.exit_code() as u8;
        }
    };
    match carry_out(&matches) {
        Ok(right) => u8::from(!right),
        Err(error) => {
            eprintln!("study: {error}");
            match error {
                StudyError::Finding(_) => 1,
                StudyError::Usage(_) => 2,
                StudyError::Internal(_) => 70,
            }
        }
    }
}

fn command() -> Command {
    let json = Arg::new(JSON).long(JSON).global(true).action(ArgAction::SetTrue);
    let verb = |study: Study| {
        let arguments = study.options.iter().map(argument);
        Command::new(study.name).about(study.about).args(arguments)
    };
    Command::new("study")
        .about("Measures on emulated meshes what the vendor's documents claim, and tests meshscope")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(json.help("Print one line of JSON"))
        .subcommands(all().map(verb))
}

fn argument(choice: &Choice) -> Arg {
    let argument = Arg::new(choice.name).long(choice.name).help(choice.about);
    match choice.value {
        None => argument.action(ArgAction::SetTrue),
        Some(value) => argument.value_name(value).default_value(choice.default),
    }
}

fn given(choice: &Choice, matches: &ArgMatches) -> Option<(&'static str, String)> {
    let value = match choice.value {
        None => matches.get_flag(choice.name).then(String::new),
        Some(_) => matches.get_one::<String>(choice.name).cloned(),
    };
    Some((choice.name, value?))
}

fn carry_out(matches: &ArgMatches) -> Result<bool, StudyError> {
    let named = matches.subcommand().and_then(|(name, matches)| {
        all().find(|study| study.name == name).map(|study| (study, matches))
    });
    let (study, matches) =
        named.ok_or_else(|| StudyError::Usage("no study is named".to_owned()))?;
    let options: Options =
        study.options.iter().filter_map(|choice| given(choice, matches)).collect();
    let mut printer = Printer::new(matches.get_flag(JSON));
    let mut tell = |told: studies::shape::Told<'_>| printer.tell(told);
    let mut report = Report::new(&study, &mut tell);
    let right = (study.run)(&options, &mut report)?;
    let answer = report.into_answer();
    printer.end(&answer)?;
    Ok(right)
}
