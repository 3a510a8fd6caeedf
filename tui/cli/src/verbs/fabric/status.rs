//! `fabric status` and `fabric drain`: the contents of the fabric node status queues.

use super::keep::KeptFile;
use crate::args::StatusArguments;
use crate::output::{Columns, json, say};
use crate::shape::Status;
use crate::target::{Style, open};
use crate::verbs::cores;
use console::exit::{Failure, Outcome};
use console::locate::{self, NamedPlace};
use console::machine::{Machine, Opening};
use console::words;
use fabric::running_fabric;
use fabric::status_queue::{StatusReport, read_status, status_queues};
use launch::ControlError;
use layouts::EthId;
use machine::fabric::FabricNode;
use machine::words::counted;

const ENTRIES: [&str; 6] = ["ROUTER", "NODE", "#", "CYCLES", "EVENT", "WHAT"];

pub(super) fn run(
    opening: &Opening,
    style: Style,
    options: &StatusArguments,
    drain: bool,
) -> Result<Outcome, Failure> {
    let place = options.place.as_deref().map(locate::place).transpose().map_err(Failure::Usage)?;
    // An unusable file is reported before a machine is touched.
    let mut kept = options.keep.as_deref().map(KeptFile::open).transpose()?;
    let mut machine = open(opening)?;
    if machine.session().file().is_some_and(|file| file.head.is_none()) {
        let why = "a fabric snapshot holds no status queues: they are read where the fabric runs";
        return Err(Failure::Usage(format!("{}: {why}", opening.words)));
    }
    cores::check_on(&machine.mesh(), place)?;
    let failed = |error: ControlError| Failure::of_control(&opening.words, &error);
    let (reports, missing) = read(&mut machine, place).map_err(failed)?;
    let cycles = machine.target().now().map_err(|e| Failure::of_access(&opening.words, &e))?;
    if let Some(kept) = &mut kept {
        let new = kept.append(&reports)?;
        let new = counted(new as u64, "new entry", "new entries");
        say(&format!("{}: {new}", kept.path().display()));
    }
    if drain {
        let (target, images) = machine.session().parts();
        for report in reports.iter().filter(|report| !report.entries.is_empty()) {
            let operation = report.drain(images).map_err(failed)?;
            operation.finish(target).map_err(failed)?;
        }
    }
    say(&format!("{} at {} of its own time", opening.words, words::cycles(cycles)));
    if style.json {
        json(Status::new(&opening.words, cycles, &reports))?;
    } else {
        style.print(page(&reports))?;
    }
    let waiting: usize = reports.iter().map(|report| report.entries.len()).sum();
    let lost: u64 = reports.iter().map(|report| u64::from(report.lost)).sum();
    let drained = if drain { ", drained" } else { "" };
    if !reports.is_empty() {
        let queues = counted(reports.len() as u64, "status queue", "status queues");
        let waiting = counted(waiting as u64, "entry", "entries");
        say(&format!("{queues}: {waiting}{drained}, {lost} lost"));
    }
    if missing.is_empty() {
        return Ok(Outcome::Healthy);
    }
    let nodes: Vec<String> = missing.iter().map(ToString::to_string).collect();
    say(&format!("no router of {} answers", nodes.join(", ")));
    Ok(Outcome::Partial)
}

/// Reads the queues; returns the nodes that do not answer, too.
fn read(
    machine: &mut Machine,
    place: Option<NamedPlace>,
) -> Result<(Vec<StatusReport>, Vec<FabricNode>), ControlError> {
    let (target, images) = machine.session().parts();
    let Some(plan) = running_fabric(target, images)? else {
        say("no router runs there");
        return Ok((Vec::new(), Vec::new()));
    };
    let layout = plan.layout();
    let mut queues = status_queues(target, images, &plan)?;
    queues.retain(|queue| {
        let EthId { chip, channel } = queue.router;
        let tile = layout.eth_channel(channel);
        place.is_none_or(|place| tile.is_some_and(|tile| place.has_tile(chip, tile)))
    });
    Ok((read_status(target, images, &queues)?, plan.missing()))
}

fn page(reports: &[StatusReport]) -> Columns {
    let mut table = Columns::new(&ENTRIES);
    for report in reports {
        for entry in &report.entries {
            table.row(vec![
                report.queue.router.to_string(),
                format!("M{}D{}", entry.mesh_id, entry.device_id),
                entry.number.to_string(),
                entry.cycles.map_or_else(|| "-".to_owned(), |cycles| cycles.to_string()),
                entry.event.clone(),
                entry.text.clone(),
            ]);
        }
    }
    table
}
