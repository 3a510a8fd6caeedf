//! `step`: paused kernels begin their next stage, and park before the one after it; kernels that
//! nothing holds are followed to their next stage.

use crate::args::StepArguments;
use crate::output::{Columns, json, say, text};
use crate::shape::SteppedMesh;
use crate::shape::schema;
use crate::target::{Style, open};
use crate::verb::{Pages, Schemas, Verb};
use console::exit::{Failure, Outcome};
use console::machine::Opening;
use console::run::stepping::{SteppedKernel, Stepping, stage_words};
use console::run::{StepOrder, Stepped, may_change};
use console::words;
use launch::pause::Rest;
use layouts::CoreId;
use probe::session::Session;

impl Verb for StepArguments {
    const NAME: &str = "step";
    const PAGES: Pages = &[("step", include_str!("../manual/verbs/step.md"))];
    const SCHEMAS: Schemas = &[("step", schema::<SteppedMesh<'_>>)];
    fn no_table(&self) -> Option<&'static str> {
        Some("step")
    }
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(target, style, self)
    }
}

/// Steps, and prints each kernel after each step.
pub(super) fn run(
    opening: &Opening,
    style: Style,
    options: &StepArguments,
) -> Result<Outcome, Failure> {
    let order = options.order()?;
    let mut machine = open(opening)?;
    let mut steps = Vec::new();
    let report = |heading: String, kernels: Vec<SteppedKernel>| {
        if !style.json {
            text(&page(&heading, &kernels))?;
        }
        steps.push(kernels);
        Ok(())
    };
    if machine.target().history().is_some() {
        walk(&order, machine.session(), report)?;
    } else {
        may_change(machine.target())?;
        carry_out(&order, machine.session(), &mut Stepping::default(), report)?;
    }
    if style.json {
        json(SteppedMesh::new(&opening.words, &steps))?;
    }
    Ok(Outcome::Healthy)
}

/// Steps, and reports each step.
///
/// # Errors
/// When a core or link is not there, or a kernel cannot step.
pub(super) fn carry_out(
    order: &StepOrder,
    session: &mut Session,
    stepping: &mut Stepping,
    mut report: impl FnMut(String, Vec<SteppedKernel>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Stepped { cores, shown } = order.forward(session.target().mesh())?;
    for number in 1..=order.count {
        report(format!("step {number}"), stepping.next(session, &cores, &shown)?)?;
    }
    Ok(())
}

/// Walks from stage to stage of a recording, and reports each step.
///
/// # Errors
/// When a core or link is not there, or no stage changes.
fn walk(
    order: &StepOrder,
    session: &mut Session,
    mut report: impl FnMut(String, Vec<SteppedKernel>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Stepped { shown, .. } = order.stepped(session.target().mesh())?;
    let cores: Vec<CoreId> = shown.into_iter().collect();
    if cores.is_empty() {
        return Err(Failure::Usage("name cores or a link: their stages are followed".into()));
    }
    for number in 1..=order.count {
        let walked = Stepping::default().walk(session, &cores, order.back);
        let (at_cycles, kernels) = match walked {
            Err(end) if number > 1 => {
                say(&end.to_string());
                break;
            }
            walked => walked?,
        };
        report(format!("step {number}, at {}", words::cycles(at_cycles)), kernels)?;
    }
    Ok(())
}

/// The kernels after a step: two side by side, more below each other.
pub(super) fn page(heading: &str, kernels: &[SteppedKernel]) -> String {
    let beside = if kernels.len() == 2 { 2 } else { 1 };
    let tables = kernels.chunks(beside).map(table);
    std::iter::once(format!("{heading}\n")).chain(tables).collect()
}

/// Kernels side by side.
fn table(kernels: &[SteppedKernel]) -> String {
    let columns: Vec<Vec<(String, String)>> = kernels.iter().map(rows).collect();
    let mut table = Columns::new(&[""]);
    let mut labels: Vec<&String> = Vec::new();
    for (label, _) in columns.iter().flatten() {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    for label in labels {
        let cell = |rows: &Vec<(String, String)>| {
            rows.iter().find(|(it, _)| it == label).map_or("", |(_, cell)| cell).to_owned()
        };
        table.row(std::iter::once(format!("  {label}")).chain(columns.iter().map(cell)).collect());
    }
    table.text().trim_start_matches('\n').to_owned()
}

/// What is said of a kernel: labels and cells.
fn rows(kernel: &SteppedKernel) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let mut row = |label: &str, cell: String| {
        if !cell.is_empty() {
            rows.push((label.to_owned(), cell));
        }
    };
    row("core", kernel.core.to_string());
    row("kernel", kernel.kernel.clone());
    if let Some(rest) = kernel.rest {
        let begun = match kernel.stages() {
            Some((before, after)) => format!(", stages begun {before} > {after}"),
            None => String::new(),
        };
        row("state", format!("{}{begun}", <&str>::from(rest)));
    }
    for party in &kernel.parties {
        let label = words::party(party.now.party);
        row(&label, stage_words(party));
        row(&format!("{label} for"), party.time());
        let parked = kernel.rest == Some(Rest::Parked);
        let next = if parked {
            "the host: it is parked".to_owned()
        } else {
            party.now.stage.next.to_string()
        };
        row(&format!("{label} next"), next);
    }
    for party in &kernel.left {
        row(&words::party(party.party), format!("{} > no longer there", party.stage.name));
    }
    row("waypoint", kernel.waypoint.clone().unwrap_or_default());
    if kernel.rest != Some(Rest::Parked) {
        row("line", kernel.line.clone().unwrap_or_default());
    }
    // The stage and the waypoint are in the rows above.
    let said = |name: &str| name.contains(".control.") || name.contains(".debug_waypoint");
    for (name, before, after) in kernel.changed.iter().filter(|(name, ..)| !said(name)) {
        row(name, format!("{before:#x} > {after:#x}"));
    }
    rows
}
