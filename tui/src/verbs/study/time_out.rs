//! `study timeout`: packets blocked by a stuck receiver, with and without the routers' packet
//! time-out.

use super::lines::Lines;
use super::measured::failed;
use super::traffic::scene;
use crate::args::TimeoutArguments;
use crate::exit::{Failure, Outcome};
use crate::output::json;
use crate::verbs::target::Style;
use crate::words;
use schemars::JsonSchema;
use serde::Serialize;
use workloads::study::time_out::{STUCK_CYCLES, TIME_OUTS_CYCLES, TimeOutRow, study};

const HEAD: [&str; 9] = [
    "TIME-OUT",
    "PACKETS",
    "SENT MEANWHILE",
    "SENT",
    "RECEIVED",
    "DROPPED",
    "NACKS",
    "STATUS QUEUE",
    "FIRST WAITED",
];
const WIDTHS: [usize; 9] = [10, 7, 14, 5, 8, 7, 5, 22, 16];

/// Packets blocked by a stuck receiver, with and without the routers' packet time-out.
#[derive(Serialize, JsonSchema)]
pub(in crate::verbs) struct TimeOuts<'a> {
    /// The mesh.
    mesh: &'a str,
    /// What the routers are built for: line, ring, mesh or torus.
    topology: &'a str,
    /// Time for which the receiver is stuck, in cycles of a nanosecond.
    stuck_cycles: u64,
    /// A row for each time-out.
    rows: Vec<Tried>,
}

/// The result of a time-out.
#[derive(Serialize, JsonSchema)]
struct Tried {
    /// The time-out, in cycles of a nanosecond; 0: none.
    time_out_cycles: u32,
    /// The router in which packets wait.
    router: String,
    /// The router that is stuck.
    stuck: String,
    /// Packets of the worker.
    packets: u32,
    /// Packets handed to the first router while the last one was stuck.
    sent_meanwhile: u32,
    /// Packets handed to the first router in the end.
    sent: u32,
    /// Packets that the last router received in the end.
    received: u32,
    /// Packets dropped by the router in which they waited.
    dropped: u32,
    /// Negative acknowledges that the worker received.
    nacks: u32,
    /// Entries EVENT_TIMED_OUT of the router's status queue.
    entries: u32,
    /// Entries that were lost because it was full.
    entries_lost: u32,
    /// Time of the first dropped packet at the head of its channel, in cycles of a nanosecond; null
    /// if none was dropped.
    first_drop_cycles: Option<u64>,
    /// From its entry to the last one, in cycles of a nanosecond.
    drops_last_cycles: Option<u64>,
}

fn tried(row: &TimeOutRow) -> Tried {
    Tried {
        time_out_cycles: row.time_out_cycles,
        router: row.routers.0.to_string(),
        stuck: row.routers.1.to_string(),
        packets: row.packets,
        sent_meanwhile: row.sent_meanwhile,
        sent: row.sent,
        received: row.received,
        dropped: row.dropped,
        nacks: row.reported,
        entries: row.entries,
        entries_lost: row.entries_lost,
        first_drop_cycles: row.first_drop_cycles,
        drops_last_cycles: row.drops_last_cycles,
    }
}

fn cells(row: &TimeOutRow) -> [String; 9] {
    let lost = if row.entries_lost == 0 {
        String::new()
    } else {
        format!(" and {} lost", row.entries_lost)
    };
    [
        if row.time_out_cycles == 0 {
            "none".to_owned()
        } else {
            words::cycles(row.time_out_cycles.into())
        },
        row.packets.to_string(),
        row.sent_meanwhile.to_string(),
        row.sent.to_string(),
        row.received.to_string(),
        row.dropped.to_string(),
        row.reported.to_string(),
        format!("{} TIMED_OUT{lost}", row.entries),
        row.first_drop_cycles.map_or_else(|| "-".to_owned(), words::cycles),
    ]
}

fn explanation(rows: &[TimeOutRow]) -> String {
    let Some((router, stuck)) = rows.first().map(|row| row.routers) else { return String::new() };
    format!(
        "\nThe core of {stuck}, two hops from the sender, executes nothing for {} from the sender's start. Packets fill the slots in front of it and then wait in {router}. \
         Without a time-out the packets behind them and their worker wait too, until the receiver continues. \
         With a time-out {router} drops the packet that has waited that long, and then at once the packets behind it (it drains) until a slot is free. \
         Each drop appends an entry EVENT_TIMED_OUT to its status queue and sends a negative acknowledge to the sender, which a full control \
         channel drops. Packets in slots arrive when the receiver continues. A time-out that is longer than the stop drops nothing.\n",
        words::cycles(STUCK_CYCLES)
    )
}

/// A line for each time-out.
pub(in crate::verbs) fn time_out(
    style: Style,
    options: &TimeoutArguments,
) -> Result<Outcome, Failure> {
    let TimeoutArguments { mesh, topology } = options;
    let scene = scene(mesh, Some(topology))?;
    let topology = scene.fabric.topology.name();
    let mut lines = Lines::new(style, &HEAD, &WIDTHS);
    let rows = study(&scene, &TIME_OUTS_CYCLES, &mut |row| lines.say(&cells(row)));
    let rows = rows.map_err(failed(mesh))?;
    lines.end()?;
    if style.json {
        let rows = rows.iter().map(tried).collect();
        json(TimeOuts { mesh, topology, stuck_cycles: STUCK_CYCLES, rows })?;
    } else {
        style.note(&explanation(&rows))?;
    }
    let right = rows.iter().all(TimeOutRow::is_right);
    Ok(if right { Outcome::Healthy } else { Outcome::Findings })
}
