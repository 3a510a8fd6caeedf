//! The registration of a verb: what the command line calls.

use crate::args::Arguments;
use crate::interrupt;
use crate::output::{Columns, Page, json, say};
use crate::screens::Screens;
use crate::shape::DryRun;
use crate::target::open;
use crate::verb::{Description, Descriptions, Style, Verb};
use clap::ArgMatches;
use console::exit::{Failure, Outcome};
use console::machine::Opening;
use console::words;
use machine::target::{PlannedAccess, Preview};

/// What a verb has around it: all verbs, and the screens.
pub(crate) type Surroundings = (Descriptions, &'static dyn Screens);

/// A verb that the command line knows.
pub(crate) struct Registration {
    pub(crate) description: Description,
    act: fn(&ArgMatches, &Arguments, Surroundings) -> Result<Outcome, Failure>,
}

impl Registration {
    pub(crate) const fn of<V: Verb>() -> Self {
        Self {
            description: Description::of::<V>(),
            act: |matches, arguments, surroundings| {
                let verb = V::from_arg_matches(matches);
                let verb = verb.map_err(|error| Failure::Usage(error.to_string()))?;
                act(&verb, arguments, surroundings)
            },
        }
    }

    /// Carries out the verb.
    pub(crate) fn run(
        &self,
        matches: &ArgMatches,
        arguments: &Arguments,
        surroundings: Surroundings,
    ) -> Result<Outcome, Failure> {
        (self.act)(matches, arguments, surroundings)
    }
}

/// Carries out a verb.
pub(crate) fn act(
    verb: &impl Verb,
    arguments: &Arguments,
    (verbs, screens): Surroundings,
) -> Result<Outcome, Failure> {
    let looks = arguments.looks(true);
    let style = Style { json: arguments.json, csv: arguments.csv, looks, screens, verbs };
    if let Some(name) = verb.no_table().filter(|_| style.csv && !arguments.dry_run) {
        return Err(Failure::Usage(format!("--csv: {name} prints no table")));
    }
    let target = verb.opening(arguments);
    if !verb.cleans_up() {
        interrupt::watch(|| None)?;
    }
    if arguments.dry_run { dry_run(verb, &target, style) } else { verb.run(&target, style) }
}

/// `--dry-run`: prints what a verb would touch.
fn dry_run<V: Verb>(verb: &V, opening: &Opening, style: Style) -> Result<Outcome, Failure> {
    let asked = V::QUESTION.map_or(Ok(None), |question| question(verb, opening))?;
    let ask = asked.ok_or_else(|| {
        let verbs = (style.verbs)().into_iter().filter(|verb| verb.dry_run);
        Failure::Usage(format!(
            "--dry-run is for {}",
            verbs.map(|verb| verb.name).collect::<Vec<_>>().join(", ")
        ))
    })?;
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
