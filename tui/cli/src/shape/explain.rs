//! The JSON of an explained finding, protocol or waypoint.

use decode::state::Protocol;
use diagnosis::{Condition, Explanation, Waypoint};
use schemars::JsonSchema;
use serde::Serialize;

/// Findings, protocols and waypoints, explained.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Explanations {
    /// The one that was asked for, or all.
    pub(crate) explanations: Vec<Explained>,
}

/// A finding, a protocol or a waypoint.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Explained {
    /// What a finding means.
    Finding(ExplainedFinding),
    /// The stages of a protocol.
    Protocol(ExplainedProtocol),
    /// What a waypoint means.
    Waypoint(Waypoint),
}

/// What a finding means.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExplainedFinding {
    /// Its name.
    condition: &'static str,
    #[serde(flatten)]
    explanation: Explanation,
}

/// A protocol.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExplainedProtocol {
    /// Its name.
    protocol: &'static str,
    /// The parties that have its stages.
    meaning: &'static str,
    /// The stages: a party is in the first of those whose signs hold.
    stages: Vec<ExplainedStage>,
}

/// A stage of a protocol.
#[derive(Serialize, JsonSchema)]
struct ExplainedStage {
    /// Its name; several entries can have the same.
    stage: &'static str,
    /// What happens in it, and what ends it.
    meaning: &'static str,
    /// The facts that show it, all of them.
    signs: Vec<String>,
    /// Who must act before it ends.
    next: String,
    /// How the host can hold a party in it; - if it cannot.
    hold: String,
    /// The stages that can follow.
    then: &'static [&'static str],
}

impl Explained {
    /// Builds that of a finding.
    pub(crate) fn of(condition: Condition) -> Self {
        let (condition, explanation) = (condition.name(), condition.explanation());
        Self::Finding(ExplainedFinding { condition, explanation })
    }

    /// Builds that of a protocol.
    pub(crate) fn of_protocol(protocol: &Protocol) -> Self {
        let stages = protocol.stages.iter().map(|stage| ExplainedStage {
            stage: stage.name,
            meaning: stage.meaning,
            signs: stage.signs.iter().map(ToString::to_string).collect(),
            next: stage.next.to_string(),
            hold: stage.hold.to_string(),
            then: stage.then,
        });
        let Protocol { name, about, .. } = protocol;
        Self::Protocol(ExplainedProtocol {
            protocol: name,
            meaning: about,
            stages: stages.collect(),
        })
    }
}
