//! The JSON of a verdict.

use diagnosis::Diagnosis;
use schemars::JsonSchema;
use serde::Serialize;

/// The verdict on a mesh by some snapshots of it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Judged<'a> {
    /// The words of `--target`.
    pub(crate) target: &'a str,
    #[serde(flatten)]
    pub(crate) verdict: &'a Diagnosis,
}
