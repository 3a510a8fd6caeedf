//! The registration of a verb: what the command line calls.

use crate::amount;
use crate::args::{Arguments, WATCH_PAUSE};
use crate::interrupt;
use crate::output::{Columns, Page, json, say};
use crate::screens::Screens;
use crate::shape::DryRun;
use crate::target::{keep_open, open};
use crate::verb::{Description, Descriptions, Style, Verb, Watches};
use clap::ArgMatches;
use console::exit::{Failure, Outcome};
use console::machine::Opening;
use console::words;
use machine::target::{PlannedAccess, Preview};
use std::time::Duration;

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
pub(crate) fn act<V: Verb>(
    verb: &V,
    arguments: &Arguments,
    (verbs, screens): Surroundings,
) -> Result<Outcome, Failure> {
    let looks = arguments.looks(true);
    let watch = arguments.watch.as_deref();
    let style = Style {
        json: arguments.json || (watch.is_some() && V::WATCH != Watches::Itself),
        csv: arguments.csv,
        watch: watch.is_some(),
        looks,
        screens,
        verbs,
    };
    if let Some(name) = verb.no_table().filter(|_| style.csv && !arguments.dry_run) {
        return Err(Failure::Usage(format!("--csv: {name} prints no table")));
    }
    if arguments.json && !V::PRINTS_JSON && !arguments.dry_run {
        return Err(Failure::Usage(format!("--json: {} prints no JSON", V::NAME)));
    }
    let target = verb.opening(arguments);
    if !verb.cleans_up() {
        interrupt::watch(|| None)?;
    }
    match watch {
        _ if arguments.dry_run => dry_run(verb, &target, style),
        Some(every) if V::WATCH != Watches::Itself => repeat(verb, &target, style, every),
        Some(every) if every != WATCH_PAUSE => {
            Err(Failure::Usage(format!("--watch: {} looks at intervals of its own", V::NAME)))
        }
        _ => verb.run(&target, style),
    }
}

/// `--watch`: carries out a verb again and again, on the same open target if it has one.
fn repeat<V: Verb>(
    verb: &V,
    target: &Opening,
    style: Style,
    every: &str,
) -> Result<Outcome, Failure> {
    if V::WATCH == Watches::Never {
        let verbs = (style.verbs)().into_iter().filter(|verb| verb.watch != Watches::Never);
        let names: Vec<_> = verbs.map(|verb| verb.name).collect();
        return Err(Failure::Usage(format!("--watch is for {}", names.join(", "))));
    }
    let cycles = amount::time("--watch", every).map_err(Failure::Usage)?;
    if V::WATCH == Watches::RepeatsOnHost {
        loop {
            verb.run(target, style)?;
            std::thread::sleep(Duration::from_nanos(cycles));
        }
    }
    keep_open();
    if open(target)?.session().file().is_some() {
        let words = &target.words;
        return Err(Failure::Usage(format!(
            "--watch: {words} is a recording, which does not go on"
        )));
    }
    loop {
        verb.run(target, style)?;
        let passed = open(target)?.session().pass(cycles);
        passed.map_err(|gone| Failure::of_access(&target.words, &gone))?;
    }
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
