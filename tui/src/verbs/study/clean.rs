//! `study clean`: launchers killed at random moments, and what `clean` then does.

use super::measured::failed;
use crate::args::CleanStudyArguments;
use crate::exit::{Failure, Outcome};
use crate::locate;
use crate::output::{Columns, json, say, text};
use crate::verbs::target::Style;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};
use workloads::study::clean::{self, Killed};

/// Limit of the moments: more take days.
const MOST: u64 = 100_000;

/// What `clean` does after killed launchers.
#[derive(Serialize, JsonSchema)]
pub(in crate::verbs) struct Cleanings<'a> {
    /// The mesh.
    mesh: &'a str,
    /// The seed.
    seed: u64,
    /// A row for each transport.
    rows: Vec<KilledRow<'a>>,
}

/// Moments over one transport.
#[derive(Serialize, JsonSchema)]
struct KilledRow<'a> {
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

/// Kills launchers, cleans up, and prints the outcome.
pub(in crate::verbs) fn clean(
    style: Style,
    CleanStudyArguments { mesh, seed, seeds }: &CleanStudyArguments,
) -> Result<Outcome, Failure> {
    let count = locate::number(seeds).map_err(|why| Failure::Usage(format!("--seeds: {why}")))?;
    if count == 0 || count > MOST {
        return Err(Failure::Usage(format!("--seeds {count}: it can be from 1 to {MOST}")));
    }
    let mut next = Instant::now();
    let terminal = std::io::stderr().is_terminal();
    let mut tell = |done: u64| {
        if terminal && Instant::now() >= next {
            next = Instant::now() + Duration::from_millis(200);
            let _ = write!(std::io::stderr(), "\r\x1b[K{done} of {} moments", 2 * count);
        }
    };
    let found = clean::study(mesh, *seed, count, &mut tell);
    if terminal {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    let found = found.map_err(failed(mesh))?;
    if style.json {
        let rows = found.iter().map(row).collect();
        json(Cleanings { mesh, seed: *seed, rows })?;
    } else {
        let head = ["TRANSPORT", "MOMENTS", "STOOD", "ESCALATED", "LEFT", "WRONG NEXT"];
        let mut table = Columns::new(&head);
        for it in &found {
            let counts = [it.moments, it.stood, it.escalated, it.left, it.wrong];
            let name = it.transport.name().to_owned();
            let counts = counts.iter().map(ToString::to_string);
            table.row([name].into_iter().chain(counts).collect());
        }
        text(&table.text())?;
    }
    found.iter().flat_map(|it| &it.sentences).for_each(|sentence| say(sentence));
    let bad = found.iter().any(|it| it.left + it.wrong > 0);
    Ok(if bad { Outcome::Findings } else { Outcome::Healthy })
}

fn row(killed: &Killed) -> KilledRow<'_> {
    let Killed { moments, stood, escalated, left, wrong, sentences, .. } = killed;
    KilledRow {
        transport: killed.transport.name(),
        moments: *moments,
        stood: *stood,
        escalated: *escalated,
        left_behind: *left,
        wrong: *wrong,
        notes: sentences,
    }
}
