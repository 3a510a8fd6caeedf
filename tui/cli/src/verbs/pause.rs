//! `pause` and `resume`: kernels are parked, their credits counted, and let run on.

use crate::output::{Columns, json, say};
use crate::shape::schema;
use crate::shape::{PausedMesh, Resumed};
use crate::target::{Style, open};
use crate::verb::{Pages, Schemas, Verb};
use console::exit::{Failure, Outcome};
use console::machine::Opening;
use console::run::may_change;
use console::run::pausing::{AtRest, release, settle};
use machine::words::counted;

/// Pause the kernels that run, count their credits, and leave them paused.
///
/// On a target outside this process it needs --allow write,launch.
#[derive(clap::Args, Debug)]
pub(crate) struct PauseArguments {}

impl Verb for PauseArguments {
    const NAME: &str = "pause";
    const PAGES: Pages = &[("pause", include_str!("../manual/verbs/pause.md"))];
    const SCHEMAS: Schemas = &[("pause", schema::<PausedMesh<'_>>)];
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        pause(target, style)
    }
}

/// Let paused kernels run on.
#[derive(clap::Args, Debug)]
pub(crate) struct ResumeArguments {}

impl Verb for ResumeArguments {
    const NAME: &str = "resume";
    const PAGES: Pages = &[("resume", include_str!("../manual/verbs/resume.md"))];
    const SCHEMAS: Schemas = &[("resume", schema::<Resumed<'_>>)];
    fn no_table(&self) -> Option<&'static str> {
        Some("resume")
    }
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        resume(target, style)
    }
}

/// Pauses what runs, and leaves it paused.
pub(super) fn pause(opening: &Opening, style: Style) -> Result<Outcome, Failure> {
    let mut machine = open(opening)?;
    may_change(machine.target())?;
    let rest = settle(machine.session())?;
    let outcome = outcome(&rest);
    if style.json {
        json(PausedMesh::new(&opening.words, &rest))?;
    } else {
        style.print(table(&rest))?;
    }
    say(&rest.sentence());
    if let Some(refusal) = &rest.paused.refusal {
        say(refusal);
    }
    rest.balance.miscounts.iter().for_each(|miscount| say(miscount));
    Ok(outcome)
}

/// Credits that do not add up are findings.
fn outcome(rest: &AtRest) -> Outcome {
    if rest.balance.miscounts.is_empty() { Outcome::Healthy } else { Outcome::Findings }
}

fn table(rest: &AtRest) -> Columns {
    let mut table = Columns::new(&["CORE", "KERNEL", "STATE"]);
    for (core, (kernel, rest)) in &rest.paused.rest {
        table.row(vec![core.to_string(), kernel.clone(), <&str>::from(rest).to_owned()]);
    }
    table
}

/// Lets everything that is paused run on.
pub(super) fn resume(opening: &Opening, style: Style) -> Result<Outcome, Failure> {
    let mut machine = open(opening)?;
    may_change(machine.target())?;
    let count = release(machine.session())?;
    if style.json {
        json(Resumed::new(&opening.words, count))?;
    }
    say(&format!("resumed: {}", counted(count as u64, "kernel runs on", "kernels run on")));
    Ok(Outcome::Healthy)
}
