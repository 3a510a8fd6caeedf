//! Health: how a mesh is, in one word. Verbs, screens and exit codes take it from here.

use crate::condition::{Condition, Severity};
use crate::finding::Finding;
use crate::progress::Progress;
use crate::verdict::Diagnosis;
use decode::state::{MeshState, RouterState, Verdict};

/// How a mesh is, by its worst finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Nothing was found.
    Healthy,
    /// Something moves slower than its peers.
    Slow,
    /// An operation has not ended, and nothing shows that it moves.
    NotFinished,
    /// Something is wrong, and nothing stands still because of it.
    Fault,
    /// Kernels were paused, and nothing stands still for another reason.
    Paused,
    /// Something stands still.
    Hang,
    /// Too little is known for a verdict.
    Unknown,
}

impl Health {
    /// Judges by a diagnosis. A fault is one however little was seen.
    pub fn of(diagnosis: &Diagnosis) -> Self {
        let hangs =
            |it: &Finding| it.severity == Severity::Hang && it.condition != Condition::Paused;
        match diagnosis.findings.iter().map(|it| it.severity).max() {
            Some(Severity::Fault) => Self::Fault,
            Some(Severity::Hang) if diagnosis.findings.iter().any(hangs) => Self::Hang,
            _ if diagnosis.progress.values().any(|it| *it == Progress::Paused) => Self::Paused,
            _ if !diagnosis.missing.is_empty() => Self::Unknown,
            None if diagnosis.unidentified > 0 => Self::Unknown,
            Some(Severity::Hang) => Self::Hang,
            Some(Severity::Unfinished) => Self::NotFinished,
            Some(Severity::Slow) => Self::Slow,
            None => Self::Healthy,
        }
    }

    /// Judges by one snapshot, which proves no hang. Problems together with gaps are mostly caused
    /// by them, so only a link, router or image that is known to be bad outweighs a gap.
    pub fn of_snapshot(state: &MeshState) -> Self {
        let cores = || state.chips.iter().flat_map(|c| &c.tiles).flat_map(|t| &t.cores);
        let images = |wrong| cores().flat_map(|c| &c.findings).any(|f| f.is_unknown() != wrong);
        let fabric = &state.fabric;
        let wrong = state.links.iter().any(|link| link.condition.is_dead())
            || fabric.ledgers.iter().any(|ledger| ledger.verdict == Verdict::Miscounted)
            || fabric.routers.iter().any(RouterState::refused);
        if wrong || images(true) {
            Self::Fault
        } else if !state.gaps.is_empty() || images(false) {
            Self::Unknown
        } else if state.problems.len() > state.damage {
            Self::Fault
        } else if state.damage > 0 {
            Self::Unknown
        } else {
            Self::Healthy
        }
    }

    /// Whether something is wrong, which is more than slow.
    pub fn is_sick(self) -> bool {
        matches!(self, Self::NotFinished | Self::Fault | Self::Paused | Self::Hang)
    }

    /// Returns the word that is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Slow => "slow",
            Self::NotFinished => "not finished",
            Self::Fault => "fault",
            Self::Paused => "paused",
            Self::Hang => "hang",
            Self::Unknown => "unknown",
        }
    }
}
