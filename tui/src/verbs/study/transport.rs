//! `study transport`: collectives over EDMs and over the fabric, beside each other.

use super::lines::Lines;
use super::measured::failed;
use super::traffic::count;
use crate::exit::{Failure, Outcome};
use crate::output::json;
use crate::verbs::target::Style;
use crate::words;
use collectives::FabricOptions;
use machine::fabric::FabricTopology;
use serde::Serialize;
use workloads::study::transport::{TransportRow, TransportStudy, study};

/// A mux has no more channels.
const MOST_WORKERS: u64 = 8;
const HEAD: [&str; 8] =
    ["COLLECTIVE", "SIZE", "EDM", "FABRIC", "FABRIC/EDM", "ROUTERS", "MUXES", "WRONG"];
const WIDTHS: [usize; 8] = [14, 8, 10, 10, 10, 7, 5, 5];

#[derive(Serialize)]
struct Table<'a> {
    mesh: &'a str,
    workers: u64,
    rows: Vec<Compared>,
}

#[derive(Serialize)]
struct Compared {
    op: &'static str,
    size: u64,
    edm_us: f64,
    fabric_us: f64,
    factor: f64,
    fabric: &'static str,
    muxes: usize,
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
    let asked = TransportStudy { mesh, workers: workers as u32, fabric: options, seed };
    let mut lines = Lines::new(style, &HEAD, &WIDTHS);
    let mut tell = |row: &TransportRow| {
        let one = compared(row);
        let cells = [
            one.op.to_owned(),
            words::bytes(one.size),
            format!("{:.2} us", one.edm_us),
            format!("{:.2} us", one.fabric_us),
            format!("{:.2}", one.factor),
            one.fabric.to_owned(),
            one.muxes.to_string(),
            one.wrong.to_string(),
        ];
        lines.say(&cells);
    };
    let rows = study(&asked, &mut tell).map_err(failed(mesh))?;
    lines.end()?;
    if style.json {
        json(&Table { mesh, workers, rows: rows.iter().map(compared).collect() })?;
    }
    let right = rows.iter().all(|row| row.wrong == 0);
    Ok(if right { Outcome::Healthy } else { Outcome::Findings })
}
