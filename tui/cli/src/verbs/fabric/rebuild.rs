//! `fabric rebuild`: a fabric of the chips that are left takes the place of the one that runs.

use super::check;
use crate::args::RebuildArguments;
use crate::interrupt::Stop;
use crate::output::{say, waited};
use crate::target::{Style, open};
use crate::verb::Previewer;
use crate::verbs::line::{Line, STEP_CYCLES};
use console::exit::{Failure, Outcome};
use console::machine::{Machine, Opening};
use console::run::may_change;
use fabric::{FabricPlan, FabricProgress, Rebuild, running_fabric};
use launch::Operation;
use layouts::ChipId;
use machine::words::counted;
use std::collections::BTreeSet;

pub(super) fn run(
    target: &Opening,
    style: Style,
    options: &RebuildArguments,
) -> Result<Outcome, Failure> {
    let stop = Stop::listen()?;
    let mut machine = open(target)?.into_machine();
    may_change(machine.target())?;
    let (old, new) = plans(&mut machine, options)?;
    let (nodes, routers) = (new.nodes().count(), new.routers.len());
    let words = format!("{} of {}", new.topology, counted(nodes as u64, "chip", "chips"));
    stop.takes_time();
    let rebuilt = rebuild(&mut machine, old, new, &stop);
    waited();
    rebuilt?;
    say(&format!("a {words} is up: {}", counted(routers as u64, "router", "routers")));
    check::prove(target, style, &mut machine)
}

/// The writes by which the new fabric comes up.
pub(super) fn preview(options: &RebuildArguments) -> Previewer {
    let options = options.clone();
    Box::new(move |machine| {
        let (old, new) = plans(machine, &options)?;
        let (target, images) = machine.session().parts();
        let operations = Rebuild::new(old, new).writes(&mut images.clone());
        let operations = operations.map_err(|error| Failure::of_control(target.name(), &error))?;
        Ok(Operation::preview(&operations, target))
    })
}

/// The fabric that runs, and the one that takes its place.
fn plans(
    machine: &mut Machine,
    options: &RebuildArguments,
) -> Result<(FabricPlan, FabricPlan), Failure> {
    let name = machine.target().name().to_owned();
    let none = || format!("{name}: no fabric of meshscope's own routers runs there");
    let old = running(machine)?.ok_or_else(|| Failure::Usage(none()))?;
    let out = old.chips_of(&options.without).map_err(Failure::Usage)?;
    let still = old.missing().into_iter().filter_map(|node| old.chip(node));
    if let Some(dead) = still.into_iter().find(|chip| !out.contains(chip)) {
        let why = format!("chip {dead} does not answer: take it out too, with --without {dead}");
        return Err(Failure::Usage(why));
    }
    let new = left_of(machine, &old, &out)?;
    Ok((old, new))
}

/// The fabric that runs, if one does.
pub(in crate::verbs) fn running(machine: &mut Machine) -> Result<Option<FabricPlan>, Failure> {
    let (target, images) = machine.session().parts();
    let running = running_fabric(target, images);
    running.map_err(|error| Failure::of_control(target.name(), &error))
}

/// The fabric of the chips that are left.
pub(in crate::verbs) fn left_of(
    machine: &mut Machine,
    old: &FabricPlan,
    out: &BTreeSet<ChipId>,
) -> Result<FabricPlan, Failure> {
    let new = old.without(machine.target().mesh(), out);
    new.map_err(|why| Failure::Usage(why.to_string()))
}

/// Ends a fabric and brings up another one in its place.
///
/// # Errors
/// Why one of them failed, or `Interrupted`.
pub(in crate::verbs) fn rebuild(
    machine: &mut Machine,
    old: FabricPlan,
    new: FabricPlan,
    stop: &Stop,
) -> Result<(), Failure> {
    let (mut rebuild, mut line) = (Rebuild::new(old, new), Line::new("fabric"));
    let mut stopping = false;
    loop {
        if !stopping && stop.is_requested() {
            stopping = true;
            say("stopping; Ctrl-C again exits at once");
            rebuild.cancel();
        }
        let (target, images) = machine.session().parts();
        let progress = rebuild.poll(target, images);
        let progress = progress
            .map_err(|error| Failure::of_run(target.name(), target.mesh().layout(), &error))?;
        match progress {
            FabricProgress::Finished(_) if stopping => return Err(Failure::Interrupted),
            FabricProgress::Finished(_) => return Ok(()),
            FabricProgress::Running { stage, done, of } => {
                line.show(|| format!("{}, {done} of {of}", stage.words()));
            }
        }
        let passed = target.pass(STEP_CYCLES);
        passed.map_err(|error| Failure::of_access(target.name(), &error))?;
    }
}
