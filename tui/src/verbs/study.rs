//! `study`: measurements on emulated meshes, each with a seed.

mod bandwidth;
mod clean;
mod latency;
mod lines;
mod measured;
mod mux;
mod pause;
mod race;
mod reroute;
mod time_out;
mod traffic;
mod transport;
mod ttl;
mod why;
pub(super) use bandwidth::{Bandwidths, bandwidth};
pub(super) use clean::{Cleanings, clean};
pub(super) use latency::{Latencies, latency};
pub(super) use measured::{Relaunches, relaunch};
pub(super) use mux::{Muxes, mux, opened};
pub(super) use pause::{Pauses, pause};
pub(super) use race::{Races, race};
pub(super) use reroute::{RerouteWords, Reroutes, reroute};
pub(super) use time_out::{TimeOuts, time_out};
pub(super) use traffic::{Traffic, TrafficWords, traffic};
pub(super) use transport::{Transports, transport};
pub(super) use ttl::{Loops, ttl};
pub(super) use why::{Verdicts, why};

use super::target::Style;
use crate::exit::{Failure, Outcome};
use crate::locate;
use crate::output::{Columns, json};
use crate::words;
use machine::target::AccessRoute;
use probe::session::OpenError;
use schemars::JsonSchema;
use serde::Serialize;
use workloads::study::watching::{self, Cost, Watched};

/// Snapshots per second of the mesh: two hundred up to as many as possible.
const PERIODS_CYCLES: [u64; 5] = [5_000_000, 1_000_000, 100_000, 10_000, 0];
/// Limit of the run's length: longer runs take hours.
const MOST_CYCLES: u64 = 10_000_000_000;

/// The cost of reading a running ring ping.
#[derive(Serialize, JsonSchema)]
pub(super) struct Watching<'a> {
    /// The mesh.
    mesh: &'a str,
    /// The seed.
    seed: u64,
    /// A row for each route and period.
    rows: Vec<Row>,
}

/// A run that was read.
#[derive(Serialize, JsonSchema)]
struct Row {
    /// The route of the snapshots: none (no snapshots), window (a TLB window of the PCIe device) or
    /// queue (routing queues).
    route: &'static str,
    /// Time between snapshots, in cycles of a nanosecond; 0: without a pause.
    period_cycles: u64,
    /// Snapshots that were taken.
    snapshots: u64,
    /// Length of the run, in cycles of a nanosecond.
    cycles: u64,
    /// Laps of the ring.
    laps: u64,
    /// Laps of the same run without snapshots.
    laps_unwatched: u64,
    /// Cycles that snapshots add to a thousand of the workload's.
    cost_per_thousand: f64,
}

fn row(cost: &Cost) -> Row {
    Row {
        route: match cost.sight {
            Watched::Nothing => "none",
            Watched::Near => words::route(AccessRoute::Window),
            Watched::Far => words::route(AccessRoute::Queue),
        },
        period_cycles: cost.period_cycles,
        snapshots: cost.snapshots,
        cycles: cost.cycles,
        laps: cost.laps,
        laps_unwatched: cost.laps_unwatched,
        cost_per_thousand: cost.per_thousand(),
    }
}

/// Measures the cost of snapshots.
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
    // A period longer than the run is one snapshot at its start.
    let costs = watching::study(mesh, seed, cycles, &PERIODS_CYCLES)
        .map_err(|error| Failure::of_open(&format!("emulator:{mesh}"), &OpenError::Scene(error)))?;
    let rows: Vec<Row> = costs.iter().map(row).collect();
    if style.json {
        json(Watching { mesh, seed, rows })?;
        return Ok(Outcome::Healthy);
    }
    let head = ["ROUTE", "PERIOD", "SNAPSHOTS", "LAPS", "UNWATCHED", "COST OF 1000 CYCLES"];
    let mut table = Columns::new(&head);
    for row in rows {
        let period = match row.period_cycles {
            0 => "no pause".to_owned(),
            period => words::cycles(period),
        };
        table.row(vec![
            row.route.to_owned(),
            period,
            row.snapshots.to_string(),
            row.laps.to_string(),
            row.laps_unwatched.to_string(),
            format!("{:+.2}", row.cost_per_thousand),
        ]);
    }
    style.print(table)?;
    Ok(Outcome::Healthy)
}
