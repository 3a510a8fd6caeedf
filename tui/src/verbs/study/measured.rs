//! `study latency`, `study bandwidth` and `study relaunch`: what links and collectives do, over and over.

use crate::exit::{Failure, Outcome};
use crate::locate;
use crate::output::{Columns, json, say, text};
use crate::verbs::Style;
use crate::words;
use probe::session::OpenError;
use probe::study::bandwidth::{self, Mover};
use probe::study::latency::{self, Way};
use probe::study::relaunch::{self, Relaunch};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// The mesh of the guide's measurements.
const LATENCY_MESH: &str = "t3000";
/// More launches than this take days.
const MOST: u64 = 10_000_000;

#[derive(Serialize)]
struct Table<'a, R> {
    mesh: &'a str,
    seed: u64,
    rows: Vec<R>,
}

#[derive(Serialize)]
struct LatencyRow {
    what: &'static str,
    hops: usize,
    packet_bytes: u32,
    count: u32,
    measured_ns: f64,
    per_hop_ns: f64,
    published_ns: Option<f64>,
    deviation_percent: Option<f64>,
}

#[derive(Serialize)]
struct BandwidthRow {
    mover: &'static str,
    packet_bytes: u32,
    channels: u32,
    buffers: u32,
    messages: u64,
    cycles: u64,
    measured_gbps: f64,
    published_gbps: f64,
    utilisation_percent: f64,
    deviation_percent: f64,
}

#[derive(Serialize)]
struct RelaunchRow<'a> {
    runs: u64,
    bytes: u64,
    wrong: u64,
    left: u64,
    told: &'a [String],
    cycles: u64,
    transactions: u64,
}

pub(super) fn failed(mesh: &str) -> impl Fn(probe::scene::SceneError) -> Failure {
    move |error| Failure::of_open(&format!("emulator:{mesh}"), &OpenError::Scene(error))
}

/// A table whose lines come as they are measured, so that nobody waits for the last.
pub(super) fn line(style: Style, cells: &[String], widths: &[usize]) -> Result<(), Failure> {
    if style.json {
        return Ok(());
    }
    let cells = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
    text(&(cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"))
}

fn percent(deviation: Option<f64>) -> String {
    deviation.map_or_else(|| "-".to_owned(), |percent| format!("{percent:+.1} %"))
}

/// Latency of rings and links beside the published figures.
pub(in crate::verbs) fn latency(style: Style, seed: u64) -> Result<Outcome, Failure> {
    const WIDTHS: [usize; 8] = [19, 4, 6, 6, 11, 11, 11, 9];
    let head =
        ["WHAT", "HOPS", "BYTES", "COUNT", "MEASURED ns", "A HOP ns", "PUBLISHED", "DEVIATION"];
    line(style, &head.map(str::to_owned), &WIDTHS)?;
    let mut closed = Ok(());
    let mut tell = |row: &latency::Row| {
        let row = latency_row(row);
        let cells = [
            row.what.to_owned(),
            row.hops.to_string(),
            row.packet_bytes.to_string(),
            row.count.to_string(),
            format!("{:.0}", row.measured_ns),
            format!("{:.0}", row.per_hop_ns),
            row.published_ns.map_or_else(|| "-".to_owned(), |ns| format!("{ns:.0}")),
            percent(row.deviation_percent),
        ];
        if closed.is_ok() {
            closed = line(style, &cells, &WIDTHS);
        }
    };
    let rows = latency::study(seed, &mut tell).map_err(failed(LATENCY_MESH))?;
    closed?;
    if style.json {
        let rows = rows.iter().map(latency_row).collect();
        json(&Table { mesh: LATENCY_MESH, seed, rows })?;
    }
    Ok(Outcome::Healthy)
}

fn latency_row(row: &latency::Row) -> LatencyRow {
    let (what, hops) = match row.way {
        Way::Ring { hops, merged: true } => ("ring, merged", hops),
        Way::Ring { hops, merged: false } => ("ring, separate", hops),
        Way::RoundTrip => ("round trip, merged", 2),
    };
    LatencyRow {
        what,
        hops,
        packet_bytes: row.packet_bytes,
        count: row.count,
        measured_ns: row.measured_ns(),
        per_hop_ns: row.per_hop_ns(),
        published_ns: row.published_ns,
        deviation_percent: row.deviation_percent(),
    }
}

/// Bandwidth of one link in both directions, by packet size and channels.
pub(in crate::verbs) fn bandwidth(style: Style, mesh: &str, seed: u64) -> Result<Outcome, Failure> {
    const WIDTHS: [usize; 8] = [6, 6, 8, 7, 13, 14, 11, 9];
    let head = [
        "MOVER",
        "BYTES",
        "CHANNELS",
        "BUFFERS",
        "MEASURED GB/s",
        "PUBLISHED GB/s",
        "UTILISATION",
        "DEVIATION",
    ];
    line(style, &head.map(str::to_owned), &WIDTHS)?;
    let mut closed = Ok(());
    let mut tell = |row: &bandwidth::Row| {
        let row = bandwidth_row(row);
        let cells = [
            row.mover.to_owned(),
            row.packet_bytes.to_string(),
            row.channels.to_string(),
            row.buffers.to_string(),
            format!("{:.2}", row.measured_gbps),
            format!("{:.2}", row.published_gbps),
            format!("{:.1} %", row.utilisation_percent),
            percent(Some(row.deviation_percent)),
        ];
        if closed.is_ok() {
            closed = line(style, &cells, &WIDTHS);
        }
    };
    let rows = bandwidth::study(mesh, seed, &mut tell).map_err(failed(mesh))?;
    closed?;
    if style.json {
        json(&Table { mesh, seed, rows: rows.iter().map(bandwidth_row).collect() })?;
    }
    Ok(Outcome::Healthy)
}

fn bandwidth_row(row: &bandwidth::Row) -> BandwidthRow {
    BandwidthRow {
        mover: match row.mover {
            Mover::Stream => "stream",
            Mover::Edm => "edm",
        },
        packet_bytes: row.packet_bytes,
        channels: row.channels,
        buffers: row.buffers,
        messages: row.messages,
        cycles: row.cycles,
        measured_gbps: row.measured(),
        published_gbps: row.published(),
        utilisation_percent: row.utilisation_percent(),
        deviation_percent: row.deviation_percent(),
    }
}

/// Small all-gathers again and again, and what they leave behind.
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
    let Relaunch { runs, bytes, wrong, left, told, cycles, transactions } =
        found.map_err(failed(mesh))?;
    if style.json {
        let told = &told[..];
        let row = RelaunchRow { runs, bytes, wrong, left, told, cycles, transactions };
        json(&Table { mesh, seed, rows: vec![row] })?;
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
        text(&table.text())?;
    }
    for sentence in &told {
        say(sentence);
    }
    Ok(if wrong + left > 0 { Outcome::Findings } else { Outcome::Healthy })
}
