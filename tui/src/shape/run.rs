//! The promised shape of `run`.

use crate::run::Measured;
use crate::run::table::{Head, average, out_of_bounds};
use serde::Serialize;

/// `run`.
#[derive(Serialize)]
pub(crate) struct Sweep<'a> {
    op: &'a str,
    target: &'a str,
    chips: Vec<u16>,
    topology: &'a str,
    rows: Vec<Row<'a>>,
    links: u32,
    layout: &'a str,
    bidirectional: &'a str,
    iterations: u32,
    warmups: u32,
    seed: u32,
    faults: &'a [String],
    out_of_bounds: Option<u64>,
    avg_busbw_gbps: f64,
    transport: &'a str,
    workers: u32,
    fabric: Option<&'a str>,
    muxes: usize,
}

#[derive(Serialize)]
struct Row<'a> {
    size: u64,
    count: u64,
    r#type: &'a str,
    redop: &'a str,
    time_us: f64,
    algbw_gbps: f64,
    busbw_gbps: f64,
    wrong: Option<u64>,
    root: Option<u32>,
    start_skew_us: f64,
    last_chip: u16,
    chips: Vec<Chip>,
    wrong_places: &'a [String],
}

#[derive(Serialize)]
struct Chip {
    chip: u16,
    kernel_us: f64,
    transfer_us: f64,
}

fn us(cycles: u64) -> f64 {
    cycles as f64 / 1e3
}

/// The shape of a sweep.
pub(crate) fn run<'a>(head: &'a Head<'a>, rows: &'a [Measured]) -> Sweep<'a> {
    Sweep {
        op: head.op,
        target: head.target,
        chips: head.ranks.iter().map(|chip| chip.0).collect(),
        topology: head.topology,
        rows: rows.iter().map(row).collect(),
        links: head.links,
        layout: head.layout,
        bidirectional: head.bidirectional,
        iterations: head.iterations,
        warmups: head.warmups,
        seed: head.seed,
        faults: &head.faults,
        out_of_bounds: out_of_bounds(rows),
        avg_busbw_gbps: average(rows),
        transport: head.transport,
        workers: head.workers,
        fabric: head.fabric,
        muxes: head.muxes,
    }
}

fn row(row: &Measured) -> Row<'_> {
    let chips = row.chips.iter().map(|chip| Chip {
        chip: chip.chip.0,
        kernel_us: us(chip.kernel_cycles),
        transfer_us: us(chip.transfer_cycles),
    });
    Row {
        size: row.size_bytes,
        count: row.count,
        r#type: row.data_type,
        redop: row.redop,
        time_us: row.time_us(),
        algbw_gbps: row.algbw(),
        busbw_gbps: row.busbw(),
        wrong: row.wrong,
        root: row.root,
        start_skew_us: us(row.start_skew_cycles),
        last_chip: row.last.0,
        chips: chips.collect(),
        wrong_places: &row.places,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::run::ChipMeasured;
    use layouts::ChipId;
    use serde_json::json;

    #[test]
    fn the_promised_keys_are_there() {
        let head = Head {
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
        };
        let measured = Measured {
            op: "all-reduce",
            size_bytes: 4000,
            count: 1000,
            data_type: "fp32",
            redop: "sum",
            root: None,
            time_cycles: 2000,
            bus_factor: 1.5,
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
                "busbw_gbps": 3.0, "wrong": 2, "root": null, "start_skew_us": 0.5, "last_chip": 0,
                "chips": [{"chip": 1, "kernel_us": 2.5, "transfer_us": 2.0}],
                "wrong_places": ["chip 0: 2 elements"],
            }],
            "links": 2, "layout": "sharded", "bidirectional": "no", "iterations": 3, "warmups": 0, "seed": 7,
            "faults": [], "out_of_bounds": 2, "avg_busbw_gbps": 3.0, "transport": "edm", "workers": 1,
            "fabric": null, "muxes": 0,
        });
        assert_eq!(serde_json::to_value(run(&head, &[measured])).unwrap(), want);
    }
}
