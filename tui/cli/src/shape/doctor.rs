//! The JSON of `doctor`.

use schemars::JsonSchema;
use serde::Serialize;
use transport::silicon::host::{Grade, HostFact};

/// What is known of the host and its cards.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Checkup {
    /// The facts, in the order of the table.
    facts: Vec<Fact>,
}

/// A fact about the host or a card.
#[derive(Serialize, JsonSchema)]
struct Fact {
    /// ok, note, warning or bad.
    grade: &'static str,
    /// What it is about.
    what: String,
    /// The fact, and what to do.
    says: String,
}

impl Checkup {
    pub(crate) fn new(facts: &[HostFact]) -> Self {
        let fact = |HostFact { what, grade, says }: &HostFact| Fact {
            grade: grade_word(*grade),
            what: what.clone(),
            says: says.clone(),
        };
        Self { facts: facts.iter().map(fact).collect() }
    }
}

/// The word for a grade.
pub(crate) fn grade_word(grade: Grade) -> &'static str {
    match grade {
        Grade::Good => "ok",
        Grade::Note => "note",
        Grade::Warning => "warning",
        Grade::Bad => "bad",
    }
}
