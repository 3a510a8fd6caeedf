//! `study`: measurements on emulated meshes, each with a seed.

mod bandwidth;
mod latency;
mod lines;
mod measured;
mod mux;
mod race;
mod reroute;
mod time_out;
mod traffic;
mod transport;
mod ttl;
pub(super) use bandwidth::bandwidth;
pub(super) use latency::latency;
pub(super) use measured::relaunch;
pub(super) use mux::{MuxWords, mux};
pub(super) use race::race;
pub(super) use reroute::{RerouteWords, reroute};
pub(super) use time_out::time_out;
pub(super) use traffic::{TrafficWords, traffic};
pub(super) use transport::transport;
pub(super) use ttl::ttl;

use super::target::Style;
use crate::exit::{Failure, Outcome};
use crate::locate;
use crate::output::{Columns, json, text};
use crate::words;
use probe::session::OpenError;
use serde::Serialize;
use workloads::study::watching::{self, Cost, Sight};

/// From two hundred looks in a second of the mesh to as many as there can be.
const PERIODS_CYCLES: [u64; 5] = [5_000_000, 1_000_000, 100_000, 10_000, 0];
/// Longer runs take hours.
const MOST_CYCLES: u64 = 10_000_000_000;

#[derive(Serialize)]
struct Table<'a> {
    mesh: &'a str,
    seed: u64,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    sight: &'static str,
    period_cycles: u64,
    snapshots: u64,
    cycles: u64,
    laps: u64,
    laps_unwatched: u64,
    cost_per_thousand: f64,
}

fn row(cost: &Cost) -> Row {
    Row {
        sight: match cost.sight {
            Sight::Nothing => "nothing",
            Sight::Near => "near",
            Sight::Far => "far",
        },
        period_cycles: cost.period_cycles,
        snapshots: cost.snapshots,
        cycles: cost.cycles,
        laps: cost.laps,
        laps_unwatched: cost.laps_unwatched,
        cost_per_thousand: cost.per_thousand(),
    }
}

/// What being watched costs.
pub(super) fn watching(
    style: Style,
    mesh: &str,
    seed: u64,
    cycles: &str,
) -> Result<Outcome, Failure> {
    let cycles = locate::number(cycles).map_err(|why| Failure::Usage(format!("cycles: {why}")))?;
    if cycles == 0 || cycles > MOST_CYCLES {
        return Err(Failure::Usage(format!("cycles: {cycles} is not from 1 to {MOST_CYCLES}")));
    }
    // A period longer than the run is one look at its start.
    let costs = watching::study(mesh, seed, cycles, &PERIODS_CYCLES)
        .map_err(|error| Failure::of_open(&format!("emulator:{mesh}"), &OpenError::Scene(error)))?;
    let rows: Vec<Row> = costs.iter().map(row).collect();
    if style.json {
        json(&Table { mesh, seed, rows })?;
        return Ok(Outcome::Healthy);
    }
    let head = ["SIGHT", "ONE LOOK IN", "LOOKS", "LAPS", "UNWATCHED", "COST OF 1000 CYCLES"];
    let mut table = Columns::new(&head);
    for row in rows {
        let period = match row.period_cycles {
            0 => "no pause".to_owned(),
            period => words::cycles(period),
        };
        table.row(vec![
            row.sight.to_owned(),
            period,
            row.snapshots.to_string(),
            row.laps.to_string(),
            row.laps_unwatched.to_string(),
            format!("{:+.2}", row.cost_per_thousand),
        ]);
    }
    text(&table.text())?;
    Ok(Outcome::Healthy)
}
