//! What a verb is: its arguments, page and JSON, what `--dry-run` says of it, and what it does.

use crate::args::Arguments;
use crate::output::{Page, text};
use crate::screens::{Looks, Screens};
use clap::{ArgMatches, Args, Command};
use console::exit::{Failure, Outcome};
use console::machine::{Machine, Opening};
use decode::inspect::ReadSet;
use machine::target::Preview;
use probe::spec::TargetSpec;
use schemars::Schema;

/// The pages of a verb and its subcommands, by name.
pub(crate) type Pages = &'static [(&'static str, &'static str)];
/// What builds the schemas of its JSON, by the name under which `schema` prints them.
pub(crate) type Schemas = &'static [(&'static str, fn() -> Schema)];
/// Asks an open target what would be touched.
pub(crate) type Previewer = Box<dyn FnOnce(&mut Machine) -> Result<Preview, Failure>>;
/// Makes the previewer of a verb that has `--dry-run`; none of a subcommand that has none. Invalid
/// arguments are errors of usage, before a target is opened.
pub(crate) type Ask<V> = Option<fn(&V, &Opening) -> Result<Option<Previewer>, Failure>>;

/// What `--watch` means to a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watches {
    /// Nothing: it does something, or reads no machine.
    Never,
    /// It is carried out again and again on the same open target.
    Repeats,
    /// It is carried out again and again, and opens no target.
    RepeatsOnHost,
    /// It knows itself.
    Itself,
}

/// A verb, implemented by its arguments, whose comment is its help.
pub(crate) trait Verb: Args {
    /// Its name on the command line.
    const NAME: &str;
    /// What help prints after the options: examples, and what its JSON is.
    const PAGES: Pages;
    /// Its JSON; nothing if it has no `--json`.
    const SCHEMAS: Schemas = &[];
    /// How `--dry-run` finds out what it would touch; none if it has no `--dry-run`.
    const QUESTION: Ask<Self> = None;

    /// What `--watch` means to it.
    const WATCH: Watches = Watches::Never;
    /// Whether it only reads a machine or files, and prints JSON.
    const READS: bool = !matches!(Self::WATCH, Watches::Never);
    /// Subcommands of a verb that reads which change a machine.
    const CHANGES: &[&str] = &[];
    /// Whether it prints JSON.
    const PRINTS_JSON: bool = !Self::SCHEMAS.is_empty();

    /// What prints no table, and so no CSV; none if it prints one.
    fn no_table(&self) -> Option<&'static str> {
        None
    }

    /// Whether it cleans up at the end, so that it listens to signals itself.
    fn cleans_up(&self) -> bool {
        false
    }

    /// The targets that its arguments name.
    fn named(&self) -> Vec<&str> {
        Vec::new()
    }

    /// The target that it opens.
    fn opening(&self, arguments: &Arguments) -> Opening {
        arguments.opening()
    }

    /// Does it.
    ///
    /// # Errors
    /// Why it cannot be done.
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure>;
}

/// What the command line, help and schemas know of a verb.
pub(crate) struct Description {
    pub(crate) name: &'static str,
    pub(crate) pages: Pages,
    pub(crate) schemas: Schemas,
    pub(crate) dry_run: bool,
    pub(crate) watch: Watches,
    /// What serves calls of it, if it only reads.
    #[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "the verb `mcp` calls it"))]
    pub(crate) read: Option<Reader>,
    /// Adds its arguments and its comment.
    pub(crate) grammar: fn(Command) -> Command,
}

/// Calls of a verb that reads.
#[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "the verb `mcp` reads them"))]
pub(crate) struct Reader {
    /// Carries it out on a target.
    pub(crate) call: fn(&ArgMatches, &Opening, Style) -> Result<Outcome, Failure>,
    /// Its subcommands that do more than read.
    pub(crate) changes: &'static [&'static str],
}

/// Returns all verbs, in the order of help.
pub(crate) type Descriptions = fn() -> Vec<&'static Description>;

impl Description {
    pub(crate) const fn of<V: Verb>() -> Self {
        Self {
            name: V::NAME,
            pages: V::PAGES,
            schemas: V::SCHEMAS,
            dry_run: V::QUESTION.is_some(),
            watch: V::WATCH,
            read: if V::READS {
                Some(Reader { call: call::<V>, changes: V::CHANGES })
            } else {
                None
            },
            grammar: V::augment_args,
        }
    }
}

/// Carries out a verb for a caller who may not choose the machine.
fn call<V: Verb>(matches: &ArgMatches, target: &Opening, style: Style) -> Result<Outcome, Failure> {
    let verb = V::from_arg_matches(matches).map_err(|error| Failure::Usage(error.to_string()))?;
    let opens = |words: &&str| TargetSpec::parse(words).is_ok_and(|spec| spec.is_a_machine());
    if let Some(other) = verb.named().into_iter().find(opens) {
        let why = "a call opens recordings and emulated meshes only";
        return Err(Failure::Usage(format!("{other}: {why}")));
    }
    verb.run(target, style)
}

/// The output style of a verb.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    pub(crate) json: bool,
    /// Tables are CSV.
    pub(crate) csv: bool,
    /// Whether it is asked for what comes, which a verb does that watches itself.
    pub(crate) watch: bool,
    pub(crate) looks: Looks,
    pub(crate) screens: &'static dyn Screens,
    /// All verbs.
    pub(crate) verbs: Descriptions,
}

impl Style {
    /// Prints tables and the text around them; as CSV the tables alone.
    pub(crate) fn print(self, page: impl Into<Page>) -> Result<(), Failure> {
        let page = page.into();
        text(&if self.csv { page.csv() } else { page.text() })
    }
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
