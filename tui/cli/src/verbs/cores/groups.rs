//! The table of `cores` without a place: equal cores of each chip together, outliers first.

use crate::output::{Columns, Page};
use crate::target::Style;
use console::merged::{Group, Operations, groups, label, on_chip};
use decode::state::{ChipState, MeshState};
use machine::words::counted;
use std::cmp::Reverse;
use std::collections::BTreeMap;

const HEAD: [&str; 7] = ["CHIP", "COUNT", "WAYPOINT", "STATE", "GO", "KERNEL", "CORES"];

pub(super) fn page(style: Style, state: &MeshState) -> Page {
    let mut table = Columns::new(&HEAD);
    let (mut summaries, mut outliers) = (String::new(), 0);
    for chip in &state.chips {
        let groups = groups(style.looks.glyphs, chip);
        summaries += &summary(style, chip, &groups);
        outliers += groups.iter().filter(|group| group.is_outlier).count();
        for group in &groups {
            table.row(row(chip, group));
        }
    }
    let outliers = match outliers {
        0 => String::new(),
        count => format!(
            "{}, marked *: few that differ from many of their kind\n",
            counted(count as u64, "outlier", "outliers")
        ),
    };
    let operations = Operations::of(state).text();
    Page::default().with(format!("{summaries}{operations}\n\n")).with(table).with(outliers)
}

/// The number of cores with each waypoint, in one line.
fn summary(style: Style, chip: &ChipState, groups: &[Group<'_>]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for core in groups.iter().flat_map(|group| &group.cores) {
        *counts.entry(label(style.looks.glyphs, core)).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    let parts: Vec<String> =
        counts.iter().map(|(label, count)| format!("{count} {label}")).collect();
    let dot = if style.looks.glyphs.ascii { ", " } else { " · " };
    format!("chip {}: {}\n", chip.chip.id, parts.join(dot))
}

fn row(chip: &ChipState, group: &Group<'_>) -> Vec<String> {
    let mark = if group.is_outlier { " *" } else { "" };
    let count = format!("{}{mark}", group.cores.len());
    let cores = on_chip(chip, group.cores.iter().map(|core| core.id));
    let head = [chip.chip.id.to_string(), count];
    head.into_iter().chain(group.cells.iter().cloned()).chain([cores]).collect()
}
