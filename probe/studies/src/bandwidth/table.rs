//! The study `bandwidth`: a row for each size and number of channels.

use super::{BOUND_BASIS, Bandwidth, Mover, study};
use crate::published::TEST;
use crate::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column};
use serde_json::{Value, json};

/// The bandwidth of one link, next to a computed bound and published figures.
pub const STUDY: Study = Study {
    name: "bandwidth",
    about: "Print what one link carries in both directions, by packet size and channels, next to a computed bound and published figures",
    options: &[
        Choice::new("mesh", "MESH", "n300", "The mesh"),
        Choice::new("seed", "N", "0", "Which of the mesh's free links is measured"),
    ],
    tables: &[SIZES],
    run,
};

const SIZES: Table = Table {
    name: "rows",
    columns: &[
        column("MOVER", "mover", Unit::Text(6)),
        column("BYTES", "packet_bytes", Unit::Count),
        column("CHANNELS", "channels", Unit::Count),
        column("BUFFERS", "buffers", Unit::Count),
        column("MEASURED GB/s", "measured_gbps", Unit::Fixed(2)),
        column("COMPUTED BOUND GB/s", "bound_gbps", Unit::Fixed(2)),
        column("OFF IT", "deviation_percent", Unit::Percent),
        column("UTILISATION %", "utilisation_percent", Unit::Fixed(1)),
        column("PUBLISHED GB/s", "vendor_gbps", Unit::Fixed(2)),
        column("DEVIATION", "vendor_deviation_percent", Unit::Percent),
        column("PUBLISHED IN", "published_in", Unit::Text(12)),
    ],
};

fn mover(row: &Bandwidth) -> &'static str {
    match row.mover {
        Mover::Stream => "stream",
        Mover::Edm => "edm",
    }
}

fn row(row: &Bandwidth) -> Value {
    let published = row.published();
    json!({
        "mover": mover(row),
        "packet_bytes": row.packet_bytes,
        "channels": row.channels,
        "buffers": row.buffers,
        "messages": row.messages,
        "cycles": row.cycles,
        "measured_gbps": row.measured(),
        "utilisation_percent": row.utilisation_percent(),
        "bound_gbps": row.bound(),
        "deviation_percent": row.over_bound_percent(),
        "vendor_gbps": published.map(|figure| figure.figure),
        "vendor_source": published.map(|figure| figure.source),
        "vendor_deviation_percent": published.map(|it| it.deviation_percent(row.measured())),
        "published_in": published.map_or_else(|| "nowhere".to_owned(), |it| it.to_string()),
        "reason": row.reason(),
        "link": [row.link.0.to_string(), row.link.1.to_string()],
    })
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let (mesh, seed) = (options.text("mesh"), options.seed()?);
    report.fact("mesh", mesh);
    report.fact("seed", seed);
    let rows = study(mesh, seed, &mut |it| report.row(&SIZES, row(it)));
    let rows = rows.map_err(StudyError::on(mesh))?;
    report.note(format!("\nbound: {BOUND_BASIS}"));
    report.note(format!("test: {TEST}; its figures are those of one direction, twice"));
    if let Some(row) = rows.first() {
        report.note(format!("link: {} to {}", row.link.0, row.link.1));
    }
    for row in &rows {
        if let Some(reason) = row.reason() {
            let (mover, bytes, channels) = (mover(row), row.packet_bytes, row.channels);
            report.note(format!("\n{mover}, {bytes} bytes, {channels} channels: {reason}."));
        }
    }
    Ok(true)
}
