//! The verdict in words, for the verbs and the screen: a headline, then the causes, the likeliest
//! first.

use crate::words;
use diagnosis::{Diagnosis, Finding, Progress, Severity};
use machine::words::counted;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Most causes that are printed.
const MOST: usize = 5;

/// The verdict as the verbs print it.
pub(crate) fn page(diagnosis: &Diagnosis) -> String {
    let mut page = String::new();
    let line = headline(diagnosis);
    let _ = writeln!(page, "{line}");
    for (number, finding) in diagnosis.findings.iter().take(MOST).enumerate() {
        cause(&mut page, number + 1, finding);
    }
    if diagnosis.findings.len() > MOST {
        let _ = writeln!(page, "\n{} more findings: --json", diagnosis.findings.len() - MOST);
    }
    page
}

/// Says in one line what stands and since when, and what each core does.
fn headline(diagnosis: &Diagnosis) -> String {
    let over = words::cycles(diagnosis.over_cycles);
    let verdict = match diagnosis.findings.first().map(|first| first.severity) {
        _ if !diagnosis.missing.is_empty() => "unknown",
        Some(Severity::Hang) => "it stands still",
        Some(Severity::Fault) => "something is wrong, and nothing stands still",
        Some(Severity::Slow) => "it moves, slowly",
        None => "nothing stands still",
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for progress in diagnosis.progress.values() {
        *counts.entry(progress.word()).or_default() += 1;
    }
    let idle = Progress::NeverStarted.word();
    let busy = counts.iter().filter(|(word, _)| **word != idle);
    let cores: Vec<String> = busy.map(|(word, count)| format!("{count} {word}")).collect();
    let cores = if cores.is_empty() { "none was started".to_owned() } else { cores.join(", ") };
    format!(
        "{verdict} ({} over {over}); cores: {cores}",
        counted(diagnosis.snapshots as u64, "snapshot", "snapshots")
    )
}

fn cause(page: &mut String, number: usize, finding: &Finding) {
    let Finding { condition, severity, sentence, evidence, chain, waiting, confidence, .. } =
        finding;
    let waits = match waiting {
        0 => String::new(),
        1 => ", 1 party waits for it".to_owned(),
        many => format!(", {many} parties wait for it"),
    };
    let _ = writeln!(
        page,
        "\n{number}. {} ({}, {}{waits})\n   {sentence}",
        condition.name(),
        severity.word(),
        confidence.word()
    );
    for evidence in evidence {
        let at = evidence.at.map_or(String::new(), |at| format!("  at {at}"));
        let _ = writeln!(page, "   {} = {}{at}", evidence.name, evidence.value);
    }
    for step in chain {
        let _ = writeln!(page, "   {} waits for {}: {}", step.waiter, step.reason, step.on);
    }
    let _ = writeln!(page, "   next: {}", condition.explanation().next);
}
