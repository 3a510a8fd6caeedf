//! The JSON of a health check.

use decode::state::MeshState;
use diagnosis::{Diagnosis, Health};
use schemars::JsonSchema;
use serde::Serialize;

/// Whether a mesh is healthy.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Checked<'a> {
    /// The words of `--target`.
    target: &'a str,
    /// The target's time at the last snapshot, in cycles of a nanosecond.
    cycles: u64,
    /// Whether enough is known, without gaps, and no condition is worse than slow.
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
    condition: &'static str,
    /// slow, fault or hang.
    severity: &'static str,
    /// Where it is, in words.
    place: String,
    /// What was found.
    sentence: &'a str,
}

impl<'a> Checked<'a> {
    /// Builds it.
    pub(crate) fn new(target: &'a str, state: &MeshState, diagnosis: &'a Diagnosis) -> Self {
        let conditions = diagnosis.findings.iter().map(|it| Condition {
            condition: it.condition.name(),
            severity: it.severity.word(),
            place: it.place.to_string(),
            sentence: &it.sentence,
        });
        let (cycles, gaps) = (state.cycles, state.gaps.len());
        let healthy = gaps == 0 && matches!(Health::of(diagnosis), Health::Healthy | Health::Slow);
        Self { target, cycles, healthy, gaps, conditions: conditions.collect() }
    }
}
