//! The study `latency`: a row for each published figure, or for a measurement without one.

use super::{Distance, Latency, Parts, RING_MESH, study};
use crate::published::{GUIDE, Published, TEST};
use crate::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column, percent};
use serde_json::{Value, json};

/// The latency of rings and a link next to published figures, and the reasons for deviations.
pub const STUDY: Study = Study {
    name: "latency",
    about: "Print how long rings and a link take on an emulated T3000, next to the published figures and their sources",
    options: &[Choice::new("seed", "N", "0", "Which of the mesh's rings and links are measured")],
    tables: &[ROWS],
    run,
};

const ROWS: Table = Table {
    name: "rows",
    columns: &[
        column("WHAT", "what", Unit::Text(19)),
        column("HOPS", "hops", Unit::Count),
        column("BYTES", "packet_bytes", Unit::Count),
        column("COUNT", "count", Unit::Count),
        column("MEASURED ns", "measured_ns", Unit::Fixed(0)),
        column("A HOP ns", "per_hop_ns", Unit::Fixed(0)),
        column("PUBLISHED", "published_ns", Unit::Fixed(0)),
        column("DEVIATION", "deviation_percent", Unit::Percent),
        column("PUBLISHED IN", "published_in", Unit::Text(12)),
    ],
};

fn what(row: &Latency) -> &'static str {
    match row.distance {
        Distance::Ring { merged: true, .. } => "ring, merged",
        Distance::Ring { merged: false, .. } => "ring, separate",
        Distance::RoundTrip => "round trip, merged",
    }
}

/// The published figures of a measurement, each with the reason for its deviation.
fn figures(row: &Latency) -> impl Iterator<Item = (&Published, Option<&str>)> {
    let reasons = row.reasons.iter().map(Option::as_deref);
    row.published.iter().zip(reasons.chain(std::iter::repeat(None)))
}

/// A row of a measurement and one of its published figures.
fn row(row: &Latency, figure: Option<(&Published, Option<&str>)>) -> Value {
    let (ns, chips) = (row.measured_ns(), row.chips.iter().map(|chip| chip.0));
    let (published, reason) = (figure.map(|it| it.0), figure.and_then(|it| it.1));
    let Parts { link_ns, wire_ns, copy_ns, kernels_ns } = row.parts();
    json!({
        "what": what(row),
        "hops": row.hops(),
        "packet_bytes": row.packet_bytes,
        "count": row.count,
        "measured_ns": ns,
        "per_hop_ns": row.per_hop_ns(),
        "published_ns": published.map(|it| it.figure),
        "deviation_percent": published.map(|it| it.deviation_percent(ns)),
        "published_source": published.map(|it| it.source),
        "published_in": published.map_or_else(|| "nowhere".to_owned(), ToString::to_string),
        "reason": reason,
        "chips": chips.collect::<Vec<_>>(),
        "parts": {
            "link_ns": link_ns,
            "wire_ns": wire_ns,
            "copy_ns": copy_ns,
            "kernels_ns": kernels_ns,
        },
    })
}

fn rows(measured: &Latency) -> Vec<Value> {
    let rows: Vec<Value> = figures(measured).map(|figure| row(measured, Some(figure))).collect();
    if rows.is_empty() { vec![row(measured, None)] } else { rows }
}

/// The reasons for large deviations, a sentence each.
fn explanations(row: &Latency) -> impl Iterator<Item = String> {
    figures(row).filter_map(|(figure, reason)| {
        let off = percent(figure.deviation_percent(row.measured_ns()));
        let (what, hops, bytes) = (what(row), row.hops(), row.packet_bytes);
        let (source, reason) = (figure.source_name(), reason?);
        Some(format!("\n{what}, {hops} hops, {bytes} bytes, {off} of the {source}'s: {reason}."))
    })
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let seed = options.seed()?;
    report.fact("mesh", RING_MESH);
    report.fact("seed", seed);
    let mut tell = |it: &Latency| {
        for row in rows(it) {
            report.row(&ROWS, row);
        }
    };
    let measured = study(seed, &mut tell).map_err(StudyError::on(RING_MESH))?;
    report.note(format!("\nguide: {GUIDE}\ntest: {TEST}"));
    measured.iter().flat_map(explanations).for_each(|text| report.note(text));
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use layouts::ChipId;

    fn measured(published: Vec<Published>, reasons: Vec<Option<String>>) -> Latency {
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
        let measured = measured(both, vec![None, Some("the link is long".into())]);
        let rows = rows(&measured);
        assert_eq!((&rows[0]["published_ns"], &rows[0]["reason"]), (&json!(1000.0), &json!(null)));
        assert_eq!(rows[0]["published_source"], GUIDE);
        assert_eq!(rows[1]["published_source"], TEST);
        assert_eq!(rows[1]["published_in"], "test: roughly");
        assert_eq!(rows[1]["reason"], "the link is long");
        assert_eq!(rows[1]["parts"]["link_ns"], 500.0);
        let text: String = explanations(&measured).collect();
        assert!(
            text.contains("2 hops, 16 bytes, +120.0 % of the test's: the link is long."),
            "{text}"
        );
    }

    #[test]
    fn where_nothing_is_published_the_row_says_so() {
        let rows = rows(&measured(Vec::new(), Vec::new()));
        assert_eq!(rows.len(), 1);
        for key in ["published_ns", "deviation_percent", "published_source", "reason"] {
            assert_eq!(rows[0][key], json!(null), "{key}");
        }
        assert_eq!(rows[0]["published_in"], "nowhere");
    }
}
