//! The verdict in words, for the verbs and the screens: how the mesh is, a headline, and the
//! causes, the likeliest first.

use crate::words;
use diagnosis::{Diagnosis, Finding, Progress, Severity};
use machine::words::counted;
use probe::session::Verdict;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Most causes that are printed.
pub(crate) const MOST: usize = 5;

/// How a mesh is, by its worst finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    /// Nothing was found.
    Healthy,
    /// Something moves slower than its peers.
    Slow,
    /// Something is wrong, and nothing stands still because of it.
    Fault,
    /// Something stands still.
    Hang,
    /// Too little is known for a verdict.
    Unknown,
}

impl Health {
    /// Judges by a diagnosis. A fault is one however little was seen.
    pub(crate) fn of(diagnosis: &Diagnosis) -> Self {
        match diagnosis.findings.first().map(|first| first.severity) {
            Some(Severity::Fault) => Self::Fault,
            _ if !diagnosis.missing.is_empty() => Self::Unknown,
            Some(Severity::Hang) => Self::Hang,
            Some(Severity::Slow) => Self::Slow,
            None => Self::Healthy,
        }
    }

    /// The word of the header.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Slow => "slow",
            Self::Fault => "fault",
            Self::Hang => "hang",
            Self::Unknown => "unknown",
        }
    }
}

/// The verdict as the verbs print it.
pub(crate) fn page(diagnosis: &Diagnosis) -> String {
    let mut page = format!("{}; {}\n", headline(diagnosis), cores(diagnosis));
    for (number, finding) in diagnosis.findings.iter().take(MOST).enumerate() {
        let _ = writeln!(page, "\n{}. {}", number + 1, title(finding));
        for line in details(finding) {
            let _ = writeln!(page, "   {line}");
        }
    }
    if diagnosis.findings.len() > MOST {
        let _ = writeln!(page, "\n{} more findings: --json", diagnosis.findings.len() - MOST);
    }
    page
}

/// Says whether anything stands still, and by what that is known.
pub(crate) fn headline(diagnosis: &Diagnosis) -> String {
    let over = words::cycles(diagnosis.over_cycles);
    let verdict = match diagnosis.findings.first().map(|first| first.severity) {
        _ if !diagnosis.missing.is_empty() => "unknown",
        Some(Severity::Hang) => "it stands still",
        Some(Severity::Fault) => "something is wrong, and nothing stands still",
        Some(Severity::Slow) => "it moves, slowly",
        None => "nothing stands still",
    };
    let snapshots = counted(diagnosis.snapshots as u64, "snapshot", "snapshots");
    format!("{verdict} ({snapshots} over {over})")
}

/// Says how many cores do what; those that were never started do not count.
pub(crate) fn cores(diagnosis: &Diagnosis) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for progress in diagnosis.progress.values() {
        *counts.entry(progress.word()).or_default() += 1;
    }
    let idle = Progress::NeverStarted.word();
    let busy = counts.iter().filter(|(word, _)| **word != idle);
    let cores: Vec<String> = busy.map(|(word, count)| format!("{count} {word}")).collect();
    let cores = if cores.is_empty() { "none was started".to_owned() } else { cores.join(", ") };
    format!("cores: {cores}")
}

/// The name of a cause, how bad and how sure it is, and how many wait for it.
pub(crate) fn title(finding: &Finding) -> String {
    let Finding { condition, severity, confidence, waiting, .. } = finding;
    let waits = match waiting {
        0 => String::new(),
        1 => ", 1 party waits for it".to_owned(),
        many => format!(", {many} parties wait for it"),
    };
    format!("{} ({}, {}{waits})", condition.name(), severity.word(), confidence.word())
}

/// What was found, its evidence, the chain of waits from the symptom to the cause, and the next
/// check.
pub(crate) fn details(finding: &Finding) -> Vec<String> {
    let Finding { condition, sentence, evidence, chain, .. } = finding;
    let evidence = evidence.iter().map(|it| {
        let at = it.at.map_or(String::new(), |at| format!("  at {at}"));
        format!("{} = {}{at}", it.name, it.value)
    });
    let chain =
        chain.iter().map(|step| format!("{} waits for {}: {}", step.waiter, step.reason, step.on));
    let next = format!("next: {}", condition.explanation().next);
    std::iter::once(sentence.clone()).chain(evidence).chain(chain).chain([next]).collect()
}

/// What stands still, since when, and the root, in one line of at most this many columns; none if
/// nothing stands.
pub(crate) fn line(verdict: &Verdict, width: usize) -> Option<String> {
    let first = verdict.diagnosis.findings.first()?;
    let stood = words::cycles(verdict.stood_cycles(first)?);
    let (name, place) = (first.condition.name(), first.place);
    let waits = match first.waiting {
        0 => String::new(),
        many => format!(", {many} wait"),
    };
    let lines = [
        format!("hang: {name} at {place} for at least {stood}{waits} (w: why)"),
        format!("hang: {name} at {place} for at least {stood} (w: why)"),
        format!("hang >={stood}: {name} at {place} (w: why)"),
        format!("hang >={stood}: {place} (w: why)"),
        format!("hang >={stood}: {place} (w)"),
    ];
    let fits = lines.iter().find(|line| line.chars().count() <= width).or(lines.last())?;
    Some(fits.chars().take(width).collect())
}
