//! The floors: ratios and counts that the table held when they were written.

use crate::{Held, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

/// A run fails below this part of a floor: machines differ, and runs. The same program had 0.40 of its
/// own ratio (16 tiles x 5 cores) on a machine whose neighbours were busy.
const PART: f64 = 1.0 / 3.0;

#[derive(Default)]
pub(crate) struct Floors {
    ratios: BTreeMap<String, f64>,
    counts: BTreeMap<String, u64>,
    seen: BTreeSet<String>,
}

/// The lines around the table.
const AROUND: [&str; 2] = ["```text\nfigure ", "\n```"];

/// Writes the table to `tests/figures.md`.
pub(crate) fn write_page(table: &[String]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("figures.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let [open, close] = AROUND;
    let (before, rest) = page.split_once(open).unwrap();
    let (_, after) = rest.split_once(close).unwrap();
    let table = table.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n");
    let table = table.strip_prefix("figure ").unwrap();
    std::fs::write(path, [before, open, table, close, after].concat()).unwrap();
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/table/floors.toml")
}

impl Floors {
    pub(crate) fn read() -> Self {
        let text = std::fs::read_to_string(file()).unwrap();
        let table: toml::Table = text.parse().unwrap();
        let entries = |name: &str| table[name].as_table().unwrap().clone().into_iter();
        let ratios = entries("ratio").map(|(name, value)| (name, value.as_float().unwrap()));
        let counts = entries("count")
            .map(|(name, value)| (name, u64::try_from(value.as_integer().unwrap()).unwrap()));
        Self { ratios: ratios.collect(), counts: counts.collect(), seen: BTreeSet::new() }
    }

    /// Takes a figure as its floor, and returns it.
    pub(crate) fn keep(&mut self, row: &Row) -> String {
        self.seen.insert(row.name.clone());
        match row.held {
            Held::Ratio(ratio) => drop(self.ratios.insert(row.name.clone(), ratio)),
            Held::Count(count) => drop(self.counts.insert(row.name.clone(), count)),
            Held::Peer(_) => {}
        }
        String::new()
    }

    /// Compares a figure with its floor, and returns that.
    pub(crate) fn check(&mut self, row: &Row, failures: &mut Vec<String>) -> String {
        self.seen.insert(row.name.clone());
        let (floor, holds) = match row.held {
            Held::Ratio(ratio) => {
                let floor = self.ratios.get(&row.name);
                (floor.map(|f| format!("{f:.3}")), floor.is_some_and(|f| ratio >= f * PART))
            }
            Held::Count(count) => {
                let exact = self.counts.get(&row.name);
                (exact.map(u64::to_string), exact == Some(&count))
            }
            Held::Peer(_) => return String::new(),
        };
        let floor = floor.unwrap_or_else(|| "none".to_owned());
        if !holds {
            failures.push(format!("{}: {}, held: {floor}", row.name, row.value));
        }
        floor
    }

    /// Returns floors without a figure in this run.
    pub(crate) fn missed(&self) -> Vec<String> {
        let names = self.ratios.keys().chain(self.counts.keys());
        let missed = names.filter(|name| !self.seen.contains(*name));
        missed.map(|name| format!("{name}: not measured")).collect()
    }

    pub(crate) fn write(&self) {
        let mut text = "# Written by `cargo bench -p tests --bench table -- --bless`. A run fails below a third of a\n\
            # ratio, and with another count.\n[ratio]\n"
            .to_owned();
        for (name, ratio) in &self.ratios {
            writeln!(text, "\"{name}\" = {ratio:.4}").unwrap();
        }
        text.push_str("\n[count]\n");
        for (name, count) in &self.counts {
            writeln!(text, "\"{name}\" = {count}").unwrap();
        }
        std::fs::write(file(), text).unwrap();
    }
}
