//! The manual: a page for each verb and each topic, as `meshscope help` and `--help` print them.

use crate::args::Arguments;
use crate::output;
use crate::screens::Screens;
use clap::{Command, CommandFactory, FromArgMatches};
use console::exit::{Failure, Outcome};
use std::ffi::OsString;

/// The text after the options of each verb: examples, and its JSON.
const VERBS: &[(&str, &str)] = &[
    ("mesh", include_str!("manual/verbs/mesh.md")),
    ("cores", include_str!("manual/verbs/cores.md")),
    ("images", include_str!("manual/verbs/images.md")),
    ("links", include_str!("manual/verbs/links.md")),
    ("why", include_str!("manual/verbs/why.md")),
    ("check", include_str!("manual/verbs/check.md")),
    ("explain", include_str!("manual/verbs/explain.md")),
    ("fabric", include_str!("manual/verbs/fabric.md")),
    ("fabric status", include_str!("manual/verbs/fabric-status.md")),
    ("fabric drain", include_str!("manual/verbs/fabric-drain.md")),
    ("fabric waits", include_str!("manual/verbs/fabric-waits.md")),
    ("fabric tables", include_str!("manual/verbs/fabric-tables.md")),
    ("fabric path", include_str!("manual/verbs/fabric-path.md")),
    ("read", include_str!("manual/verbs/read.md")),
    ("print", include_str!("manual/verbs/print.md")),
    ("who-wrote", include_str!("manual/verbs/who-wrote.md")),
    ("changes", include_str!("manual/verbs/changes.md")),
    ("diff", include_str!("manual/verbs/diff.md")),
    ("write", include_str!("manual/verbs/write.md")),
    ("debug", include_str!("manual/verbs/debug.md")),
    ("pause", include_str!("manual/verbs/pause.md")),
    ("resume", include_str!("manual/verbs/resume.md")),
    ("step", include_str!("manual/verbs/step.md")),
    ("gdb", include_str!("manual/verbs/gdb.md")),
    ("symbols", include_str!("manual/verbs/symbols.md")),
    ("symbols type", include_str!("manual/verbs/symbols-type.md")),
    ("symbols value", include_str!("manual/verbs/symbols-value.md")),
    ("symbols line", include_str!("manual/verbs/symbols-line.md")),
    ("symbols function", include_str!("manual/verbs/symbols-function.md")),
    ("symbols list", include_str!("manual/verbs/symbols-list.md")),
    ("symbols addr", include_str!("manual/verbs/symbols-addr.md")),
    ("symbols backtrace", include_str!("manual/verbs/symbols-backtrace.md")),
    ("record", include_str!("manual/verbs/record.md")),
    ("export", include_str!("manual/verbs/export.md")),
    ("bundle", include_str!("manual/verbs/bundle.md")),
    ("run", include_str!("manual/verbs/run.md")),
    ("launch", include_str!("manual/verbs/launch.md")),
    ("clean", include_str!("manual/verbs/clean.md")),
    ("serve", include_str!("manual/verbs/serve.md")),
    ("help", include_str!("manual/verbs/help.md")),
    ("schema", include_str!("manual/verbs/schema.md")),
];

/// Pages that belong to no verb. The first line of a page names its subject.
const TOPICS: &[(&str, &str)] = &[
    ("targets", include_str!("manual/topics/targets.md")),
    ("addresses", include_str!("manual/topics/addresses.md")),
    ("words", include_str!("manual/topics/words.md")),
    ("keys", include_str!("manual/topics/keys.md")),
    ("safety", include_str!("manual/topics/safety.md")),
    ("firmware", include_str!("manual/topics/firmware.md")),
    ("collectives", include_str!("manual/topics/collectives.md")),
    ("faults", include_str!("manual/topics/faults.md")),
    ("json", include_str!("manual/topics/json.md")),
    ("exit-codes", include_str!("manual/topics/exit-codes.md")),
    ("environment", include_str!("manual/topics/environment.md")),
    ("other-tools", include_str!("manual/topics/other-tools.md")),
];

/// Parses the command line.
pub(crate) fn parse(
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Arguments, clap::Error> {
    let matches = command().try_get_matches_from(arguments)?;
    Arguments::from_arg_matches(&matches)
}

/// The grammar with its pages.
fn command() -> Command {
    let topics = format!("Topics:\n{}", listed(topics()));
    let command = Arguments::command().after_help(topics);
    VERBS.iter().fold(command, |command, (name, page)| with_page(command, name, page))
}

fn with_page(command: Command, name: &str, page: &'static str) -> Command {
    let (first, rest) = name.split_once(' ').unwrap_or((name, ""));
    command.mut_subcommand(first, |verb| match rest {
        "" => verb.after_long_help(page.trim_end()),
        rest => with_page(verb, rest, page),
    })
}

/// `meshscope help`: the page of this name, or the list of all.
pub(crate) fn show(name: &[String], screens: &dyn Screens) -> Result<Outcome, Failure> {
    let mut grammar = command();
    // Subcommands take their usage lines from their parents.
    grammar.build();
    let text = match name {
        [] => list(&grammar),
        name => {
            let name = name.join(" ");
            let none = || format!("no verb or topic `{name}`; meshscope help lists them");
            verb(&grammar, &name)
                .or_else(|| topic(&name, screens))
                .ok_or_else(|| Failure::Usage(none()))?
        }
    };
    output::text(&text)?;
    Ok(Outcome::Healthy)
}

fn list(grammar: &Command) -> String {
    let verbs = grammar.get_subcommands().map(|verb| {
        let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
        (verb.get_name(), about)
    });
    let topics = topics().map(|(name, about)| (name, about.to_owned()));
    format!(
        "meshscope help <name> prints the page of a verb or a topic.\n\nVerbs:\n{}\nTopics:\n{}",
        listed(verbs),
        listed(topics)
    )
}

/// What `<verb> --help` prints.
fn verb(grammar: &Command, name: &str) -> Option<String> {
    let mut names = name.split(' ');
    let verb = names.try_fold(grammar, |command, name| command.find_subcommand(name))?;
    Some(verb.clone().render_long_help().to_string())
}

fn topic(name: &str, screens: &dyn Screens) -> Option<String> {
    let (_, page) = TOPICS.iter().find(|(topic, _)| *topic == name)?;
    Some(match name {
        "keys" => format!("{page}\n{}", screens.keys()),
        _ => (*page).to_owned(),
    })
}

fn topics() -> impl Iterator<Item = (&'static str, &'static str)> {
    let about = |page: &'static str| {
        let title = page.lines().next().unwrap_or_default();
        title.split_once(": ").map_or(title, |(_, about)| about)
    };
    TOPICS.iter().map(move |(name, page)| (*name, about(page)))
}

fn listed<'a>(all: impl Iterator<Item = (&'a str, impl AsRef<str>)>) -> String {
    let line = |name, about: &str| format!("  {name:<12} {about}\n");
    let lines: Vec<String> = all.map(|(name, about)| line(name, about.as_ref())).collect();
    lines.concat()
}

#[cfg(test)]
mod tests;
