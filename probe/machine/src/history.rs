//! The past of a target: the moments of a recording, which can be visited in any order.

use crate::snapshot::Snapshot;
use serde::{Deserialize, Serialize};

/// The moments of a target that has a past, in recorded order, from 0.
pub trait History {
    /// Returns the target time of each moment, in device cycles. Time runs backwards where a chip's
    /// clock began again.
    fn moments(&self) -> &[u64];
    /// Returns the index of the moment from which reads are answered.
    fn position(&self) -> usize;
    /// Returns the whole snapshot of that moment, as recorded; none if it is damaged.
    fn moment(&self) -> Option<&Snapshot>;
    /// Goes to a moment; an index past the end means the last one.
    fn seek(&mut self, index: usize);
    /// Returns, for each chip that a moment read, the number of bytes that differ from the moment
    /// before.
    fn changed_bytes(&self, index: usize) -> &[(u16, u32)];
    /// Returns the marks.
    fn marks(&self) -> &[Mark];
    /// Adds a mark, which is not kept in the file.
    fn mark(&mut self, mark: Mark);
}

/// A moment that somebody marked, or at which a verdict found something. Recordings keep it in this
/// form: new fields need a default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The target's own time, in device cycles.
    pub target_cycles: u64,
    /// Host time, in microseconds since the Unix epoch.
    pub host_micros: u64,
    /// What is marked.
    pub text: String,
    /// The condition that a live verdict named; none of a mark that a person set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The version of the meshscope that set it.
    #[serde(default)]
    pub made_by: String,
}

impl Mark {
    /// Returns a mark that this version sets.
    pub fn new(target_cycles: u64, host_micros: u64, text: impl Into<String>) -> Self {
        let made_by = env!("CARGO_PKG_VERSION").into();
        Self { target_cycles, host_micros, text: text.into(), condition: None, made_by }
    }
}
