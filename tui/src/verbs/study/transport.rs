//! `study transport`: collectives over EDMs and over the fabric.

use super::lines::Lines;
use super::measured::failed;
use super::traffic::count;
use crate::exit::{Failure, Outcome};
use crate::output::json;
use crate::verbs::target::Style;
use crate::words;
use collectives::FabricOptions;
use machine::fabric::FabricTopology;
use schemars::JsonSchema;
use serde::Serialize;
use workloads::study::transport::{TransportRow, TransportStudy, study};

/// Limit: the channels of a mux.
const MOST_WORKERS: u64 = 8;
const HEAD: [&str; 8] =
    ["COLLECTIVE", "SIZE", "EDM", "FABRIC", "FABRIC/EDM", "ROUTERS", "MUXES", "WRONG"];
const WIDTHS: [usize; 8] = [14, 8, 10, 10, 10, 7, 5, 5];

/// Collectives over EDMs and over the fabric.
#[derive(Serialize, JsonSchema)]
pub(in crate::verbs) struct Transports<'a> {
    /// The mesh.
    mesh: &'a str,
    /// Workers of each link and direction.
    workers: u64,
    /// A row for each collective and size.
    rows: Vec<Compared>,
}

/// The times of a collective.
#[derive(Serialize, JsonSchema)]
struct Compared {
    /// The collective, such as all-gather.
    op: &'static str,
    /// Its size as in nccl-tests, in bytes.
    size: u64,
    /// Its time over EDMs, in microseconds.
    edm_us: f64,
    /// Its time over the fabric, in microseconds.
    fabric_us: f64,
    /// The time over the fabric by that over EDMs.
    factor: f64,
    /// What the fabric's routers are built for: line, ring, mesh or torus.
    fabric: &'static str,
    /// Muxes of the fabric.
    muxes: usize,
    /// Wrong elements of both runs.
    wrong: u64,
}

fn compared(row: &TransportRow) -> Compared {
    Compared {
        op: row.op.name(),
        size: row.size_bytes,
        edm_us: row.edm_cycles as f64 / 1e3,
        fabric_us: row.fabric_cycles as f64 / 1e3,
        factor: row.factor(),
        fabric: row.fabric,
        muxes: row.muxes,
        wrong: row.wrong,
    }
}

/// A line for each collective and size.
pub(in crate::verbs) fn transport(
    style: Style,
    mesh: &str,
    topology: Option<FabricTopology>,
    workers: &str,
    seed: u32,
) -> Result<Outcome, Failure> {
    let workers = count("workers", workers, MOST_WORKERS)?;
    let options = FabricOptions { topology, ..FabricOptions::default() };
    let study_options = TransportStudy { mesh, workers: workers as u32, fabric: options, seed };
    let mut lines = Lines::new(style, &HEAD, &WIDTHS);
    let mut tell = |row: &TransportRow| {
        let compared = compared(row);
        let cells = [
            compared.op.to_owned(),
            words::bytes(compared.size),
            format!("{:.2} us", compared.edm_us),
            format!("{:.2} us", compared.fabric_us),
            format!("{:.2}", compared.factor),
            compared.fabric.to_owned(),
            compared.muxes.to_string(),
            compared.wrong.to_string(),
        ];
        lines.say(&cells);
    };
    let rows = study(&study_options, &mut tell).map_err(failed(mesh))?;
    lines.end()?;
    if style.json {
        json(Transports { mesh, workers, rows: rows.iter().map(compared).collect() })?;
    }
    let right = rows.iter().all(|row| row.wrong == 0);
    Ok(if right { Outcome::Healthy } else { Outcome::Findings })
}
