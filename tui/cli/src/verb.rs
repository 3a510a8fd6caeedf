//! What a verb is: its arguments, page and JSON, what `--dry-run` says of it, and what it does.

use crate::args::Arguments;
use crate::interrupt;
use crate::output::{Columns, Page, json, say};
use crate::screens::Screens;
use crate::shape::DryRun;
use crate::verbs::VERBS;
use crate::verbs::target::{Style, open};
use clap::{ArgMatches, Args, Command};
use console::exit::{Failure, Outcome};
use console::machine::{Machine, Opening};
use console::words;
use decode::inspect::ReadSet;
use machine::target::{PlannedAccess, Preview};
use schemars::Schema;

/// The pages of a verb and its subcommands, by name.
pub(crate) type Pages = &'static [(&'static str, &'static str)];
/// What builds the schemas of its JSON, by the name under which `schema` prints them.
pub(crate) type Schemas = &'static [(&'static str, fn() -> Schema)];
/// Asks an open target what would be touched.
pub(crate) type Previewer = Box<dyn FnOnce(&mut Machine) -> Result<Preview, Failure>>;

/// A verb, implemented by its arguments, whose comment is its help.
pub(crate) trait Verb: Args {
    /// Its name on the command line.
    const NAME: &str;
    /// What help prints after the options: examples, and what its JSON is.
    const PAGES: Pages;
    /// Its JSON; nothing if it has no `--json`.
    const SCHEMAS: Schemas = &[];
    /// Whether `--dry-run` says what it would touch.
    const DRY_RUN: bool = false;

    /// What prints no table, and so no CSV; none if it prints one.
    fn no_table(&self) -> Option<&'static str> {
        None
    }

    /// Whether it cleans up at the end, so that it listens to signals itself.
    fn cleans_up(&self) -> bool {
        false
    }

    /// The target that it opens.
    fn opening(&self, arguments: &Arguments) -> Opening {
        arguments.opening()
    }

    /// What it would touch. Invalid arguments are reported before a target is opened.
    ///
    /// # Errors
    /// `Usage` for an invalid argument, and for a verb without `--dry-run`.
    fn question(&self, _opening: &Opening) -> Result<Previewer, Failure> {
        Err(no_dry_run())
    }

    /// Does it.
    ///
    /// # Errors
    /// Why it cannot be done.
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure>;
}

/// A verb that the command line knows.
pub(crate) struct Registration {
    pub(crate) name: &'static str,
    pub(crate) pages: Pages,
    pub(crate) schemas: Schemas,
    dry_run: bool,
    /// Adds its arguments and its comment.
    pub(crate) grammar: fn(Command) -> Command,
    act: fn(&ArgMatches, &Arguments, &'static dyn Screens) -> Result<Outcome, Failure>,
}

impl Registration {
    pub(crate) const fn of<V: Verb>() -> Self {
        Self {
            name: V::NAME,
            pages: V::PAGES,
            schemas: V::SCHEMAS,
            dry_run: V::DRY_RUN,
            grammar: V::augment_args,
            act: |matches, arguments, screens| {
                let verb = V::from_arg_matches(matches);
                let verb = verb.map_err(|error| Failure::Usage(error.to_string()))?;
                act(&verb, arguments, screens)
            },
        }
    }
}

/// Carries out the verb of this name.
pub(crate) fn run(
    (name, matches): (&str, &ArgMatches),
    arguments: &Arguments,
    screens: &'static dyn Screens,
) -> Result<Outcome, Failure> {
    let unknown = || Failure::Usage(format!("there is no verb {name}"));
    let verb = VERBS.iter().find(|verb| verb.name == name).ok_or_else(unknown)?;
    (verb.act)(matches, arguments, screens)
}

/// Carries out a verb.
pub(crate) fn act(
    verb: &impl Verb,
    arguments: &Arguments,
    screens: &'static dyn Screens,
) -> Result<Outcome, Failure> {
    let looks = arguments.looks(true);
    let style = Style { json: arguments.json, csv: arguments.csv, looks, screens };
    if let Some(name) = verb.no_table().filter(|_| style.csv && !arguments.dry_run) {
        return Err(Failure::Usage(format!("--csv: {name} prints no table")));
    }
    let target = verb.opening(arguments);
    if !verb.cleans_up() {
        interrupt::watch(|| None)?;
    }
    if arguments.dry_run { dry_run(verb, &target, style) } else { verb.run(&target, style) }
}

/// The refusal of a verb, or of a subcommand, without `--dry-run`.
pub(crate) fn no_dry_run() -> Failure {
    let names: Vec<_> = VERBS.iter().filter(|verb| verb.dry_run).map(|verb| verb.name).collect();
    Failure::Usage(format!("--dry-run is for {}", names.join(", ")))
}

/// A snapshot of this read set.
pub(crate) fn inspected(read_set: ReadSet) -> Previewer {
    Box::new(move |machine| Ok(machine.preview(&read_set)))
}

/// A snapshot of everything on which a verdict rests.
pub(crate) fn everything() -> Previewer {
    Box::new(|machine| {
        let read_set = ReadSet { fabric: true, ..ReadSet::everything(&machine.mesh()) };
        Ok(machine.preview(&read_set))
    })
}

/// The preview of one range, whose refusal is that of the verb.
pub(crate) fn unrefused(preview: Preview) -> Result<Preview, Failure> {
    match preview.gaps.first() {
        Some(gap) => Err(Failure::of_access(&gap.span.addr.to_string(), &gap.reason)),
        None => Ok(preview),
    }
}

/// `--dry-run`: prints what a verb would touch.
fn dry_run(verb: &impl Verb, opening: &Opening, style: Style) -> Result<Outcome, Failure> {
    let ask = verb.question(opening)?;
    let mut machine = open(opening)?;
    let discovery = machine.target().transactions();
    let preview = ask(&mut machine)?;
    let words = &opening.words;
    let further = match machine.target().transactions().saturating_sub(discovery) {
        0 => "nothing else was accessed".to_owned(),
        reads => format!("finding what runs there took {reads} more; nothing was written"),
    };
    say(&format!("{words}: finding the mesh took {discovery} bus transactions; {further}"));
    if style.json {
        json(DryRun::new(&opening.words, discovery, &preview))?;
    } else {
        style.print(table(&preview))?;
    }
    Ok(if preview.gaps.is_empty() { Outcome::Healthy } else { Outcome::Partial })
}

fn table(preview: &Preview) -> Page {
    let mut table = Columns::new(&["CHIP", "TILE", "ADDRESS", "BYTES", "WHAT", "BY", "TX"]);
    for PlannedAccess { span, route, write, transactions } in &preview.accesses {
        table.row(vec![
            span.addr.chip.to_string(),
            span.addr.tile.to_string(),
            format!("{:#x}", span.addr.offset),
            span.len.to_string(),
            if *write { "write" } else { "read" }.to_owned(),
            words::route(*route).to_owned(),
            transactions.to_string(),
        ]);
    }
    let gaps = preview.gaps.iter().map(|gap| format!("{}  {}\n", gap.span.addr, gap.reason));
    let sum: u64 = preview.accesses.iter().map(|visit| visit.transactions).sum();
    let (count, gaps) = (preview.accesses.len(), gaps.collect::<String>());
    Page::from(table).with(format!(
        "{gaps}{count} accesses, {sum} bus transactions (through queues: at least)\n"
    ))
}
