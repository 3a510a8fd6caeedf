//! The JSON of a health check.

use decode::state::MeshState;
use diagnosis::{Finding, Severity};
use schemars::JsonSchema;
use serde::Serialize;

/// Whether a mesh is healthy.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Checked<'a> {
    /// The words of `--target`.
    target: &'a str,
    /// The target's time at the last snapshot, in cycles of a nanosecond.
    cycles: u64,
    /// Whether no condition is worse than slow.
    healthy: bool,
    /// Ranges that could not be read.
    gaps: usize,
    /// What is not as it should be.
    conditions: Vec<Condition<'a>>,
}

/// A condition that is not as it should be.
#[derive(Serialize, JsonSchema)]
struct Condition<'a> {
    /// Its stable name: that of a finding of `why`, of a difference of `mesh --expect`, or
    /// crc-errors.
    condition: &'a str,
    /// slow, fault or hang.
    severity: &'static str,
    /// Where it is, in words.
    place: &'a str,
    /// What was found.
    sentence: &'a str,
}

/// A condition that is not as it should be.
pub(crate) struct Unhealthy {
    /// Its stable name.
    pub(crate) condition: &'static str,
    /// How bad it is.
    pub(crate) severity: Severity,
    /// Where it is, in words.
    pub(crate) place: String,
    /// What was found.
    pub(crate) sentence: String,
}

impl Unhealthy {
    /// Takes a finding.
    pub(crate) fn finding(finding: &Finding) -> Self {
        Self {
            condition: finding.condition.name(),
            severity: finding.severity,
            place: finding.place.to_string(),
            sentence: finding.sentence.clone(),
        }
    }

    /// Returns a fault.
    pub(crate) fn fault(condition: &'static str, place: String, sentence: String) -> Self {
        Self { condition, severity: Severity::Fault, place, sentence }
    }
}

impl<'a> Checked<'a> {
    /// Builds it.
    pub(crate) fn new(
        target: &'a str,
        state: &MeshState,
        healthy: bool,
        found: &'a [Unhealthy],
    ) -> Self {
        let conditions = found.iter().map(|it| Condition {
            condition: it.condition,
            severity: it.severity.word(),
            place: &it.place,
            sentence: &it.sentence,
        });
        let (cycles, gaps) = (state.cycles, state.gaps.len());
        Self { target, cycles, healthy, gaps, conditions: conditions.collect() }
    }
}
