//! `study bandwidth`: the bandwidth of one link, next to a computed bound and published figures.

use super::lines::Lines;
use super::measured::{failed, percent};
use crate::exit::{Failure, Outcome};
use crate::output::json;
use crate::verbs::target::Style;
use schemars::JsonSchema;
use serde::Serialize;
use workloads::study::bandwidth::{BOUND_BASIS, Bandwidth, Mover, study};
use workloads::study::published::TEST;

const HEAD: [&str; 11] = [
    "MOVER",
    "BYTES",
    "CHANNELS",
    "BUFFERS",
    "MEASURED GB/s",
    "COMPUTED BOUND GB/s",
    "OFF IT",
    "UTILISATION",
    "PUBLISHED GB/s",
    "DEVIATION",
    "PUBLISHED IN",
];
const WIDTHS: [usize; 11] = [6, 6, 8, 7, 13, 19, 8, 11, 14, 9, 12];

/// The bandwidth of one link, by packet size and channels.
#[derive(Serialize, JsonSchema)]
pub(in crate::verbs) struct Bandwidths<'a> {
    /// The mesh.
    mesh: &'a str,
    /// The seed, which determines the link.
    seed: u64,
    /// A row for each measurement.
    rows: Vec<BandwidthRow>,
}

/// A measurement of a link, both directions together.
#[derive(Serialize, JsonSchema)]
struct BandwidthRow {
    /// The sender of the bytes: stream (sends and completions only) or edm.
    mover: &'static str,
    /// Bytes of a packet.
    packet_bytes: u32,
    /// Channels of each direction.
    channels: u32,
    /// Buffers of each channel.
    buffers: u32,
    /// Messages of all channels.
    messages: u64,
    /// From the handshake until the last credit returned, in cycles of a nanosecond.
    cycles: u64,
    /// The measurement, in GB/s.
    measured_gbps: f64,
    /// The same as `bound_gbps`.
    published_gbps: f64,
    /// The measurement in percent of the link's 100 Gb/s in each direction.
    utilisation_percent: f64,
    /// Deviation of the measurement from the bound, in percent.
    deviation_percent: f64,
    /// The computation of the bound from published overheads.
    basis: &'static str,
    /// The bound, in GB/s.
    bound_gbps: f64,
    /// The vendor's measurement, in GB/s; null if none is published.
    vendor_gbps: Option<f64>,
    /// Its publication.
    vendor_source: Option<&'static str>,
    /// The published sentence.
    vendor_words: Option<&'static str>,
    /// Deviation of the measurement from the vendor's, in percent.
    vendor_deviation_percent: Option<f64>,
    /// Reason for a deviation above a tenth; null if it is smaller.
    reason: Option<String>,
    /// The two ends of the link.
    link: [String; 2],
}

fn mover(row: &Bandwidth) -> &'static str {
    match row.mover {
        Mover::Stream => "stream",
        Mover::Edm => "edm",
    }
}

fn measured(row: &Bandwidth) -> BandwidthRow {
    let published = row.published();
    BandwidthRow {
        mover: mover(row),
        packet_bytes: row.packet_bytes,
        channels: row.channels,
        buffers: row.buffers,
        messages: row.messages,
        cycles: row.cycles,
        measured_gbps: row.measured(),
        published_gbps: row.bound(),
        utilisation_percent: row.utilisation_percent(),
        deviation_percent: row.over_bound_percent(),
        basis: BOUND_BASIS,
        bound_gbps: row.bound(),
        vendor_gbps: published.map(|figure| figure.figure),
        vendor_source: published.map(|figure| figure.source),
        vendor_words: published.map(|figure| figure.words),
        vendor_deviation_percent: published.map(|figure| figure.deviation_percent(row.measured())),
        reason: row.reason(),
        link: [row.link.0.to_string(), row.link.1.to_string()],
    }
}

fn cells(row: &Bandwidth) -> [String; 11] {
    let published = row.published();
    [
        mover(row).to_owned(),
        row.packet_bytes.to_string(),
        row.channels.to_string(),
        row.buffers.to_string(),
        format!("{:.2}", row.measured()),
        format!("{:.2}", row.bound()),
        percent(Some(row.over_bound_percent())),
        format!("{:.1} %", row.utilisation_percent()),
        published.map_or_else(|| "-".to_owned(), |figure| format!("{:.2}", figure.figure)),
        percent(published.map(|figure| figure.deviation_percent(row.measured()))),
        published.map_or_else(
            || "nowhere".to_owned(),
            |figure| format!("{}: {}", figure.source_name(), figure.words),
        ),
    ]
}

fn explanations(rows: &[Bandwidth]) -> String {
    let link = rows.first().map(|row| format!("link: {} to {}\n", row.link.0, row.link.1));
    let explained = |row: &Bandwidth| {
        let (bytes, channels) = (row.packet_bytes, row.channels);
        let reason = row.reason()?;
        Some(format!("\n{}, {bytes} bytes, {channels} channels: {reason}.\n", mover(row)))
    };
    format!(
        "\n{}bound: {BOUND_BASIS}\ntest: {TEST}; its figures are those of one direction, twice\n{}",
        link.unwrap_or_default(),
        rows.iter().filter_map(explained).collect::<String>()
    )
}

/// Measures the bandwidth of one link in both directions, by packet size and channels.
pub(in crate::verbs) fn bandwidth(style: Style, mesh: &str, seed: u64) -> Result<Outcome, Failure> {
    let mut lines = Lines::new(style, &HEAD, &WIDTHS);
    let rows = study(mesh, seed, &mut |row| lines.say(&cells(row))).map_err(failed(mesh))?;
    lines.end()?;
    if style.json {
        json(Bandwidths { mesh, seed, rows: rows.iter().map(measured).collect() })?;
    } else {
        style.note(&explanations(&rows))?;
    }
    Ok(Outcome::Healthy)
}
