//! The bank of hangs judged: the verdict on each drawn run beside its truth.

use super::{Kind, Staged, Truth};
use diagnosis::{Condition, Finding, Severity};
use images::ImageMap;
use probe::session::{Session, WATCHED_CYCLES, Watched};
use std::fmt::Write as _;

/// A run of the bank and the verdict on it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Its kind.
    pub kind: Kind,
    /// The seed.
    pub seed: u64,
    /// Mesh, run, place and time.
    pub about: String,
    /// What is wrong; none: healthy.
    pub truth: Option<Truth>,
    /// The findings.
    pub findings: Vec<Finding>,
    /// Bus transactions of all snapshots.
    pub transactions: u64,
}

impl Judged {
    /// Returns the condition that was named first.
    pub fn named(&self) -> Option<Condition> {
        self.findings.first().map(|finding| finding.condition)
    }

    /// Whether the true cause was named first; of a healthy run, that nothing worse than slow was
    /// found.
    pub fn is_right(&self) -> bool {
        match &self.truth {
            None => !self.cries(),
            Some(truth) if truth.severity == Severity::Slow => {
                !self.cries() && self.named() == Some(truth.condition)
            }
            Some(truth) => self.named() == Some(truth.condition),
        }
    }

    /// Whether the first finding is at the true place.
    pub fn is_exact(&self) -> bool {
        let first = self.findings.first();
        match &self.truth {
            None => self.is_right(),
            Some(truth) => first.is_some_and(|first| truth.root.contains(&first.place)),
        }
    }

    /// Whether anything worse than slow was found.
    fn cries(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity > Severity::Slow)
    }

    /// Returns the verdict and the truth in a line each.
    pub fn words(&self) -> String {
        let mut words = format!("{} {}: {}", self.kind.name(), self.seed, self.about);
        if let Some(truth) = &self.truth {
            let roots: Vec<String> = truth.root.iter().map(ToString::to_string).collect();
            let _ =
                write!(words, "\n  truth: {} at {}", truth.condition.name(), roots.join(" or "));
        }
        for finding in self.findings.iter().take(5) {
            let Finding { condition, place, sentence, waiting, severity, .. } = finding;
            let _ = write!(
                words,
                "\n  {severity:?} {} at {place}, {waiting} wait: {sentence}",
                condition.name()
            );
        }
        words
    }
}

/// Draws a run and judges it, as a person does who attaches to the mesh.
///
/// # Errors
/// What is wrong with the run or its mesh, one sentence.
pub fn judge(kind: Kind, seed: u64) -> Result<Judged, String> {
    let staged = kind.stage(seed);
    judge_staged(kind, seed, staged.map_err(|error| format!("{} {seed}: {error}", kind.name()))?)
}

/// Judges a run that was drawn from a seed.
///
/// # Errors
/// As [`judge`].
pub fn judge_staged(kind: Kind, seed: u64, staged: Staged) -> Result<Judged, String> {
    let failed = |error: &dyn ToString| format!("{} {seed}: {}", kind.name(), error.to_string());
    let (images, _) = ImageMap::firmware();
    let mut session = Session::with_target(Box::new(staged.target), images);
    let Watched { diagnosis, transactions, .. } =
        session.diagnose(WATCHED_CYCLES).map_err(|error| failed(&error))?;
    Ok(Judged {
        kind,
        seed,
        about: staged.about,
        truth: staged.truth,
        findings: diagnosis.findings,
        transactions,
    })
}
