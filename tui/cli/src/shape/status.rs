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
    #[serde(flatten)]
    report: &'a StatusReport,
    /// The entries in the queue, oldest first.
    entries: Vec<Entry<'a>>,
}

/// An entry of a status queue.
#[derive(Serialize, JsonSchema)]
struct Entry<'a> {
    /// Its number, counted from 0 in each bring-up.
    number: u32,
    #[serde(flatten)]
    entry: &'a StatusEntry,
}

impl<'a> Status<'a> {
    /// Builds the JSON of status queues.
    pub(crate) fn new(target: &'a str, cycles: u64, reports: &'a [StatusReport]) -> Self {
        let entry = |entry: &'a StatusEntry| Entry { number: entry.number, entry };
        let queue = |report: &'a StatusReport| Queue {
            chip: report.queue.router.chip.0,
            channel: report.queue.router.channel,
            run_id: report.queue.run_id,
            report,
            entries: report.entries.iter().map(entry).collect(),
        };
        Self { target, cycles, queues: reports.iter().map(queue).collect() }
    }
}
