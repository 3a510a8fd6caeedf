//! `fabric rebuild`: a fabric of the chips that are left takes the place of the one that runs.

use super::check;
use crate::args::RebuildArguments;
use crate::interrupt::Stop;
use crate::output::{say, waited};
use crate::target::{Style, open};
use crate::verb::Previewer;
use crate::verbs::run::relaunch;
use console::exit::{Failure, Outcome};
use console::machine::{Machine, Opening};
use console::run::may_change;
use fabric::{FabricPlan, Rebuild};
use launch::Operation;
use machine::words::counted;

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
    let rebuilt = relaunch::rebuild(&mut machine, old, new, &stop);
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
    let old = relaunch::running(machine)?.ok_or_else(|| Failure::Usage(none()))?;
    let out = old.chips_of(&options.without).map_err(Failure::Usage)?;
    let still = old.missing().into_iter().filter_map(|node| old.chip(node));
    if let Some(dead) = still.into_iter().find(|chip| !out.contains(chip)) {
        let why = format!("chip {dead} does not answer: take it out too, with --without {dead}");
        return Err(Failure::Usage(why));
    }
    let new = relaunch::left(machine, &old, &out)?;
    Ok((old, new))
}
