//! The JSON of a verdict.

use diagnosis::{Diagnosis, Stop};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The verdict on a mesh by some snapshots of it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Judged<'a> {
    /// The words of `--target`.
    target: &'a str,
    /// The target's time at the last snapshot, in cycles of a nanosecond.
    cycles: u64,
    /// Number of snapshots.
    snapshots: usize,
    /// Time from the first to the last one, in cycles.
    over_cycles: u64,
    /// The number of cores by what they do: progressing, waiting, still, never started, ended, in
    /// reset, unreachable or unknown.
    progress: BTreeMap<&'static str, usize>,
    /// What is missing for a verdict, one sentence each.
    unknown: &'a [String],
    /// When each party that stands came to a stand, the first one first.
    stops: Vec<Stopped>,
    /// The chips that no finding and no wait touches.
    healthy_chips: Vec<u16>,
    /// The findings, the likeliest cause first.
    findings: Vec<Found<'a>>,
}

/// A finding.
#[derive(Serialize, JsonSchema)]
struct Found<'a> {
    /// Its citable name, such as `link-down`.
    condition: &'static str,
    /// slow, fault or hang.
    severity: &'static str,
    /// possible, likely or certain.
    confidence: &'static str,
    /// Where it is, in words.
    place: String,
    /// What was found, one sentence.
    sentence: &'a str,
    /// The number of parties that wait for it, directly or through others.
    waiting: usize,
    /// What it rests on.
    evidence: Vec<Rests<'a>>,
    /// The chain from the symptom to the cause.
    chain: Vec<Wait>,
    /// The target's time at the first snapshot that shows it, or those that wait for it, as they
    /// stand now, in cycles; null if nothing stands.
    since_cycles: Option<u64>,
    /// Condition, kernel, waypoint and chain without places: equal for equal hangs.
    signature: &'a str,
    /// What to look at next.
    next: &'static str,
}

/// A party that stands.
#[derive(Serialize, JsonSchema)]
struct Stopped {
    /// The party.
    who: String,
    /// The target's time at the first snapshot that shows it as it stands now, in cycles.
    cycles: u64,
    /// Whether an earlier snapshot shows it otherwise: if not, it may have stopped long before.
    seen: bool,
}

/// A word that a finding rests on.
#[derive(Serialize, JsonSchema)]
struct Rests<'a> {
    /// Its name.
    name: &'a str,
    /// Its address; null if it is not one word.
    at: Option<String>,
    /// What it held.
    value: &'a str,
}

/// A wait.
#[derive(Serialize, JsonSchema)]
struct Wait {
    /// The party that waits.
    who: String,
    /// What it waits for.
    r#for: &'static str,
    /// From whom.
    on: String,
}

impl Stopped {
    fn new(stop: &Stop) -> Self {
        Self { who: stop.party.to_string(), cycles: stop.cycles, seen: stop.seen }
    }
}

impl<'a> Judged<'a> {
    /// Builds it.
    pub(crate) fn new(target: &'a str, diagnosis: &'a Diagnosis) -> Self {
        let Diagnosis { snapshots, cycles, over_cycles, missing, .. } = diagnosis;
        let mut progress: BTreeMap<&'static str, usize> = BTreeMap::new();
        for one in diagnosis.progress.values() {
            *progress.entry(one.word()).or_default() += 1;
        }
        let findings = diagnosis.findings.iter().map(|finding| Found {
            condition: finding.condition.name(),
            severity: finding.severity.word(),
            confidence: finding.confidence.word(),
            place: finding.place.to_string(),
            sentence: &finding.sentence,
            waiting: finding.waiting,
            evidence: finding
                .evidence
                .iter()
                .map(|it| Rests {
                    name: &it.name,
                    at: it.at.map(|at| at.to_string()),
                    value: &it.value,
                })
                .collect(),
            chain: finding
                .chain
                .iter()
                .map(|step| Wait {
                    who: step.waiter.to_string(),
                    r#for: step.reason.word(),
                    on: step.on.to_string(),
                })
                .collect(),
            since_cycles: finding.since_cycles,
            signature: &finding.signature,
            next: finding.condition.explanation().next,
        });
        let (snapshots, cycles, over_cycles) = (*snapshots, *cycles, *over_cycles);
        Self {
            target,
            cycles,
            snapshots,
            over_cycles,
            progress,
            unknown: missing,
            stops: diagnosis.stops.iter().map(Stopped::new).collect(),
            healthy_chips: diagnosis.bystanders.iter().map(|chip| chip.0).collect(),
            findings: findings.collect(),
        }
    }
}
