//! `study latency`: latency of rings and a link next to published figures with their sources, and
//! the reasons for deviations.

use super::lines::Lines;
use super::measured::{failed, percent};
use crate::exit::{Failure, Outcome};
use crate::output::json;
use crate::verbs::target::Style;
use schemars::JsonSchema;
use serde::Serialize;
use workloads::study::latency::{Distance, Latency, study};
use workloads::study::published::{GUIDE, Published, TEST};

/// The mesh of the guide's measurements.
const MESH: &str = "t3000";
const HEAD: [&str; 9] = [
    "WHAT",
    "HOPS",
    "BYTES",
    "COUNT",
    "MEASURED ns",
    "A HOP ns",
    "PUBLISHED",
    "DEVIATION",
    "PUBLISHED IN",
];
const WIDTHS: [usize; 9] = [19, 4, 6, 6, 11, 11, 11, 9, 12];

/// Latency of rings and links, next to the published figures.
#[derive(Serialize, JsonSchema)]
pub(in crate::verbs) struct Latencies<'a> {
    /// The mesh.
    mesh: &'a str,
    /// The seed, which determines the rings and links.
    seed: u64,
    /// A row for each measurement.
    rows: Vec<LatencyRow<'a>>,
}

/// The latency of a ring or a link.
#[derive(Serialize, JsonSchema)]
struct LatencyRow<'a> {
    /// ring, merged; ring, separate; or round trip, merged: payload and sync word in one packet or
    /// in two.
    what: &'static str,
    /// Links that a packet goes over.
    hops: usize,
    /// Bytes of a packet.
    packet_bytes: u32,
    /// Number of measured packets.
    count: u32,
    /// The mean of their times, in nanoseconds.
    measured_ns: f64,
    /// The same for one hop.
    per_hop_ns: f64,
    /// The first of the figures `published`; null if nothing is published.
    published_ns: Option<f64>,
    /// Deviation of the measurement from it, in percent.
    deviation_percent: Option<f64>,
    /// Its publication.
    published_source: Option<&'static str>,
    /// Reason for a deviation above a tenth; null if it is smaller.
    reason: Option<&'a str>,
    /// All published figures.
    published: Vec<Figure<'a>>,
    /// The chips on the path.
    chips: Vec<u16>,
    /// The parts of a hop's time.
    parts: Parts,
}

/// A published figure.
#[derive(Serialize, JsonSchema)]
struct Figure<'a> {
    /// The figure in nanoseconds.
    ns: f64,
    /// Its publication.
    source: &'static str,
    /// The published sentence.
    words: &'static str,
    /// Deviation of the measurement from it, in percent.
    deviation_percent: f64,
    /// Reason for a deviation above a tenth; null if it is smaller.
    reason: Option<&'a str>,
}

/// The parts of a hop, computed from the emulator's model except `kernels_ns`.
#[derive(Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the names are promised to scripts")]
struct Parts {
    /// The latency of the link, in nanoseconds.
    link_ns: f64,
    /// The time of the bytes on the link, in nanoseconds.
    wire_ns: f64,
    /// The time to copy the payload, in nanoseconds.
    copy_ns: f64,
    /// The rest, the kernels' time, in nanoseconds.
    kernels_ns: f64,
}

fn what(row: &Latency) -> &'static str {
    match row.distance {
        Distance::Ring { merged: true, .. } => "ring, merged",
        Distance::Ring { merged: false, .. } => "ring, separate",
        Distance::RoundTrip => "round trip, merged",
    }
}

/// The published figures of a row, each with the reason for the row's deviation.
fn figures(row: &Latency) -> impl Iterator<Item = (&Published, Option<&str>)> {
    let reasons = row.reasons.iter().map(Option::as_deref);
    row.published.iter().zip(reasons.chain(std::iter::repeat(None)))
}

fn latency_row(row: &Latency) -> LatencyRow<'_> {
    let ns = row.measured_ns();
    let published: Vec<_> = figures(row)
        .map(|(figure, reason)| Figure {
            ns: figure.figure,
            source: figure.source,
            words: figure.words,
            deviation_percent: figure.deviation_percent(ns),
            reason,
        })
        .collect();
    let parts = row.parts();
    LatencyRow {
        what: what(row),
        hops: row.hops(),
        packet_bytes: row.packet_bytes,
        count: row.count,
        measured_ns: ns,
        per_hop_ns: row.per_hop_ns(),
        published_ns: published.first().map(|figure| figure.ns),
        deviation_percent: published.first().map(|figure| figure.deviation_percent),
        published_source: published.first().map(|figure| figure.source),
        reason: published.first().and_then(|figure| figure.reason),
        published,
        chips: row.chips.iter().map(|chip| chip.0).collect(),
        parts: Parts {
            link_ns: parts.link_ns,
            wire_ns: parts.wire_ns,
            copy_ns: parts.copy_ns,
            kernels_ns: parts.kernels_ns,
        },
    }
}

/// A line for each published figure, at least one.
fn say(lines: &mut Lines<'_>, row: &Latency) {
    let ns = row.measured_ns();
    let mut cells = [
        what(row).to_owned(),
        row.hops().to_string(),
        row.packet_bytes.to_string(),
        row.count.to_string(),
        format!("{ns:.0}"),
        format!("{:.0}", row.per_hop_ns()),
        "-".to_owned(),
        percent(None),
        "nowhere".to_owned(),
    ];
    if row.published.is_empty() {
        lines.say(&cells);
    }
    for figure in &row.published {
        cells[6] = format!("{:.0}", figure.figure);
        cells[7] = percent(Some(figure.deviation_percent(ns)));
        cells[8] = format!("{}: {}", figure.source_name(), figure.words);
        lines.say(&cells);
        for cell in &mut cells[..6] {
            cell.clear();
        }
    }
}

fn explanations(rows: &[Latency]) -> String {
    let explained = |row: &Latency| {
        let lines = figures(row).filter_map(|(figure, reason)| {
            let off = percent(Some(figure.deviation_percent(row.measured_ns())));
            let (what, hops, bytes) = (what(row), row.hops(), row.packet_bytes);
            let source = figure.source_name();
            let reason = reason?;
            Some(format!(
                "\n{what}, {hops} hops, {bytes} bytes, {off} of the {source}'s: {reason}.\n"
            ))
        });
        lines.collect::<String>()
    };
    format!("\nguide: {GUIDE}\ntest: {TEST}\n{}", rows.iter().map(explained).collect::<String>())
}

/// Measures the latency of rings and links next to the published figures.
pub(in crate::verbs) fn latency(style: Style, seed: u64) -> Result<Outcome, Failure> {
    let mut lines = Lines::new(style, &HEAD, &WIDTHS);
    let rows = study(seed, &mut |row| say(&mut lines, row)).map_err(failed(MESH))?;
    lines.end()?;
    if style.json {
        json(Latencies { mesh: MESH, seed, rows: rows.iter().map(latency_row).collect() })?;
    } else {
        style.note(&explanations(&rows))?;
    }
    Ok(Outcome::Healthy)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use layouts::ChipId;
    use serde_json::json;

    fn row(published: Vec<Published>, reasons: Vec<Option<String>>) -> Latency {
        let (route, chips) = (Distance::RoundTrip, vec![ChipId(0), ChipId(1)]);
        Latency {
            distance: route,
            chips,
            packet_bytes: 16,
            count: 23,
            cycles: 1100.0,
            published,
            reasons,
        }
    }

    #[test]
    fn a_figure_has_its_source_and_a_far_one_its_reason() {
        let figure = |figure, source| Published { figure, source, words: "roughly" };
        let both = vec![figure(1000.0, GUIDE), figure(500.0, TEST)];
        let row = row(both, vec![None, Some("the link is long".into())]);
        let answer = serde_json::to_value(latency_row(&row)).unwrap();
        assert_eq!((&answer["published_ns"], &answer["reason"]), (&json!(1000.0), &json!(null)));
        assert_eq!(answer["published_source"], GUIDE);
        assert_eq!(answer["published"][1]["source"], TEST);
        assert_eq!(answer["published"][1]["reason"], "the link is long");
        assert_eq!(answer["parts"]["link_ns"], 500.0);
        let text = explanations(&[row]);
        assert!(
            text.contains("2 hops, 16 bytes, +120.0 % of the test's: the link is long.\n"),
            "{text}"
        );
    }

    #[test]
    fn where_nothing_is_published_the_row_says_so() {
        let answer = serde_json::to_value(latency_row(&row(Vec::new(), Vec::new()))).unwrap();
        for key in ["published_ns", "deviation_percent", "published_source", "reason"] {
            assert_eq!(answer[key], json!(null), "{key}");
        }
        assert_eq!(answer["published"], json!([]));
    }
}
