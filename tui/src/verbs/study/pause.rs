//! `study pause`: all-gathers that are paused at random moments, counted and resumed.

use super::lines::Lines;
use super::traffic::{MOST_SEEDS, count, scene};
use crate::args::{PauseArguments, PauseTransport};
use crate::exit::{Failure, Outcome};
use crate::output::json;
use crate::verbs::target::Style;
use crate::words;
use probe::pause::{PauseError, PauseRound, PauseStudy, study};
use schemars::JsonSchema;
use serde::Serialize;

const MOST_BYTES: u64 = 1 << 30;
const HEAD: [&str; 9] =
    ["SEED", "TRANSPORT", "AT", "TOOK", "PARKED", "WAIT", "COUNTS", "IN FLIGHT", "WRONG"];
const WIDTHS: [usize; 9] = [6, 9, 12, 12, 6, 4, 6, 9, 5];

/// All-gathers that were paused, counted and resumed.
#[derive(Serialize, JsonSchema)]
pub(in crate::verbs) struct Pauses<'a> {
    /// The mesh.
    mesh: &'a str,
    /// A row for each seed and transport.
    rows: Vec<Row>,
}

/// A run that was paused once.
#[derive(Serialize, JsonSchema)]
struct Row {
    /// The seed.
    seed: u64,
    /// edm or fabric.
    transport: &'static str,
    /// When it was paused, in cycles of a nanosecond since its data moved.
    at_cycles: u64,
    /// Time until everything was at rest, in cycles of a nanosecond.
    took_cycles: u64,
    /// Kernels that were parked.
    parked: usize,
    /// Kernels that waited for others.
    waited: usize,
    /// Channels and semaphores that were compared.
    counts: usize,
    /// Messages and packets in flight.
    in_flight: u64,
    /// What did not add up, one sentence each.
    miscounts: Vec<String>,
    /// Elements of the result that are wrong.
    wrong: u64,
}

fn row(transport: &'static str, round: &PauseRound) -> Row {
    Row {
        seed: round.seed,
        transport,
        at_cycles: round.at_cycles,
        took_cycles: round.took_cycles,
        parked: round.parked,
        waited: round.waited,
        counts: round.balance.counts(),
        in_flight: round.balance.in_flight,
        miscounts: round.balance.miscounts.clone(),
        wrong: round.wrong,
    }
}

/// A line for each seed and transport.
pub(in crate::verbs) fn pause(style: Style, options: &PauseArguments) -> Result<Outcome, Failure> {
    let transports: &[(&str, bool)] = match options.transport {
        PauseTransport::Edm => &[("edm", false)],
        PauseTransport::Fabric => &[("fabric", true)],
        PauseTransport::Both => &[("edm", false), ("fabric", true)],
    };
    let scene = scene(&options.mesh, None)?;
    let bytes = count("bytes", &options.bytes, MOST_BYTES)?;
    let seeds = count("seeds", &options.seeds, MOST_SEEDS)?;
    let mut lines = Lines::new(style, &HEAD, &WIDTHS);
    let mut rows = Vec::new();
    for &(transport, over_fabric) in transports {
        let setup =
            PauseStudy { scene: scene.clone(), over_fabric, bytes, seed: options.seed, seeds };
        let mut tell = |round: &PauseRound| {
            let cells = [
                round.seed.to_string(),
                transport.to_owned(),
                words::cycles(round.at_cycles),
                words::cycles(round.took_cycles),
                round.parked.to_string(),
                round.waited.to_string(),
                round.balance.counts().to_string(),
                round.balance.in_flight.to_string(),
                round.wrong.to_string(),
            ];
            lines.say(&cells);
        };
        let failed = |error| match error {
            PauseError::Setup(why) => Failure::Usage(format!("{}: {why}", options.mesh)),
            PauseError::Run(why) => Failure::Finding(format!("{}: {why}", options.mesh)),
        };
        let rounds = study(&setup, &mut tell).map_err(failed)?;
        rows.extend(rounds.iter().map(|round| row(transport, round)));
    }
    lines.end()?;
    let wrong = rows.iter().filter(|row| row.wrong > 0).count();
    let unequal = rows.iter().filter(|row| !row.miscounts.is_empty()).count();
    let right = wrong == 0 && unequal == 0;
    if style.json {
        json(Pauses { mesh: &options.mesh, rows })?;
    } else {
        for sentence in rows.iter().flat_map(|row| &row.miscounts) {
            style.note(&format!("{sentence}\n"))?;
        }
        style.note(&format!(
            "of {} runs {unequal} had credits that did not add up, and {wrong} wrong data\n",
            rows.len()
        ))?;
    }
    Ok(if right { Outcome::Healthy } else { Outcome::Findings })
}
