//! The JSON of an explained finding.

use diagnosis::{Condition, Explanation};
use schemars::JsonSchema;
use serde::Serialize;

/// What a finding means.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Explained {
    /// Its name.
    condition: &'static str,
    /// What it means.
    meaning: &'static str,
    /// What it rests on, at both sides.
    evidence: &'static str,
    /// What would refute it.
    refuted_by: &'static str,
    /// What to look at next.
    next: &'static str,
}

impl Explained {
    /// Builds it.
    pub(crate) fn of(condition: Condition) -> Self {
        let Explanation { meaning, evidence, refuted_by, next } = condition.explanation();
        Self { condition: condition.name(), meaning, evidence, refuted_by, next }
    }
}
