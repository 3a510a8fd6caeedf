//! `study clean`: launchers killed at random moments, and what `clean` then does; faults in
//! mid-run, and what the run's own teardown does.

mod faults;
mod processes;
mod pseudo;

use super::measured::failed;
use super::traffic::count;
use crate::args::CleanStudyArguments;
use crate::exit::{Failure, Outcome};
use crate::output::{Columns, json, say};
use crate::verbs::target::Style;
use faults::FaultRow;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};
use workloads::study::clean::{self, Killed, transports};

/// Limit of the moments: more take days.
const MOST: u64 = 100_000;

/// What `clean` does after killed launchers, or a run's teardown after faults.
#[derive(Serialize, JsonSchema)]
pub(in crate::verbs) struct Cleanings<'a> {
    /// The mesh.
    mesh: &'a str,
    /// The seed.
    seed: u64,
    /// A row for each launcher and transport; none with --faults.
    rows: Vec<KilledRow<'a>>,
    /// With --faults a row for each kind and transport.
    faults: Vec<FaultRow<'a>>,
}

/// Moments of one launcher over one transport.
#[derive(Serialize, JsonSchema)]
struct KilledRow<'a> {
    /// What was killed: forgotten run (in this process), run or live view (processes).
    launcher: &'static str,
    /// The transport of the all-gather: edm or fabric.
    transport: &'static str,
    /// Moments at which a launcher was killed.
    moments: u64,
    /// Of them, moments at which something stood on the mesh.
    stood: u64,
    /// Of them, moments that needed --escalate.
    escalated: u64,
    /// Moments after which something was left all the same.
    left_behind: u64,
    /// Moments after which the next all-gather failed or had wrong data.
    wrong: u64,
    /// The first of these, a sentence each.
    notes: &'a [String],
}

/// Kills launchers, or disturbs runs, and prints the outcome.
pub(in crate::verbs) fn clean(
    style: Style,
    options: &CleanStudyArguments,
) -> Result<Outcome, Failure> {
    let CleanStudyArguments { mesh, seed, seeds, sigkill, faults } = options;
    let count = count("seeds", seeds, MOST)?;
    if *faults {
        return faults::run(style, mesh, *seed, count);
    }
    let killed = if *sigkill {
        telling(processes::ROWS * count, |tell| processes::study(mesh, *seed, count, tell))?
    } else {
        let moments = transports().len() as u64 * count;
        telling(moments, |tell| clean::study(mesh, *seed, count, tell)).map_err(failed(mesh))?
    };
    if style.json {
        let rows = killed.iter().map(row).collect();
        json(Cleanings { mesh, seed: *seed, rows, faults: Vec::new() })?;
    } else {
        let head = ["LAUNCHER", "TRANSPORT", "MOMENTS", "STOOD", "ESCALATED", "LEFT", "WRONG NEXT"];
        let mut table = Columns::new(&head);
        for it in &killed {
            let names = [it.launcher, it.transport.name()].map(ToOwned::to_owned);
            let counts = [it.moments, it.stood, it.escalated, it.left, it.wrong];
            table.row(names.into_iter().chain(counts.map(|count| count.to_string())).collect());
        }
        style.print(table)?;
    }
    killed.iter().flat_map(|it| &it.sentences).for_each(|sentence| say(sentence));
    let bad = killed.iter().any(|it| it.left + it.wrong > 0);
    Ok(if bad { Outcome::Findings } else { Outcome::Healthy })
}

/// Runs a study; on a terminal its progress is shown.
fn telling<T>(moments: u64, study: impl FnOnce(&mut dyn FnMut(u64)) -> T) -> T {
    let mut next = Instant::now();
    let terminal = std::io::stderr().is_terminal();
    let found = study(&mut |done| {
        if terminal && Instant::now() >= next {
            next = Instant::now() + Duration::from_millis(200);
            let _ = write!(std::io::stderr(), "\r\x1b[K{done} of {moments} moments");
        }
    });
    if terminal {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    found
}

fn row(killed: &Killed) -> KilledRow<'_> {
    let Killed { launcher, moments, stood, escalated, left, wrong, sentences, .. } = killed;
    KilledRow {
        launcher,
        transport: killed.transport.name(),
        moments: *moments,
        stood: *stood,
        escalated: *escalated,
        left_behind: *left,
        wrong: *wrong,
        notes: sentences,
    }
}
