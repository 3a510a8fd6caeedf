//! `study clean --faults`: the table of faults in mid-run.

use super::super::measured::failed;
use super::{Cleanings, telling};
use crate::exit::{Failure, Outcome};
use crate::output::{Columns, json, say};
use crate::verbs::target::Style;
use schemars::JsonSchema;
use serde::Serialize;
use workloads::study::clean::faults::{Faulted, Kind, study};
use workloads::study::clean::transports;

/// Moments of one kind of fault over one transport.
#[derive(Serialize, JsonSchema)]
pub(super) struct FaultRow<'a> {
    /// outage, flap, stuck core or links lost.
    fault: &'static str,
    /// The transport of the all-gather: edm or fabric.
    transport: &'static str,
    /// Moments at which a fault began.
    moments: u64,
    /// Of them, moments that the all-gather survived, with the right data.
    survived: u64,
    /// Of them, moments at which it failed, and said that its teardown left all of its tiles idle.
    restored: u64,
    /// Moments after which something was left.
    left_behind: u64,
    /// Moments after which it or the next all-gather had wrong data, or the next one failed.
    wrong: u64,
    /// The first that were not restored, left or wrong, a sentence each.
    notes: &'a [String],
}

/// Disturbs runs and prints the outcome.
pub(super) fn run(style: Style, mesh: &str, seed: u64, count: u64) -> Result<Outcome, Failure> {
    let moments = (transports().len() * Kind::ALL.len()) as u64 * count;
    let found = telling(moments, |tell| study(mesh, seed, count, tell)).map_err(failed(mesh))?;
    if style.json {
        let faults = found.iter().map(row).collect();
        json(Cleanings { mesh, seed, rows: Vec::new(), faults })?;
    } else {
        let head = ["FAULT", "TRANSPORT", "MOMENTS", "SURVIVED", "RESTORED", "LEFT", "WRONG"];
        let mut table = Columns::new(&head);
        for it in &found {
            let names = [it.kind.name(), it.transport.name()].map(ToOwned::to_owned);
            let counts = [it.moments, it.survived, it.restored, it.left, it.wrong];
            table.row(names.into_iter().chain(counts.map(|count| count.to_string())).collect());
        }
        style.print(table)?;
    }
    found.iter().flat_map(|it| &it.sentences).for_each(|sentence| say(sentence));
    let good = |it: &Faulted| it.survived + it.restored == it.moments && it.left + it.wrong == 0;
    Ok(if found.iter().all(good) { Outcome::Healthy } else { Outcome::Findings })
}

fn row(faulted: &Faulted) -> FaultRow<'_> {
    let Faulted { kind, transport, moments, survived, restored, left, wrong, sentences } = faulted;
    FaultRow {
        fault: kind.name(),
        transport: transport.name(),
        moments: *moments,
        survived: *survived,
        restored: *restored,
        left_behind: *left,
        wrong: *wrong,
        notes: sentences,
    }
}
