//! `study relaunch`: repeated collectives and what they leave behind; and helpers of all studies.

use crate::exit::{Failure, Outcome};
use crate::locate;
use crate::output::{Columns, csv_row, json, say, text};
use crate::verbs::target::Style;
use crate::words;
use probe::session::OpenError;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};
use workloads::study::relaunch::{self, Relaunch};

/// Limit of the launches: more take days.
const MOST: u64 = 10_000_000;

/// What collectives leave behind.
#[derive(Serialize, JsonSchema)]
pub(in crate::verbs) struct Relaunches<'a> {
    /// The mesh.
    mesh: &'a str,
    /// The seed.
    seed: u64,
    /// One row.
    rows: Vec<RelaunchRow<'a>>,
}

/// Many launches of small collectives.
#[derive(Serialize, JsonSchema)]
struct RelaunchRow<'a> {
    /// Launches.
    runs: u64,
    /// Bytes that the collectives gathered, over all launches.
    bytes: u64,
    /// Wrong elements.
    wrong: u64,
    /// Credits, packets and semaphores that were left behind.
    left_behind: u64,
    /// The first of these, a sentence each.
    notes: &'a [String],
    /// Emulated time of all launches, in cycles of a nanosecond.
    cycles: u64,
    /// Bus transactions of the host.
    transactions: u64,
}

pub(super) fn failed(mesh: &str) -> impl Fn(workloads::scene::SceneError) -> Failure {
    move |error| Failure::of_open(&format!("emulator:{mesh}"), &OpenError::Scene(error))
}

/// A table whose lines are printed as they are measured.
pub(super) fn line(style: Style, cells: &[String], widths: &[usize]) -> Result<(), Failure> {
    if style.json {
        return Ok(());
    }
    if style.csv {
        return text(&csv_row(cells));
    }
    let cells = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
    text(&(cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"))
}

pub(super) fn percent(deviation: Option<f64>) -> String {
    deviation.map_or_else(|| "-".to_owned(), |percent| format!("{percent:+.1} %"))
}

/// Runs small all-gathers repeatedly, and prints what they leave behind.
pub(in crate::verbs) fn relaunch(
    style: Style,
    mesh: &str,
    seed: u64,
    count: &str,
) -> Result<Outcome, Failure> {
    let count = locate::number(count).map_err(|why| Failure::Usage(format!("--count: {why}")))?;
    if count == 0 || count > MOST {
        return Err(Failure::Usage(format!("--count {count}: it can be from 1 to {MOST}")));
    }
    let mut next = Instant::now();
    let terminal = std::io::stderr().is_terminal();
    let mut tell = |done: u64| {
        if terminal && Instant::now() >= next {
            next = Instant::now() + Duration::from_millis(200);
            let _ = write!(std::io::stderr(), "\r\x1b[K{done} of {count} launches");
        }
    };
    let found = relaunch::study(mesh, seed, count, &mut tell);
    if terminal {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    let Relaunch { runs, bytes, wrong, left, sentences, cycles, transactions } =
        found.map_err(failed(mesh))?;
    if style.json {
        let (left_behind, notes) = (left, &sentences[..]);
        let row = RelaunchRow { runs, bytes, wrong, left_behind, notes, cycles, transactions };
        json(Relaunches { mesh, seed, rows: vec![row] })?;
    } else {
        let mut table =
            Columns::new(&["LAUNCHES", "BYTES", "WRONG", "LEFT BEHIND", "EMULATED TIME", "TX"]);
        table.row(vec![
            runs.to_string(),
            words::bytes(bytes),
            wrong.to_string(),
            left.to_string(),
            words::cycles(cycles),
            transactions.to_string(),
        ]);
        style.print(table)?;
    }
    for sentence in &sentences {
        say(sentence);
    }
    Ok(if wrong + left > 0 { Outcome::Findings } else { Outcome::Healthy })
}
