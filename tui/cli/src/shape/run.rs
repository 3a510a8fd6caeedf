//! The JSON of `run`.

use super::failed::Error;
use super::why::Judged;
use collectives::Schedule;
use console::exit::Failure;
use console::run::Measured;
use console::run::table::{Head, average, out_of_bounds};
use diagnosis::Diagnosis;
use launch::outcome::RunError;
use layouts::ChipId;
use schemars::JsonSchema;
use serde::Serialize;

/// A collective, size after size. A failed run has the same keys: rows for the finished sizes, null
/// for unknown values, and `error`.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct Sweep<'a> {
    /// The collective, such as all-gather; trace with `--from`.
    op: &'a str,
    /// The target, as `--target` names it.
    target: &'a str,
    /// The chips that take part, in the order of their ranks.
    chips: &'a [ChipId],
    /// ring or line.
    topology: Option<&'a str>,
    /// A row for each size.
    rows: Vec<Row<'a>>,
    /// Links between two neighbours.
    links: Option<u32>,
    /// The layout of tensors: interleaved or sharded.
    layout: Option<&'a str>,
    /// no, half-tensors or full-tensors.
    bidirectional: Option<&'a str>,
    /// Launches of each size that are measured.
    iterations: Option<u32>,
    /// Launches of each size before the measured ones.
    warmups: Option<u32>,
    /// Seed of the data.
    seed: Option<u32>,
    /// The requested faults.
    faults: &'a [String],
    /// Wrong elements over all sizes; null if nothing was checked.
    out_of_bounds: Option<u64>,
    /// The mean of `busbw_gbps` over all sizes, in GB/s.
    avg_busbw_gbps: Option<f64>,
    /// edm or fabric.
    transport: Option<&'a str>,
    /// Workers of each link and direction.
    workers: Option<u32>,
    /// What the fabric's routers are built for: line, ring, mesh or torus; null without
    /// `--transport fabric`.
    fabric: Option<&'a str>,
    /// Muxes of the fabric.
    muxes: Option<usize>,
    /// What each rank hands to which one in each time step, with `--schedule`, which launches
    /// nothing; omitted otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<&'a Schedule>,
    /// What came of the packets of each node of a trace, with `--from`; omitted otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    senders: Option<Vec<Sender>>,
    /// The run on each list of chips, if several are given; omitted otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lists: Vec<Sweep<'a>>,
    /// Why the run failed; omitted otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Error>,
    /// The verdict on the mesh as it was when a run stood still, as `why` prints it; omitted
    /// otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Judged<'a>>,
}

/// What came of the packets of a node of a trace.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Sender {
    /// The node, such as M0D3.
    pub(crate) node: String,
    /// The chip's id.
    pub(crate) chip: ChipId,
    /// Its packets.
    pub(crate) packets: u64,
    /// Their payloads, in bytes.
    pub(crate) bytes: u64,
    /// Packets that it has handed to routers.
    pub(crate) sent: u32,
    /// Packets that have arrived, as their receivers count.
    pub(crate) arrived: u64,
    /// Words with wrong contents at their receivers.
    pub(crate) wrong_words: u64,
    /// Its packets that routers have dropped, as they told it.
    pub(crate) dropped: u32,
    /// From its start until it had handed over its last packet, by its own clock; null before.
    pub(crate) time_us: Option<f64>,
}

/// A size of a sweep. All times count from the start of the chip that was launched last.
#[derive(Serialize, JsonSchema)]
struct Row<'a> {
    #[serde(flatten)]
    measured: &'a Measured,
    /// Size over time, in GB/s.
    algbw_gbps: f64,
    /// `algbw_gbps` times the collective's factor in nccl-tests, in GB/s.
    busbw_gbps: f64,
}

impl<'a> Sweep<'a> {
    /// Builds a sweep.
    pub(crate) fn new(head: &'a Head<'a>, rows: &'a [Measured]) -> Self {
        Self {
            op: head.op,
            target: head.target,
            chips: head.ranks,
            topology: Some(head.topology),
            rows: rows.iter().map(row).collect(),
            links: Some(head.links),
            layout: Some(head.layout),
            bidirectional: Some(head.bidirectional),
            iterations: Some(head.iterations),
            warmups: Some(head.warmups),
            seed: Some(head.seed),
            faults: &head.faults,
            out_of_bounds: out_of_bounds(rows),
            avg_busbw_gbps: Some(average(rows)),
            transport: Some(head.transport),
            workers: Some(head.workers),
            fabric: head.fabric,
            muxes: Some(head.muxes),
            ..Self::default()
        }
    }

    /// Builds a sweep of which only the options are known.
    pub(crate) fn unknown(op: &'a str, target: &'a str) -> Self {
        Self { op, target, ..Self::default() }
    }

    /// Adds what came of the packets of a trace, over a fabric of this topology.
    pub(crate) fn of_trace(self, fabric: &'a str, senders: Vec<Sender>) -> Self {
        Self { fabric: Some(fabric), senders: Some(senders), ..self }
    }

    /// Adds the runs on several lists of chips.
    pub(crate) fn of_lists(self, lists: Vec<Self>) -> Self {
        Self { lists, ..self }
    }

    /// Adds a schedule, and the chips whose it is.
    pub(crate) fn scheduled(self, schedule: &'a Schedule) -> Self {
        Self { chips: &schedule.ranks, schedule: Some(schedule), ..self }
    }

    /// Builds a failed sweep from what is known, with the reason.
    pub(crate) fn failed(
        mut self,
        failure: &Failure,
        cause: Option<&RunError>,
        verdict: Option<&'a Diagnosis>,
    ) -> Self {
        if self.rows.is_empty() {
            (self.avg_busbw_gbps, self.out_of_bounds) = (None, None);
        }
        let root = verdict.and_then(|verdict| verdict.findings.first());
        self.error = Some(Error::of(failure, cause, root));
        self.verdict = verdict.map(|verdict| Judged { target: self.target, verdict, files: None });
        self
    }
}

fn row(measured: &Measured) -> Row<'_> {
    Row { measured, algbw_gbps: measured.algbw(), busbw_gbps: measured.busbw() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use console::run::ChipMeasured;
    use launch::ControlError;
    use serde_json::json;

    fn head() -> Head<'static> {
        Head {
            target: "emulator:n300,run=idle",
            op: "all-reduce",
            topology: "line",
            ranks: &[ChipId(1), ChipId(0)],
            sizes: (64, 64),
            step: "2(factor)".into(),
            warmups: 0,
            iterations: 3,
            check: true,
            links: 2,
            layout: "sharded",
            bidirectional: "no",
            seed: 7,
            faults: Vec::new(),
            transport: "edm",
            workers: 1,
            fabric: None,
            muxes: 0,
        }
    }

    #[test]
    fn a_failed_run_has_the_keys_of_a_whole_one_and_its_error() {
        let addr = layouts::NocAddr {
            chip: ChipId(1),
            tile: layouts::NocXy { x: 9, y: 6 },
            offset: 0x370,
        };
        let cause = RunError::from(ControlError::TookTooLong {
            what: "edm has ended".into(),
            addr,
            value: 0x80,
            waited_cycles: 5,
            since_cycles: 40,
        });
        let failure = Failure::of_run("emulator:n300", console::locate::layout(), &cause);
        let whole = serde_json::to_value(Sweep::new(&head(), &[])).unwrap();
        for failed in
            [Sweep::new(&head(), &[]), Sweep::unknown("all-reduce", "emulator:n300,run=idle")]
        {
            let failed = serde_json::to_value(failed.failed(&failure, Some(&cause), None)).unwrap();
            let mut keys: Vec<&String> = whole.as_object().unwrap().keys().collect();
            let error = "error".to_owned();
            keys.push(&error);
            keys.sort_unstable();
            let mut found: Vec<&String> = failed.as_object().unwrap().keys().collect();
            found.sort_unstable();
            assert_eq!(found, keys);
            assert_eq!((&failed["op"], &failed["rows"]), (&json!("all-reduce"), &json!([])));
            assert_eq!(failed["avg_busbw_gbps"], json!(null), "no size was measured");
            assert_eq!(
                failed["error"],
                json!({
                    "message": failure.to_string(), "exit_code": 3, "kind": "control",
                    "cause": "timed_out", "core": {"chip": 1, "tile": [9, 6]}, "waypoint": null,
                    "waiting_for": "edm has ended", "since_cycles": 40, "notes": [], "chip": 1,
                    "tile": [9, 6], "addr": 0x370, "value": 0x80, "waited_cycles": 5,
                })
            );
        }
        let refused = Failure::Refused("no".into());
        let failed =
            serde_json::to_value(Sweep::new(&head(), &[]).failed(&refused, None, None)).unwrap();
        assert_eq!(
            failed["error"],
            json!({"message": "no", "exit_code": 5, "kind": "refused"}),
            "only what is known"
        );
    }

    #[test]
    fn the_promised_keys_are_there() {
        let head = head();
        let measured = Measured {
            op: "all-reduce",
            size_bytes: 4000,
            count: 1000,
            data_type: "fp32",
            redop: "sum",
            root: None,
            time_cycles: 2000,
            bus_factor: 1.5,
            link_gbps: 12.5,
            wrong: Some(2),
            start_skew_cycles: 500,
            last: ChipId(0),
            chips: vec![ChipMeasured {
                chip: ChipId(1),
                kernel_cycles: 2500,
                transfer_cycles: 2000,
            }],
            places: vec!["chip 0: 2 elements".into()],
        };
        let want = json!({
            "op": "all-reduce", "target": "emulator:n300,run=idle", "chips": [1, 0], "topology": "line",
            "rows": [{
                "size": 4000, "count": 1000, "type": "fp32", "redop": "sum", "time_us": 2.0, "algbw_gbps": 2.0,
                "busbw_gbps": 3.0, "link_gbps": 12.5, "wrong": 2, "root": null, "start_skew_us": 0.5, "last_chip": 0,
                "chips": [{"chip": 1, "kernel_us": 2.5, "transfer_us": 2.0}],
                "wrong_places": ["chip 0: 2 elements"],
            }],
            "links": 2, "layout": "sharded", "bidirectional": "no", "iterations": 3, "warmups": 0, "seed": 7,
            "faults": [], "out_of_bounds": 2, "avg_busbw_gbps": 3.0, "transport": "edm", "workers": 1,
            "fabric": null, "muxes": 0,
        });
        assert_eq!(serde_json::to_value(Sweep::new(&head, &[measured])).unwrap(), want);
    }
}
