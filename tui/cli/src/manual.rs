//! The manual: a page for each verb and each topic, as `meshscope help` and `--help` print them.

use crate::args::{self, Arguments};
use crate::output;
use crate::screens::Screens;
use crate::verb::Description;
use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};
use console::exit::{Failure, Outcome};
use std::ffi::OsString;

/// Pages that belong to no verb. The first line of a page names its subject.
const TOPICS: &[(&str, &str)] = &[
    ("targets", include_str!("manual/topics/targets.md")),
    ("addresses", include_str!("manual/topics/addresses.md")),
    ("words", include_str!("manual/topics/words.md")),
    ("keys", include_str!("manual/topics/keys.md")),
    ("settings", include_str!("manual/topics/settings.md")),
    ("map", include_str!("manual/topics/map.md")),
    ("safety", include_str!("manual/topics/safety.md")),
    ("firmware", include_str!("manual/topics/firmware.md")),
    ("descriptors", include_str!("manual/topics/descriptors.md")),
    ("collectives", include_str!("manual/topics/collectives.md")),
    ("faults", include_str!("manual/topics/faults.md")),
    ("json", include_str!("manual/topics/json.md")),
    ("exit-codes", include_str!("manual/topics/exit-codes.md")),
    ("environment", include_str!("manual/topics/environment.md")),
    ("other-tools", include_str!("manual/topics/other-tools.md")),
];

/// Parses the command line: the global options, and the words of the verb.
pub(crate) fn parse(
    arguments: impl IntoIterator<Item = OsString>,
    verbs: &[&'static Description],
) -> Result<(Arguments, Option<(String, ArgMatches)>), clap::Error> {
    let mut words: Vec<OsString> = arguments.into_iter().collect();
    let mut parsed = command(verbs).try_get_matches_from(&words);
    if let Err(error) = &parsed
        && let Some((at, target)) = target_in_place_of_a_verb(error, &words)
    {
        words.splice(at..=at, ["--target".into(), target]);
        parsed = command(verbs).try_get_matches_from(&words);
    }
    let mut matches = parsed?;
    let arguments = Arguments::from_arg_matches(&matches)?;
    Ok((arguments, matches.remove_subcommand()))
}

/// The word where a verb was expected that names a target, and that target.
fn target_in_place_of_a_verb(error: &clap::Error, words: &[OsString]) -> Option<(usize, OsString)> {
    let ContextValue::String(word) = error.get(ContextKind::InvalidSubcommand)? else {
        return None;
    };
    let at = words.iter().skip(1).position(|it| it.to_str() == Some(word))? + 1;
    Some((at, args::positional_target(word)?.into()))
}

/// The grammar with its pages.
pub(crate) fn command(verbs: &[&'static Description]) -> Command {
    let topics = format!("Topics:\n{}", listed(topics()));
    let command = Arguments::command().after_help(topics);
    let grammars = verbs.iter().map(|verb| (verb.grammar)(Command::new(verb.name)));
    let command = command.subcommands(grammars);
    pages(verbs).fold(command, |command, (name, page)| with_page(command, name, page))
}

/// The pages of the verbs and their subcommands.
fn pages(verbs: &[&'static Description]) -> impl Iterator<Item = (&'static str, &'static str)> {
    verbs.iter().flat_map(|verb| verb.pages.iter().copied())
}

fn with_page(command: Command, name: &str, page: &'static str) -> Command {
    let (first, rest) = name.split_once(' ').unwrap_or((name, ""));
    command.mut_subcommand(first, |verb| match rest {
        "" => verb.after_long_help(page.trim_end()),
        rest => with_page(verb, rest, page),
    })
}

/// `meshscope help`: the page of this name, or the list of all.
pub(crate) fn show(
    name: &[String],
    verbs: &[&'static Description],
    screens: &dyn Screens,
) -> Result<Outcome, Failure> {
    let mut grammar = command(verbs);
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
