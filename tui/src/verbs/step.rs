//! `step`: paused kernels begin their next stage, and park before the one after it.

use super::target::{Style, core_of, open};
use crate::args::StepArguments;
use crate::exit::{Failure, Outcome};
use crate::locate;
use crate::machine::Opening;
use crate::output::{json, text};
use crate::run::may_change;
use crate::run::pausing::{SteppedKernel, step};
use crate::shape::{SteppedMesh, rest_word};
use layouts::{ChipId, CoreId, CoreKind, EthId};
use machine::target::Mesh;
use std::fmt::Write;

/// More steps are an error.
const MOST_STEPS: u64 = 10_000;

/// Steps, and prints each kernel after each step.
pub(super) fn run(
    opening: &Opening,
    style: Style,
    options: &StepArguments,
) -> Result<Outcome, Failure> {
    let wrong = |why: String| Failure::Usage(format!("--count: {why}"));
    let count = locate::number(&options.count).map_err(wrong)?;
    if count == 0 || count > MOST_STEPS {
        return Err(wrong(format!("{count} is not from 1 to {MOST_STEPS}")));
    }
    let places = options.cores.iter().map(|core| locate::core(core));
    let places: Vec<_> = places.collect::<Result<_, _>>().map_err(Failure::Usage)?;
    let link = options.link.as_deref().map(link).transpose().map_err(Failure::Usage)?;
    let mut machine = open(opening)?;
    may_change(machine.target())?;
    let mesh = machine.mesh();
    let cores = places.into_iter().map(|place| core_of(place, &mesh));
    let mut cores: Vec<CoreId> = cores.collect::<Result<_, _>>()?;
    if let Some(end) = link {
        cores.extend(ends(&mesh, end)?);
    }
    let mut steps = Vec::new();
    for number in 1..=count {
        let kernels = step(machine.session(), &cores)?;
        if !style.json {
            text(&page(number, &kernels))?;
        }
        steps.push(kernels);
    }
    if style.json {
        json(SteppedMesh::new(&opening.words, &steps))?;
    }
    Ok(Outcome::Healthy)
}

/// A link end such as 0.8.
fn link(words: &str) -> Result<EthId, String> {
    let parts = words.split_once('.');
    let end = parts.and_then(|(chip, channel)| {
        Some(EthId { chip: ChipId(chip.parse().ok()?), channel: channel.parse().ok()? })
    });
    end.ok_or_else(|| format!("--link: '{words}' is not a link end, such as 0.8"))
}

/// The cores at both ends of a link.
fn ends(mesh: &Mesh, end: EthId) -> Result<[CoreId; 2], Failure> {
    let found = mesh.links.iter().find(|link| link.a == end || link.b == end);
    let link = found
        .ok_or_else(|| Failure::Usage(format!("--link: {end} is no end of a link of this mesh")))?;
    let core = |end| {
        let place = mesh.place(end).map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(CoreId { chip: place.chip, tile: place.tile, core: CoreKind::Erisc })
    };
    Ok([core(link.a)?, core(link.b)?])
}

/// The kernels after a step: each with its stage, waypoint, and the words that changed.
fn page(number: u64, kernels: &[SteppedKernel]) -> String {
    let mut page = format!("step {number}\n");
    for kernel in kernels {
        let SteppedKernel { core, kernel: name, rest, waypoint, line, changed } = kernel;
        let stages = match kernel.stages() {
            Some((before, after)) => format!("stage {before} > {after}"),
            None => "no new stage".to_owned(),
        };
        let at = waypoint.as_deref().map_or("", |at| at);
        let line = line.as_deref().map_or("", |line| line);
        let _ = writeln!(page, "  {core}  {name}  {stages}  {}  {at}  {line}", rest_word(*rest));
        // The stage and the waypoint are in the line above.
        let said = |name: &str| name.contains(".control.") || name.contains(".debug_waypoint");
        for (name, before, after) in changed.iter().filter(|(name, ..)| !said(name)) {
            let _ = writeln!(page, "      {name}  {before:#x} > {after:#x}");
        }
    }
    page
}
