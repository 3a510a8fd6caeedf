//! `clean`: tears down what stands on a mesh, whoever launched it.

use super::line::STEP_CYCLES;
use crate::args::CleanArguments;
use crate::interrupt::Stop;
use crate::output::{Columns, Page, can_wait, json, say, wait_for, waited};
use crate::shape::Cleaned;
use crate::shape::schema;
use crate::target::{Style, open};
use crate::verb::{Ask, Pages, Schemas, Verb};
use collectives::clean::{CleanReport, CleanTile, Found};
use collectives::{Clean, CleanSettings};
use console::exit::{Failure, Outcome};
use console::machine::{Machine, Opening};
use launch::Operation;
use launch::task::Progress;
use layouts::ChipLayout;
use machine::target::Preview;
use std::fmt::Write;

impl Verb for CleanArguments {
    const NAME: &str = "clean";
    const PAGES: Pages = &[("clean", include_str!("../manual/verbs/clean.md"))];
    const SCHEMAS: Schemas = &[("clean", schema::<Cleaned<'_>>)];
    fn cleans_up(&self) -> bool {
        true
    }
    const QUESTION: Ask<Self> = Some(|verb, _| {
        let options = *verb;
        Ok(Some(Box::new(move |machine| preview(machine, options))))
    });
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(target, style, *self)
    }
}

pub(super) fn run(
    opening: &Opening,
    style: Style,
    options: CleanArguments,
) -> Result<Outcome, Failure> {
    let stop = Stop::listen()?;
    let mut machine = open(opening)?.into_machine();
    stop.takes_time();
    let report = torn_down(&mut machine, options, &stop, &opening.words);
    waited();
    let report = report?;
    let layout = machine.mesh().layout();
    if style.json {
        json(Cleaned::new(&opening.words, options.escalate, &report))?;
    } else {
        style.print(page(layout, &report))?;
    }
    let clean = report.is_clean();
    Ok(if clean { Outcome::Healthy } else { Outcome::Findings })
}

fn torn_down(
    machine: &mut Machine,
    CleanArguments { escalate }: CleanArguments,
    stop: &Stop,
    words: &str,
) -> Result<CleanReport, Failure> {
    let layout = machine.mesh().layout();
    let failed = |error| Failure::of_run(words, layout, &error);
    Clean::refuse(machine.target()).map_err(failed)?;
    machine.session().verify_all();
    let mut clean = Clean::new(CleanSettings { escalate });
    loop {
        let (target, images) = machine.session().parts();
        match clean.poll(target, images).map_err(failed)? {
            Progress::Finished(report) => return Ok(report),
            Progress::Running { .. } if stop.is_requested() => return Err(Failure::Interrupted),
            Progress::Running { stage, done, of } => {
                if can_wait() {
                    wait_for(&format!("{}, {done} of {of}", stage.words()));
                }
            }
        }
        target.pass(STEP_CYCLES).map_err(|error| Failure::of_access(words, &error))?;
    }
}

/// The writes of the graceful stages. What stands is said.
pub(super) fn preview(
    machine: &mut Machine,
    CleanArguments { escalate }: CleanArguments,
) -> Result<Preview, Failure> {
    machine.session().verify_all();
    let layout = machine.mesh().layout();
    let (target, images) = machine.session().parts();
    let name = target.name().to_owned();
    let failed = |error| Failure::of_run(&name, layout, &error);
    let mut clean = Clean::new(CleanSettings { escalate });
    let (report, operations) = clean.preview(target, images).map_err(failed)?;
    for (name, tile) in groups(layout, &report) {
        say(&format!("{name}: {}", found(tile)));
    }
    Ok(Operation::preview(&operations, target))
}

/// The tiles, each with its name. Tiles of a chip with which all went alike are one line.
fn groups<'a>(layout: &ChipLayout, report: &'a CleanReport) -> Vec<(String, &'a CleanTile)> {
    let mut groups: Vec<(&CleanTile, usize)> = Vec::new();
    for tile in &report.tiles {
        let alike = |first: &CleanTile| {
            let same = first.place.chip == tile.place.chip && first.left.is_none();
            same && CleanTile { place: first.place, ..tile.clone() } == *first
        };
        match groups.iter_mut().find(|(first, _)| alike(first)) {
            Some((_, count)) => *count += 1,
            None => groups.push((tile, 1)),
        }
    }
    let name = |(tile, count): (&'a CleanTile, usize)| {
        let name = tile.place.name(layout);
        (if count == 1 { name } else { format!("{name} and {} more", count - 1) }, tile)
    };
    groups.into_iter().map(name).collect()
}

/// What stood on a tile, in words.
fn found(tile: &CleanTile) -> String {
    match &tile.found {
        Found::Credits => tile.credits.join(", "),
        other => other.to_string(),
    }
}

fn page(layout: &ChipLayout, report: &CleanReport) -> Page {
    let mut table = Columns::new(&["TILE", "FOUND", "DONE"]);
    let mut left = String::new();
    for (name, tile) in groups(layout, report) {
        let done: Vec<&str> = tile.done.iter().map(|done| done.words()).collect();
        if let Some(remains) = &tile.left {
            let _ = writeln!(left, "{name}: {}; {}", remains.why, remains.next);
        }
        let done = if done.is_empty() { "nothing".to_owned() } else { done.join(", ") };
        table.row(vec![name, found(tile), done]);
    }
    for (chip, why) in &report.lost {
        let _ = writeln!(left, "chip {chip}: {why}");
    }
    let page = Page::default();
    let page = if report.tiles.is_empty() { page } else { page.with(table).with("\n") };
    page.with(left).with(format!("{}\n", report.sentence()))
}
