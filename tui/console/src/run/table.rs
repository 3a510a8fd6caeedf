//! The table as nccl-tests prints it: header, a line per size, footer. Its figures are computed
//! from cycles.

use layouts::ChipId;
use machine::target::Mesh;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::fmt::Write;

/// The measurements of one size; in JSON its times are in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Measured {
    /// The collective.
    #[serde(skip)]
    pub op: &'static str,
    /// The larger of a rank's input and output, in bytes.
    #[serde(rename = "size")]
    pub size_bytes: u64,
    /// Elements of that size.
    pub count: u64,
    /// The type of an element, such as int32.
    #[serde(rename = "type")]
    pub data_type: &'static str,
    /// The reduction, such as sum; none if nothing is reduced.
    pub redop: &'static str,
    /// The rank of the root; null if the collective has none.
    pub root: Option<u32>,
    /// The time until the slowest chip has ended, the mean of all iterations.
    #[serde(rename = "time_us", serialize_with = "in_micros")]
    #[schemars(with = "f64")]
    pub time_cycles: u64,
    /// busbw / algbw.
    #[serde(skip)]
    pub bus_factor: f64,
    /// What all links over which a chip receives carry, in GB/s: no bus bandwidth is above it.
    pub link_gbps: f64,
    /// Wrong elements; null if nothing was checked.
    pub wrong: Option<u64>,
    /// How much longer than that of the chip launched last the longest kernel lasted, as kernels wait
    /// for others to start.
    #[serde(rename = "start_skew_us", serialize_with = "in_micros")]
    #[schemars(with = "f64")]
    pub start_skew_cycles: u64,
    /// The id of the chip that was launched last, from whose start times count.
    #[serde(rename = "last_chip")]
    pub last: ChipId,
    /// Times of each chip by its own clock, in the order of the ranks.
    pub chips: Vec<ChipMeasured>,
    /// Places of wrong elements, a sentence each.
    #[serde(rename = "wrong_places")]
    pub places: Vec<String>,
}

/// Times of a chip, by its own clock. Clocks of different chips do not compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChipMeasured {
    /// The chip's id.
    pub chip: ChipId,
    /// From the kernel's start to its end.
    #[serde(rename = "kernel_us", serialize_with = "in_micros")]
    #[schemars(with = "f64")]
    pub kernel_cycles: u64,
    /// From when the links of the chip launched last were up at both ends to the kernel's end.
    #[serde(rename = "transfer_us", serialize_with = "in_micros")]
    #[schemars(with = "f64")]
    pub transfer_cycles: u64,
}

/// Cycles of a nanosecond in JSON.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn in_micros<S: Serializer>(cycles: &u64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(*cycles as f64 / 1e3)
}

impl Measured {
    /// Time in microseconds.
    pub fn time_us(&self) -> f64 {
        self.time_cycles as f64 / 1e3
    }

    /// Size over time, in GB/s; one byte per nanosecond is 1.
    pub fn algbw(&self) -> f64 {
        if self.time_cycles == 0 { 0.0 } else { self.size_bytes as f64 / self.time_cycles as f64 }
    }

    /// Why its time cannot be right, in a sentence, if it is impossible.
    pub fn impossible(&self) -> Option<String> {
        let (busbw, link_gbps) = (self.busbw(), self.link_gbps);
        (busbw > link_gbps).then(|| {
            format!(
                "{} B: the time is wrong: a busbw of {busbw:.2} GB/s is above the {link_gbps} GB/s of the links",
                self.size_bytes
            )
        })
    }

    /// `algbw` times the collective's factor: the bandwidth of one link.
    pub fn busbw(&self) -> f64 {
        self.algbw() * self.bus_factor
    }

    /// The cells of its line.
    pub fn cells(&self) -> Vec<String> {
        self.line().split_whitespace().map(str::to_owned).collect()
    }

    /// One line of the table.
    pub fn line(&self) -> String {
        let root = self.root.map_or_else(|| "-1".to_owned(), |root| root.to_string());
        let wrong = self.wrong.map_or_else(|| "N/A".to_owned(), |wrong| wrong.to_string());
        format!(
            "{:>12}  {:>12}  {:>8}  {:>6}  {root:>6}  {}  {:>6.2}  {:>6.2}  {wrong:>5}\n",
            self.size_bytes,
            self.count,
            self.data_type,
            self.redop,
            figure(self.time_us()),
            self.algbw(),
            self.busbw(),
        )
    }
}

/// The names of the cells, as nccl-tests has them.
pub const CELLS: [&str; 9] =
    ["size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong"];

/// Formats a figure in seven columns with at most two decimals, as many as fit.
fn figure(value: f64) -> String {
    let digits = match value {
        // The bounds account for rounding up to one more digit.
        ..9_999.995 => 2,
        ..99_999.95 => 1,
        _ => 0,
    };
    format!("{value:>7.digits$}")
}

/// The values of the header.
pub struct Head<'a> {
    /// The words that opened the target.
    pub target: &'a str,
    /// The collective.
    pub op: &'a str,
    /// How the ranks are connected.
    pub topology: &'a str,
    /// The chips in the order of their ranks.
    pub ranks: &'a [ChipId],
    /// The smallest and the largest size, in bytes.
    pub sizes: (u64, u64),
    /// The step from one size to the next.
    pub step: String,
    /// Runs of each size before it is measured.
    pub warmups: u32,
    /// Measured runs of each size.
    pub iterations: u32,
    /// Whether data is checked.
    pub check: bool,
    /// Parallel links between two neighbours.
    pub links: u32,
    /// Where the pages of a tensor are.
    pub layout: &'a str,
    /// Use of both directions of a ring.
    pub bidirectional: &'a str,
    /// The seed of the data.
    pub seed: u32,
    /// The faults that disturb the mesh.
    pub faults: Vec<String>,
    /// How packets travel between ranks.
    pub transport: &'a str,
    /// Workers of each link and direction.
    pub workers: u32,
    /// What the routers of the fabric are built for, if packets use one.
    pub fabric: Option<&'a str>,
    /// Muxes that several workers share.
    pub muxes: usize,
}

/// The header.
pub fn head(head: &Head<'_>, mesh: &Mesh) -> String {
    let mut text = format!(
        "# meshscope {} target: {}\n# Collective test starting: {}\n",
        env!("CARGO_PKG_VERSION"),
        head.target,
        head.op
    );
    let (least, most) = head.sizes;
    let _ = writeln!(
        text,
        "# nChips {} minBytes {least} maxBytes {most} step: {} warmup iters: {} iters: {} validation: {}",
        head.ranks.len(),
        head.step,
        head.warmups,
        head.iterations,
        u8::from(head.check),
    );
    let _ = writeln!(
        text,
        "# topology: {} links: {} layout: {} bidirectional: {} seed: {}",
        head.topology, head.links, head.layout, head.bidirectional, head.seed
    );
    if let Some(fabric) = head.fabric {
        let _ = writeln!(
            text,
            "# transport: {} fabric: {fabric} workers: {} muxes: {}",
            head.transport, head.workers, head.muxes
        );
    }
    for fault in &head.faults {
        let _ = writeln!(text, "# fault: {fault}");
    }
    text.push_str("#\n# Using chips\n");
    for (rank, &chip) in head.ranks.iter().enumerate() {
        let _ =
            writeln!(text, "#  Rank {rank:>2} Chip {:>2}{}", chip.to_string(), about(mesh, chip));
    }
    text + COLUMNS
}

const COLUMNS: &str = "\
#
#       size         count      type   redop    root     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)
";

/// What is known of a chip besides its number.
fn about(mesh: &Mesh, chip: ChipId) -> String {
    let Some(chip) = mesh.chip(chip) else { return String::new() };
    let board = chip.board.iter().map(|board| format!(" {board}"));
    let coord = chip.coord.iter();
    let coord = coord.map(|at| format!(" x{} y{} rack {} shelf {}", at.x, at.y, at.rack, at.shelf));
    let route = if chip.pcie { " PCIe".to_owned() } else { " remote".to_owned() };
    board.chain(coord).chain([route]).collect()
}

/// The footer.
pub fn foot(op: &str, rows: &[Measured]) -> String {
    let mut text = match out_of_bounds(rows) {
        Some(wrong) => {
            let word = if wrong == 0 { "OK" } else { "FAILED" };
            format!("# Out of bounds values : {wrong} {word}\n")
        }
        None => "# Out of bounds values : N/A (data was not checked: --check)\n".to_owned(),
    };
    let _ = writeln!(text, "# Avg bus bandwidth    : {}\n#", significant(average(rows)));
    text.push_str(
        "# Clocks of chips differ: time is from the start of the chip launched last to the end of the slowest one, start\n\
         # skew how much longer than its own the longest kernel lasted because it waited for others to start.\n",
    );
    for row in rows {
        let skew = row.start_skew_cycles as f64 / 1e3;
        let _ = writeln!(
            text,
            "# {:>12} B: chip {} launched last, start skew {skew:.2} us",
            row.size_bytes, row.last
        );
    }
    let _ = writeln!(text, "#\n# Collective test concluded: {op}");
    text
}

/// All wrong elements, if every row was checked.
pub fn out_of_bounds(rows: &[Measured]) -> Option<u64> {
    rows.iter().map(|row| row.wrong).sum()
}

/// The mean bus bandwidth in GB/s.
pub fn average(rows: &[Measured]) -> f64 {
    rows.iter().map(Measured::busbw).sum::<f64>() / rows.len().max(1) as f64
}

/// Six significant digits, as C's `%g`.
fn significant(value: f64) -> String {
    let whole = value.abs().max(1.0).log10().floor() as usize + 1;
    let text = format!("{value:.*}", 6_usize.saturating_sub(whole));
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use layouts::ChipCoord;
    use machine::target::Chip;

    fn row(size_bytes: u64, time_cycles: u64, wrong: Option<u64>) -> Measured {
        Measured {
            op: "all-gather",
            size_bytes,
            count: size_bytes / 8,
            data_type: "int32",
            redop: "none",
            root: None,
            time_cycles,
            bus_factor: 0.5,
            link_gbps: 12.5,
            wrong,
            start_skew_cycles: 35_210,
            last: ChipId(1),
            chips: Vec::new(),
            places: Vec::new(),
        }
    }

    fn mesh() -> Mesh {
        let chip = |id: u16| Chip {
            id: ChipId(id),
            coord: Some(ChipCoord { x: id as u8, y: 0, rack: 0, shelf: 0 }),
            pcie: id == 0,
            unique_id: None,
            board: Some(if id == 0 { "n300 L" } else { "n300 R" }.into()),
            gateway: None,
            harvested_rows: Some(Vec::new()),
            seat: None,
        };
        Mesh { chips: vec![chip(0), chip(1)], ..Mesh::default() }
    }

    #[test]
    fn the_table_is_that_of_nccl_tests() {
        let head = head(
            &Head {
                target: "emulator:n300,run=idle",
                op: "all-gather",
                topology: "ring",
                ranks: &[ChipId(0), ChipId(1)],
                sizes: (4096, 1 << 20),
                step: "256(factor)".into(),
                warmups: 0,
                iterations: 1,
                check: true,
                links: 1,
                layout: "interleaved",
                bidirectional: "no",
                seed: 1,
                faults: vec!["link:0.8:down@10us".into()],
                transport: "edm",
                workers: 1,
                fabric: None,
                muxes: 0,
            },
            &mesh(),
        );
        let rows = [row(4096, 2_345, Some(0)), row(1 << 20, 94_208, Some(0))];
        let lines: String = rows.iter().map(Measured::line).collect();
        let text = format!("{head}{lines}{}", foot("all-gather", &rows));
        let want = "\
# meshscope 0.1.0 target: emulator:n300,run=idle
# Collective test starting: all-gather
# nChips 2 minBytes 4096 maxBytes 1048576 step: 256(factor) warmup iters: 0 iters: 1 validation: 1
# topology: ring links: 1 layout: interleaved bidirectional: no seed: 1
# fault: link:0.8:down@10us
#
# Using chips
#  Rank  0 Chip  0 n300 L x0 y0 rack 0 shelf 0 PCIe
#  Rank  1 Chip  1 n300 R x1 y0 rack 0 shelf 0 remote
#
#       size         count      type   redop    root     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)
        4096           512     int32    none      -1     2.35    1.75    0.87      0
     1048576        131072     int32    none      -1    94.21   11.13    5.57      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 3.21928
#
# Clocks of chips differ: time is from the start of the chip launched last to the end of the slowest one, start
# skew how much longer than its own the longest kernel lasted because it waited for others to start.
#         4096 B: chip 1 launched last, start skew 35.21 us
#      1048576 B: chip 1 launched last, start skew 35.21 us
#
# Collective test concluded: all-gather
";
        let want = want.replace("0.1.0", env!("CARGO_PKG_VERSION"));
        assert!(text == want, "{text}");
    }

    #[test]
    fn what_was_not_checked_and_what_is_wrong_is_said() {
        assert!(foot("reduce", &[row(64, 10, None)]).contains("N/A (data was not checked"));
        assert!(foot("reduce", &[row(64, 10, Some(3))]).contains("values : 3 FAILED\n"));
        assert!(row(64, 10, None).line().ends_with("    N/A\n"));
        assert_eq!(out_of_bounds(&[row(64, 10, Some(3)), row(64, 10, None)]), None);
        let impossible = row(1000, 39, None).impossible().unwrap();
        assert!(impossible.contains("12.82 GB/s is above the 12.5 GB/s"), "{impossible}");
        assert_eq!(row(1000, 40, None).impossible(), None);
        assert!(row(64, 0, None).line().contains("  0.00    0.00"), "a time of 0 is not infinite");
    }

    #[test]
    fn figures_keep_their_columns() {
        for (value, want) in [
            (2.345, "   2.35"),
            (9_999.4, "9999.40"),
            (12_345.6, "12345.6"),
            (123_456.7, " 123457"),
        ] {
            assert_eq!(figure(value), want);
        }
        for (value, want) in
            [(41.12814, "41.1281"), (0.0, "0"), (0.87, "0.87"), (220.9214, "220.921")]
        {
            assert_eq!(significant(value), want);
        }
    }
}
