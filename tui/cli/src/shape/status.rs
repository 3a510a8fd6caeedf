//! The JSON of `fabric status` and `fabric drain`.

use fabric::status_queue::{StatusEntry, StatusReport};
use schemars::JsonSchema;
use serde::Serialize;

/// The contents of the fabric node status queues.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Status<'a> {
    /// The target, as `--target` names it.
    target: &'a str,
    /// The target's own time, in cycles of a nanosecond.
    cycles: u64,
    /// The status queues, one of each router.
    queues: Vec<Queue<'a>>,
}

/// The status queue of a router.
#[derive(Serialize, JsonSchema)]
struct Queue<'a> {
    /// The id of the router's chip.
    chip: u16,
    /// The Ethernet channel of the router.
    channel: u8,
    /// The number of the bring-up of the fabric.
    run_id: u32,
    /// Capacity of the queue, in entries.
    capacity: u32,
    /// Number of entries that the router has written.
    write_count: u32,
    /// Number of entries that were freed.
    read_count: u32,
    /// Number of entries that were lost because the queue was full.
    lost: u32,
    /// The entries in the queue, oldest first.
    entries: Vec<Entry<'a>>,
}

/// An entry of a status queue.
#[derive(Serialize, JsonSchema)]
struct Entry<'a> {
    /// Its number, counted from 0 in each bring-up.
    number: u32,
    #[serde(flatten)]
    event: Event<'a>,
}

/// An event of a router.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Event<'a> {
    /// Its name, such as EVENT_LINK_DOWN.
    event: &'a str,
    /// The target's own time, in cycles of a nanosecond; null if the wall clock could not be read.
    cycles: Option<u64>,
    /// Time by the wall clock of the router's chip; those of two chips do not compare.
    wall_clock_cycles: u64,
    /// The router's mesh.
    mesh: u32,
    /// The router's device in this mesh.
    device: u32,
    /// The router's direction, as tt-metal's `eth_chan_directions` counts.
    direction: u32,
    /// Four words that depend on the event.
    detail: [u32; 4],
    /// The event in words.
    text: &'a str,
}

impl<'a> Status<'a> {
    /// Builds the JSON of status queues.
    pub(crate) fn new(target: &'a str, cycles: u64, reports: &'a [StatusReport]) -> Self {
        let entry = |entry: &'a StatusEntry| Entry { number: entry.number, event: entry.into() };
        let queue = |report: &'a StatusReport| Queue {
            chip: report.queue.router.chip.0,
            channel: report.queue.router.channel,
            run_id: report.queue.run_id,
            capacity: report.room,
            write_count: report.write_count,
            read_count: report.read_count,
            lost: report.lost,
            entries: report.entries.iter().map(entry).collect(),
        };
        Self { target, cycles, queues: reports.iter().map(queue).collect() }
    }
}

impl<'a> From<&'a StatusEntry> for Event<'a> {
    fn from(entry: &'a StatusEntry) -> Self {
        Self {
            event: &entry.event,
            cycles: entry.cycles,
            wall_clock_cycles: entry.wall_clock_cycles,
            mesh: entry.mesh_id,
            device: entry.device_id,
            direction: entry.direction,
            detail: entry.detail,
            text: &entry.text,
        }
    }
}
