//! The study `why`: a row for each kind of the bank, and a run of it as a recording.

use super::{Judged, Kind, judge};
use diagnosis::{Condition, Severity};
use images::ImageMap;
use probe::session::{Session, WATCHED_CYCLES};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;
use studies::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column};

/// The verdict on each run of a bank of hangs beside its truth.
pub const STUDY: Study = Study {
    name: "why",
    about: "Judge runs of a bank of hangs, faults, slow and healthy runs as `why` does, and compare each verdict with its truth",
    options: &[
        Choice::optional("kind", "KIND", "Only runs of this kind; a wrong name lists all"),
        Choice::new("seed", "N", "0", "The first seed: mesh, run, place, time and parameters"),
        Choice::new("seeds", "N", "1", "Number of seeds of each kind"),
        Choice::optional(
            "record",
            "FILE",
            "Record the run of --kind and --seed instead, with a mark at what is found",
        ),
    ],
    tables: &[KINDS],
    run,
};

/// Most seeds: a seed of all kinds takes minutes.
const MOST_SEEDS: u64 = 100_000;
/// Moments of a recorded run, and the time between them: what a verdict rests on.
const MOMENTS: u64 = 12;
const EVERY_CYCLES: u64 = 5_000_000;
const KINDS: Table = Table {
    name: "rows",
    columns: &[
        column("KIND", "kind", Unit::Text(22)),
        column("TRUTH", "truth", Unit::Text(7)),
        column("RUNS", "runs", Unit::Count),
        column("RIGHT", "right", Unit::Count),
        column("EXACT", "exact", Unit::Count),
        column("NAMED FIRST", "named_first", Unit::Text(0)),
    ],
};

/// The verdicts on the runs of a kind.
struct Verdicts {
    kind: Kind,
    runs: u64,
    /// Runs whose true cause was named first; of healthy ones, those without a finding worse than
    /// slow.
    right: u64,
    /// Runs whose true place was named first.
    exact: u64,
    /// The conditions that were named first, with the number of runs.
    named: BTreeMap<&'static str, u64>,
}

impl Verdicts {
    fn add(&mut self, judged: &Judged) {
        self.runs += 1;
        self.right += u64::from(judged.is_right());
        self.exact += u64::from(judged.is_exact());
        let named = judged.named().map_or("none", Condition::name);
        *self.named.entry(named).or_insert(0) += 1;
    }

    fn row(&self) -> Value {
        let named: Vec<String> =
            self.named.iter().map(|(name, count)| format!("{name} {count}")).collect();
        json!({
            "kind": self.kind.name(),
            "truth": self.kind.severity().map_or("healthy", Severity::word),
            "runs": self.runs,
            "right": self.right,
            "exact": self.exact,
            "named_first": named.join(", "),
            "named": self.named,
        })
    }
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let (seed, seeds) = (options.seed()?, options.number("seeds", [1, MOST_SEEDS])?);
    let kinds = match options.get("kind") {
        None => Kind::ALL.to_vec(),
        Some(name) => vec![Kind::named(name).ok_or_else(|| unknown(name))?],
    };
    match (options.get("record"), &kinds[..]) {
        (None, _) => {}
        (Some(file), &[kind]) => return record(kind, seed, Path::new(file), report),
        (Some(_), _) => return Err(StudyError::Usage("--record needs --kind".to_owned())),
    }
    report.fact("seed", seed);
    report.fact("seeds", seeds);
    report.fact("over_cycles", WATCHED_CYCLES);
    let (started, mut all) = (Instant::now(), Vec::new());
    for kind in kinds {
        let mut verdicts = Verdicts { kind, runs: 0, right: 0, exact: 0, named: BTreeMap::new() };
        for seed in seed..seed.saturating_add(seeds) {
            match judge(kind, seed) {
                Ok(judged) => {
                    if !judged.is_right() || !judged.is_exact() {
                        report.note(judged.words());
                    }
                    verdicts.add(&judged);
                }
                // A draw that could not be brought to its point.
                Err(error) => report.note(error),
            }
        }
        report.row(&KINDS, verdicts.row());
        all.push(verdicts);
    }
    let sum = |sick: bool, of: fn(&Verdicts) -> u64| {
        all.iter().filter(|it| it.kind.severity().is_some() == sick).map(of).sum::<u64>()
    };
    let [sick, right, exact] =
        [|it: &Verdicts| it.runs, |it: &Verdicts| it.right, |it: &Verdicts| it.exact]
            .map(|of| sum(true, of));
    let (healthy, quiet) = (sum(false, |it| it.runs), sum(false, |it| it.right));
    report.note(format!(
        "of {sick} hangs, faults and slow runs the cause was named first in {right}, its place in {exact}; {quiet} of {healthy} healthy runs had no finding worse than slow"
    ));
    report.note(format!(
        "each was watched for {} ms by 4 snapshots, or 5; the study took {} s",
        WATCHED_CYCLES / 1_000_000,
        started.elapsed().as_secs()
    ));
    Ok(right == sick && exact == sick && quiet == healthy)
}

/// Records a run of the bank, and marks what is found at its last moment.
fn record(kind: Kind, seed: u64, file: &Path, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let name = kind.name();
    let failed = |why: &dyn ToString| StudyError::Internal(format!("{name}: {}", why.to_string()));
    let staged = kind.stage(seed).map_err(|error| failed(&error))?;
    report.note(staged.about);
    let (images, _) = ImageMap::firmware();
    let session = Session::with_target(Box::new(staged.target), images);
    let asked = format!("study why --kind {name} --seed {seed}");
    let order = (MOMENTS, EVERY_CYCLES);
    report.note(cli::record_session(session, &asked, file, order).map_err(|why| failed(&why))?);
    Ok(true)
}

fn unknown(name: &str) -> StudyError {
    let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    StudyError::Usage(format!("--kind: '{name}' is none of {}", names.join(", ")))
}
