//! The table of figures: what meshscope does, over an anchor that is measured in the same run.
//!
//! `cargo bench -p tests --bench table` prints it and fails if a ratio is below a third of its floor in
//! `floors.toml`, or if a count of bus transactions differs; `-- --bless` writes that file and the
//! page `tests/figures.md` anew, `-- --frames` measures frames of the live view only.
//! Times are processor time where one process does the work, since hosts are shared, and medians of
//! five. Anchors: a loop in C, a
//! client in C on the same library, gdb; with `MESHSCOPE_TTSIM_DIR` also the vendor's simulator,
//! whose rows have no floors.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a bench")]
#![allow(unsafe_code, reason = "only getrusage reports a child's resources")]

mod floors;
mod frames;
mod machine;
mod process;
mod reads;

use floors::Floors;
use process::Programs;
use std::process::ExitCode;

/// One figure.
struct Row {
    name: String,
    /// What was measured, for people.
    value: String,
    anchor: String,
    held: Held,
}

/// What `floors.toml` holds of a figure.
enum Held {
    /// A ratio to the anchor: more is better.
    Ratio(f64),
    /// A number that never changes by itself.
    Count(u64),
    /// A ratio to a program that is not everywhere.
    Peer(f64),
}

fn main() -> ExitCode {
    let is_given = |wanted: &str| std::env::args().any(|argument| argument == wanted);
    let (bless, frames_only) = (is_given("--bless"), is_given("--frames"));
    let programs = Programs::build();
    let mut floors = if bless { Floors::default() } else { Floors::read() };
    let mut failures = Vec::new();
    let mut table = Vec::new();
    let mut show = |name: &str, value: &str, anchor: &str, ratio: &str, floor: &str| {
        println!("{name:<45} {value:>23} {anchor:>31} {ratio:>9} {floor:>8}");
        table.push(format!("{name:<45} {value:>23} {anchor:>31} {ratio:>9}"));
    };
    show("figure", "meshscope", "anchor", "ratio", "floor");
    let sections: [fn(&Programs) -> Vec<Row>; 3] = [machine::rows, reads::rows, frames::rows];
    let sections = if frames_only { &sections[2..] } else { &sections[..] };
    for row in sections.iter().flat_map(|section| section(&programs)) {
        let ratio = match row.held {
            Held::Ratio(ratio) | Held::Peer(ratio) if ratio >= 100.0 => format!("{ratio:.0}"),
            Held::Ratio(ratio) | Held::Peer(ratio) => format!("{ratio:.2}"),
            Held::Count(_) => String::new(),
        };
        let floor = if bless { floors.keep(&row) } else { floors.check(&row, &mut failures) };
        show(&row.name, &row.value, &row.anchor, &ratio, &floor);
    }
    if bless {
        floors.write();
        floors::write_page(&table);
    }
    if !frames_only {
        failures.extend(floors.missed());
    }
    for failure in &failures {
        println!("FAILED: {failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the median.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
