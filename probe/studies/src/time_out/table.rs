//! The study `timeout`: a row for each time-out.

use super::{STUCK_CYCLES, TIME_OUTS_CYCLES, TimeOutRow, study};
use crate::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column};
use machine::words::cycles;
use serde_json::{Value, json};

/// Packets blocked by a stuck receiver, with and without the routers' packet time-out.
pub const STUDY: Study = Study {
    name: "timeout",
    about: "Stop a receiver of a fabric for a while, and print what routers with and without a packet time-out do with its packets",
    options: &[
        Choice::new(
            "mesh",
            "MESH",
            "t3000",
            "The mesh, and words of its scene; three chips in a row are used",
        ),
        Choice::new(
            "topology",
            "TOPOLOGY",
            "line",
            "What the routers are built for: line, ring, mesh or torus",
        ),
    ],
    tables: &[TIME_OUTS],
    run,
};

const TIME_OUTS: Table = Table {
    name: "rows",
    columns: &[
        column("TIME-OUT", "time_out", Unit::Text(10)),
        column("PACKETS", "packets", Unit::Count),
        column("SENT MEANWHILE", "sent_meanwhile", Unit::Count),
        column("SENT", "sent", Unit::Count),
        column("RECEIVED", "received", Unit::Count),
        column("DROPPED", "dropped", Unit::Count),
        column("NACKS", "nacks", Unit::Count),
        column("TIMED_OUT ENTRIES", "entries", Unit::Count),
        column("LOST", "entries_lost", Unit::Count),
        column("FIRST WAITED", "first_drop_cycles", Unit::Cycles),
    ],
};

fn row(row: &TimeOutRow) -> Value {
    json!({
        "time_out": match row.time_out_cycles {
            0 => "none".to_owned(),
            time_out => cycles(time_out.into()),
        },
        "time_out_cycles": row.time_out_cycles,
        "router": row.routers.0.to_string(),
        "stuck": row.routers.1.to_string(),
        "packets": row.packets,
        "sent_meanwhile": row.sent_meanwhile,
        "sent": row.sent,
        "received": row.received,
        "dropped": row.dropped,
        "nacks": row.reported,
        "entries": row.entries,
        "entries_lost": row.entries_lost,
        "first_drop_cycles": row.first_drop_cycles,
        "drops_last_cycles": row.drops_last_cycles,
    })
}

fn explanation(rows: &[TimeOutRow]) -> String {
    let Some((router, stuck)) = rows.first().map(|row| row.routers) else { return String::new() };
    format!(
        "\nThe core of {stuck}, two hops from the sender, executes nothing for {} from the sender's start. Packets fill the slots in front of it and then wait in {router}. \
         Without a time-out the packets behind them and their worker wait too, until the receiver continues. \
         With a time-out {router} drops the packet that has waited that long, and then at once the packets behind it (it drains) until a slot is free. \
         Each drop appends an entry EVENT_TIMED_OUT to its status queue and sends a negative acknowledge to the sender, which a full control \
         channel drops. Packets in slots arrive when the receiver continues. A time-out that is longer than the stop drops nothing.",
        cycles(STUCK_CYCLES)
    )
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let (mesh, scene) = (options.text("mesh"), options.scene()?);
    report.fact("mesh", mesh);
    report.fact("topology", scene.fabric.topology.name());
    report.fact("stuck_cycles", STUCK_CYCLES);
    let rows = study(&scene, &TIME_OUTS_CYCLES, &mut |it| report.row(&TIME_OUTS, row(it)));
    let rows = rows.map_err(StudyError::on(mesh))?;
    report.note(explanation(&rows));
    Ok(rows.iter().all(TimeOutRow::is_right))
}
