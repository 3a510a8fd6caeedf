//! `step`: paused kernels begin their next stage, and park before the one after it; kernels that
//! nothing holds are followed to their next stage.

use super::target::{Style, core_of, open};
use crate::args::StepArguments;
use crate::exit::{Failure, Outcome};
use crate::locate::{self, Where};
use crate::machine::Opening;
use crate::output::{Columns, json, say, text};
use crate::run::may_change;
use crate::run::stepping::{SteppedKernel, Stepping, stage_words};
use crate::shape::{SteppedMesh, rest_word};
use crate::words;
use launch::pause::Rest;
use layouts::{ChipId, CoreId, CoreKind, EthId};
use machine::target::Mesh;
use probe::session::Session;
use std::collections::BTreeSet;

/// More steps are an error.
const MOST_STEPS: u64 = 10_000;

/// Steps, and prints each kernel after each step.
pub(super) fn run(
    opening: &Opening,
    style: Style,
    options: &StepArguments,
) -> Result<Outcome, Failure> {
    let order = Order::parse(options)?;
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
        order.walk(machine.session(), report)?;
    } else {
        may_change(machine.target())?;
        order.carry_out(machine.session(), &mut Stepping::new(), report)?;
    }
    if style.json {
        json(SteppedMesh::new(&opening.words, &steps))?;
    }
    Ok(Outcome::Healthy)
}

/// Which kernels step, and how often.
pub(super) struct Order {
    cores: Vec<Where>,
    link: Option<EthId>,
    released: Option<EthId>,
    back: bool,
    count: u64,
}

impl Order {
    /// Checks the options.
    ///
    /// # Errors
    /// `Usage` that names the wrong one.
    pub(super) fn parse(options: &StepArguments) -> Result<Self, Failure> {
        let wrong = |why: String| Failure::Usage(format!("--count: {why}"));
        let count = locate::number(&options.count).map_err(wrong)?;
        if count == 0 || count > MOST_STEPS {
            return Err(wrong(format!("{count} is not from 1 to {MOST_STEPS}")));
        }
        let cores = options.cores.iter().map(|core| locate::core(core));
        let cores = cores.collect::<Result<_, _>>().map_err(Failure::Usage)?;
        let end = |words: &Option<String>| {
            words.as_deref().map(link_end).transpose().map_err(Failure::Usage)
        };
        let (link, released) = (end(&options.link)?, end(&options.release)?);
        Ok(Self { cores, link, released, back: options.back, count })
    }

    /// Steps, and reports each step.
    ///
    /// # Errors
    /// When a core or link is not there, or a kernel cannot step.
    pub(super) fn carry_out(
        &self,
        session: &mut Session,
        stepping: &mut Stepping,
        mut report: impl FnMut(String, Vec<SteppedKernel>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.back {
            return Err(Failure::Refused(
                "--back: only a recording is stepped back; the live view goes back by S in the past of an emulated mesh".into(),
            ));
        }
        let Stepped { cores, shown } = self.stepped(session.target().mesh())?;
        for number in 1..=self.count {
            report(format!("step {number}"), stepping.next(session, &cores, &shown)?)?;
        }
        Ok(())
    }

    /// Walks from stage to stage of a recording, and reports each step.
    ///
    /// # Errors
    /// When a core or link is not there, or no stage changes.
    fn walk(
        &self,
        session: &mut Session,
        mut report: impl FnMut(String, Vec<SteppedKernel>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Stepped { shown, .. } = self.stepped(session.target().mesh())?;
        let cores: Vec<CoreId> = shown.into_iter().collect();
        if cores.is_empty() {
            return Err(Failure::Usage("name cores or a link: their stages are followed".into()));
        }
        for number in 1..=self.count {
            let walked = Stepping::new().walk(session, &cores, self.back);
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

    fn stepped(&self, mesh: &Mesh) -> Result<Stepped, Failure> {
        let cores = self.cores.iter().map(|place| core_of(*place, mesh));
        let mut cores: Vec<CoreId> = cores.collect::<Result<_, _>>()?;
        let ends = self.link.map(|end| ends(mesh, end)).transpose()?;
        let ends: Vec<(EthId, CoreId)> = ends.into_iter().flatten().collect();
        if let Some(end) = self.released.filter(|it| ends.iter().all(|(end, _)| it != end)) {
            return Err(Failure::Usage(format!("--release: {end} is no end of that link")));
        }
        let is_released = |end: EthId| self.released.is_none_or(|it| it == end);
        cores.extend(ends.iter().filter(|(end, _)| is_released(*end)).map(|(_, core)| *core));
        let shown = ends.iter().map(|(_, core)| *core).chain(cores.iter().copied()).collect();
        Ok(Stepped { cores, shown })
    }
}

/// The kernels that step; without any, all that are paused.
struct Stepped {
    cores: Vec<CoreId>,
    /// Those that are shown, which include both ends of the link.
    shown: BTreeSet<CoreId>,
}

/// A link end such as 0.8.
fn link_end(words: &str) -> Result<EthId, String> {
    let parts = words.split_once('.');
    let end = parts.and_then(|(chip, channel)| {
        Some(EthId { chip: ChipId(chip.parse().ok()?), channel: channel.parse().ok()? })
    });
    end.ok_or_else(|| format!("--link: '{words}' is not a link end, such as 0.8"))
}

/// Both ends of a link, with their cores.
fn ends(mesh: &Mesh, end: EthId) -> Result<[(EthId, CoreId); 2], Failure> {
    let found = mesh.links.iter().find(|link| link.a == end || link.b == end);
    let link = found
        .ok_or_else(|| Failure::Usage(format!("--link: {end} is no end of a link of this mesh")))?;
    let core = |end| {
        let place = mesh.place(end).map_err(|error| Failure::Usage(error.to_string()))?;
        Ok((end, CoreId { chip: place.chip, tile: place.tile, core: CoreKind::Erisc }))
    };
    Ok([core(link.a)?, core(link.b)?])
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
        row("state", format!("{}{begun}", rest_word(rest)));
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
