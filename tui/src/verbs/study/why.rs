//! `study why`: the verdict on each run of a bank of hangs beside its truth.

use super::lines::Lines;
use super::traffic::count;
use crate::args::WhyStudyArguments;
use crate::exit::{Failure, Outcome};
use crate::machine::{Machine, Opening};
use crate::output::{json, say};
use crate::recording::RecordingFile;
use crate::verbs::record::keep_moments;
use crate::verbs::target::Style;
use images::ImageMap;
use probe::session::Session;
use probe::why::{Judged, WATCHED_CYCLES, judge};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use workloads::study::why::Kind;

/// Most seeds: a seed of all kinds takes minutes.
const MOST_SEEDS: u64 = 100_000;
/// Moments of a recorded run, and the time between them: what a verdict rests on.
const MOMENTS: u64 = 12;
const EVERY_CYCLES: u64 = 5_000_000;
const HEAD: [&str; 6] = ["KIND", "TRUTH", "RUNS", "RIGHT", "EXACT", "NAMED FIRST"];
const WIDTHS: [usize; 6] = [22, 7, 4, 5, 5, 0];

/// The verdicts on a bank of hangs, faults, slow and healthy runs.
#[derive(Serialize, JsonSchema)]
pub(in crate::verbs) struct Verdicts {
    /// The first seed.
    seed: u64,
    /// Seeds of each kind.
    seeds: u64,
    /// Time over which each run was watched, in cycles of a nanosecond.
    over_cycles: u64,
    /// A row for each kind.
    rows: Vec<Row>,
}

/// The verdicts on the runs of a kind.
#[derive(Serialize, JsonSchema)]
struct Row {
    /// The kind.
    kind: &'static str,
    /// slow, fault or hang; null for a healthy run.
    truth: Option<&'static str>,
    /// Runs that were judged.
    runs: u64,
    /// Runs whose true cause was named first; of healthy ones, those without a finding worse than
    /// slow.
    right: u64,
    /// Runs whose true place was named first.
    exact: u64,
    /// The conditions that were named first, with the number of runs; `none` without a finding.
    named: BTreeMap<&'static str, u64>,
    /// Draws that could not be brought to their point, one sentence each.
    failed: Vec<String>,
}

impl Row {
    fn new(kind: Kind) -> Self {
        Self {
            kind: kind.name(),
            truth: kind.severity().map(diagnosis::Severity::word),
            runs: 0,
            right: 0,
            exact: 0,
            named: BTreeMap::new(),
            failed: Vec::new(),
        }
    }

    fn add(&mut self, judged: &Judged) {
        self.runs += 1;
        self.right += u64::from(judged.is_right());
        self.exact += u64::from(judged.is_exact());
        let named = judged.named().map_or("none", diagnosis::Condition::name);
        *self.named.entry(named).or_insert(0) += 1;
    }

    fn cells(&self) -> Vec<String> {
        let named: Vec<String> =
            self.named.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let truth = self.truth.map_or("healthy", |word| word);
        let mut cells = vec![self.kind.to_owned(), truth.to_owned()];
        cells.extend([self.runs, self.right, self.exact].map(|count| count.to_string()));
        cells.push(named.join(", "));
        cells
    }
}

/// Runs it.
pub(in crate::verbs) fn why(style: Style, options: &WhyStudyArguments) -> Result<Outcome, Failure> {
    let seeds = count("seeds", &options.seeds, MOST_SEEDS)?;
    let kinds: Vec<Kind> = match &options.kind {
        None => Kind::ALL.to_vec(),
        Some(name) => vec![Kind::named(name).ok_or_else(|| unknown(name))?],
    };
    if let (Some(file), [kind]) = (&options.record, &kinds[..]) {
        return record(*kind, options.seed, file);
    }
    let started = Instant::now();
    let mut lines = Lines::new(style, &HEAD, &WIDTHS);
    let mut rows = Vec::new();
    for kind in kinds {
        let mut row = Row::new(kind);
        for seed in options.seed..options.seed.saturating_add(seeds) {
            match judge(kind, seed) {
                Ok(judged) => {
                    if !judged.is_right() || !judged.is_exact() {
                        say(&judged.words());
                    }
                    row.add(&judged);
                }
                Err(error) => row.failed.push(error),
            }
        }
        row.failed.iter().for_each(|error| say(error));
        lines.say(&row.cells());
        rows.push(row);
    }
    lines.end()?;
    conclude(style, options.seed, seeds, rows, started.elapsed())
}

/// Records a run of the bank, and marks what is found at its last moment.
fn record(kind: Kind, seed: u64, file: &Path) -> Result<Outcome, Failure> {
    let failed =
        |why: &dyn ToString| Failure::Internal(format!("{}: {}", kind.name(), why.to_string()));
    let staged = kind.stage(seed).map_err(|error| failed(&error))?;
    say(&staged.about);
    let kept = RecordingFile::new(file)?;
    let (images, _) = ImageMap::firmware();
    let mut machine = Machine::with_session(Session::with_target(Box::new(staged.target), images));
    let words = format!("study why --kind {} --seed {seed}", kind.name());
    kept.create(machine.target(), (&words, Some(EVERY_CYCLES)))?;
    let opening = Opening::of_words(&words);
    keep_moments(&mut machine, &opening, &kept, (MOMENTS, EVERY_CYCLES))?;
    let verdict = machine.diagnose(WATCHED_CYCLES).map_err(|error| failed(&error))?.diagnosis;
    if let Some(found) = verdict.findings.first() {
        kept.mark_finding(found)?;
    }
    say(&kept.end()?);
    Ok(Outcome::Healthy)
}

fn conclude(
    style: Style,
    seed: u64,
    seeds: u64,
    rows: Vec<Row>,
    took: Duration,
) -> Result<Outcome, Failure> {
    let sum = |of: fn(&Row) -> u64, sick: bool| {
        rows.iter().filter(|row| row.truth.is_some() == sick).map(of).sum::<u64>()
    };
    let [sick, right, exact] = [|row: &Row| row.runs, |row: &Row| row.right, |row: &Row| row.exact]
        .map(|of| sum(of, true));
    let (healthy, quiet) = (sum(|row| row.runs, false), sum(|row| row.right, false));
    let all_right = right == sick && exact == sick && quiet == healthy;
    let over_cycles = probe::why::WATCHED_CYCLES;
    if style.json {
        json(Verdicts { seed, seeds, over_cycles, rows })?;
    }
    say(&format!(
        "of {sick} hangs, faults and slow runs the cause was named first in {right}, its place in {exact}; {quiet} of {healthy} healthy runs had no finding worse than slow"
    ));
    say(&format!(
        "each was watched for {} ms by 4 snapshots, or 5; the study took {} s",
        over_cycles / 1_000_000,
        took.as_secs()
    ));
    Ok(if all_right { Outcome::Healthy } else { Outcome::Findings })
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    Failure::Usage(format!("--kind: '{name}' is none of {}", names.join(", ")))
}
