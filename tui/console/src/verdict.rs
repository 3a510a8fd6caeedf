//! The verdict in words, for the verbs and the screens: how the mesh is, a headline, and the
//! causes, the likeliest first.

use crate::words;
use diagnosis::{Condition, Diagnosis, Finding, Progress, Severity};
use machine::words::counted;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Most causes that are printed.
pub const MOST: usize = 5;

/// The verdict as the verbs print it.
pub fn page(diagnosis: &Diagnosis) -> String {
    let mut page = format!("{}; {}\n", headline(diagnosis), cores(diagnosis));
    for (number, finding) in diagnosis.findings.iter().take(MOST).enumerate() {
        let _ = writeln!(page, "\n{}. {}", number + 1, title(finding));
        let mut lines = details(finding);
        lines.splice(1..1, since(diagnosis, finding));
        for line in lines {
            let _ = writeln!(page, "   {line}");
        }
    }
    if diagnosis.findings.len() > MOST {
        let _ = writeln!(page, "\n{} more findings: --json", diagnosis.findings.len() - MOST);
    }
    if let Some(line) = unidentified(diagnosis) {
        let _ = writeln!(page, "\n{line}");
    }
    let foot: Vec<String> = order(diagnosis).into_iter().chain(healthy(diagnosis)).collect();
    for (number, line) in foot.iter().enumerate() {
        let _ = writeln!(page, "{}{line}", if number == 0 { "\n" } else { "" });
    }
    page
}

/// Says that of some cores it is not known what runs on them.
pub fn unidentified(diagnosis: &Diagnosis) -> Option<String> {
    let cores = counted(diagnosis.unidentified as u64, "core", "cores");
    (diagnosis.unidentified > 0)
        .then(|| format!("unknown: what runs on {cores}; --elfs names its ELFs"))
}

/// Says since when the cause of a hang stands.
pub fn since(diagnosis: &Diagnosis, finding: &Finding) -> Option<String> {
    let stood = diagnosis.stood_cycles(finding)?;
    Some(format!("it has stood for at least {}", words::cycles(stood)))
}

/// Most parties that are listed in the order in which they stopped.
const MOST_STOPS: usize = 6;

/// Says which party stopped first, and which after it, as far as snapshots show it.
pub fn order(diagnosis: &Diagnosis) -> Option<String> {
    let hangs = |finding: &Finding| finding.severity == Severity::Hang;
    if diagnosis.stops.is_empty() || !diagnosis.findings.first().is_some_and(hangs) {
        return None;
    }
    let seen: Vec<String> = diagnosis
        .stops
        .iter()
        .filter(|stop| stop.seen)
        .map(|stop| format!("{} before {}", stop.party, words::cycles(stop.cycles)))
        .collect();
    let before = diagnosis.stops.len() - seen.len();
    Some(if seen.is_empty() {
        let parties = counted(before as u64, "party", "parties");
        format!("order: not seen; {parties} stood before the first snapshot")
    } else {
        let first =
            if before == 0 { String::new() } else { format!("{before} that stood before, then ") };
        let more = seen.len().saturating_sub(MOST_STOPS);
        let more = if more == 0 { String::new() } else { format!(", and {more} more") };
        let listed = seen.get(..MOST_STOPS).unwrap_or(&seen).join(", ");
        format!("order: {first}{listed}{more}")
    })
}

/// The chips of which nothing is found and on which nothing waits: they can be left alone.
pub fn healthy(diagnosis: &Diagnosis) -> Option<String> {
    let chips: Vec<String> = diagnosis.bystanders.iter().map(ToString::to_string).collect();
    let what = match chips.len() {
        _ if !diagnosis.missing.is_empty() || diagnosis.findings.is_empty() => return None,
        0 => return None,
        1 => "chip",
        _ => "chips",
    };
    Some(format!("healthy: {what} {}: nothing stands or waits there", chips.join(" ")))
}

/// The verdict on a target in one paragraph, to be pasted into an issue.
pub fn paragraph(target: &str, diagnosis: &Diagnosis) -> Option<String> {
    let finding = diagnosis.findings.first()?;
    let mut text = format!(
        "meshscope {} on {target} at {}, {}: {}; {}.",
        env!("CARGO_PKG_VERSION"),
        words::cycles(diagnosis.cycles),
        headline(diagnosis),
        title(finding),
        finding.sentence
    );
    if let Some(since) = since(diagnosis, finding) {
        let _ = write!(text, " {}{}.", since[..1].to_uppercase(), &since[1..]);
    }
    for evidence in &finding.evidence {
        let at = evidence.at.map_or(String::new(), |at| format!(" at {at}"));
        let _ = write!(text, " {} = {}{at}.", evidence.name, evidence.value);
    }
    if !finding.chain.is_empty() {
        let steps: Vec<String> = finding
            .chain
            .iter()
            .map(|step| format!("{} waits for {} of {}", step.waiter, step.reason, step.on))
            .collect();
        let _ = write!(text, " Chain: {}.", steps.join("; "));
    }
    let _ = write!(text, " Signature: {}.", finding.signature);
    Some(text)
}

/// Says whether anything stands still, and by what that is known.
pub fn headline(diagnosis: &Diagnosis) -> String {
    let over = words::cycles(diagnosis.over_cycles);
    let verdict = match diagnosis.findings.first().map(|first| first.severity) {
        _ if !diagnosis.missing.is_empty() => "unknown",
        Some(Severity::Hang) => "it stands still",
        Some(Severity::Fault) => "something is wrong, and nothing stands still",
        Some(Severity::Unfinished) => "not finished",
        Some(Severity::Slow) => "it moves, slowly",
        None if diagnosis.unidentified > 0 => "nothing is known to stand still",
        None => "nothing stands still",
    };
    let snapshots = counted(diagnosis.snapshots as u64, "snapshot", "snapshots");
    format!("{verdict} ({snapshots} over {over})")
}

/// Says how many cores do what; those that were never started do not count.
pub fn cores(diagnosis: &Diagnosis) -> String {
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
pub fn title(finding: &Finding) -> String {
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
pub fn details(finding: &Finding) -> Vec<String> {
    let Finding { sentence, next, evidence, chain, .. } = finding;
    let evidence = evidence.iter().map(|it| {
        let at = it.at.map_or(String::new(), |at| format!("  at {at}"));
        format!("{} = {}{at}", it.name, it.value)
    });
    let chain =
        chain.iter().map(|step| format!("{} waits for {}: {}", step.waiter, step.reason, step.on));
    let next = format!("next: {next}");
    std::iter::once(sentence.clone()).chain(evidence).chain(chain).chain([next]).collect()
}

/// What stands still, since when, and the root, in one line of at most this many columns; none if
/// nothing stands.
pub fn line(verdict: &Diagnosis, width: usize) -> Option<String> {
    // A mesh that was paused hangs no more than it did before, and says that it is paused.
    let first = verdict.findings.first().filter(|it| it.condition != Condition::Paused)?;
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
