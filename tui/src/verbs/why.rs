//! `why`: what stands still, what it waits for, and the likely causes, first the likeliest.

use super::target::Style;
use super::target::{end_of_all, open, report};
use crate::exit::{Failure, Outcome};
use crate::machine::Opening;
use crate::output::{json, say, text};
use crate::run::amount;
use crate::shape::Judged;
use crate::verdict;
use decode::state::MeshState;
use diagnosis::Severity;
use std::fmt::Write as _;

pub(super) fn run(target: &Opening, style: Style, over: &str) -> Result<Outcome, Failure> {
    let over = amount::time("--for", over).map_err(Failure::Usage)?;
    let mut machine = open(target)?;
    let watched =
        machine.diagnose(over).map_err(|gone| Failure::of_access(&target.words, &gone))?;
    let Some(last) = &watched.newest else {
        return Err(Failure::Internal("no snapshot was taken".to_owned()));
    };
    if let Some(gone) = end_of_all(&last.snapshot) {
        return Err(Failure::of_access(&target.words, gone));
    }
    // The report is about all snapshots.
    let state = MeshState { transactions: watched.transactions, ..last.state.clone() };
    report(target, &state);
    let diagnosis = &watched.diagnosis;
    if style.json {
        json(Judged::new(&target.words, diagnosis))?;
    } else {
        let mut page = verdict::page(diagnosis);
        if let Some(paragraph) = verdict::paragraph(&target.words, diagnosis) {
            let _ = write!(page, "\nTo paste into an issue:\n\n{paragraph}\n");
        }
        text(&page)?;
    }
    diagnosis.missing.iter().for_each(|missing| say(&format!("unknown: {missing}")));
    Ok(if diagnosis.findings.iter().any(|finding| finding.severity > Severity::Slow) {
        Outcome::Findings
    } else if !last.state.gaps.is_empty() || !diagnosis.missing.is_empty() {
        Outcome::Partial
    } else {
        Outcome::Healthy
    })
}
