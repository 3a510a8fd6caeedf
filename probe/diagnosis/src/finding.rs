//! A finding: a named condition at a place, with its evidence.

use crate::condition::{Condition, Severity};
use crate::place::Place;
use decode::state::{MeshState, Party, WaitReason};
use layouts::NocAddr;
use machine::words::in_words;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(with = "String", inline)]
pub enum Confidence {
    /// Something else could explain what was seen.
    Possible,
    /// What was seen fits, and nothing speaks against it.
    Likely,
    /// Words on both sides say so.
    Certain,
}

impl Confidence {
    /// Returns the word that is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

/// A word that a finding rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Evidence {
    /// Its address; null if it is not one word.
    #[serde(serialize_with = "address")]
    #[schemars(with = "Option<String>")]
    pub at: Option<NocAddr>,
    /// Its name.
    pub name: String,
    /// What it held in the last snapshot, in words.
    pub value: String,
}

#[expect(clippy::ref_option, reason = "serde passes a reference")]
fn address<S: Serializer>(at: &Option<NocAddr>, to: S) -> Result<S::Ok, S::Error> {
    at.map(|at| at.to_string()).serialize(to)
}

/// A step of the chain from a symptom to its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Step {
    /// The party that waits.
    #[serde(rename = "who", serialize_with = "in_words")]
    #[schemars(with = "String")]
    pub waiter: Party,
    /// What it waits for.
    #[serde(rename = "for")]
    pub reason: WaitReason,
    /// From whom.
    #[serde(serialize_with = "in_words")]
    #[schemars(with = "String")]
    pub on: Party,
}

/// A named condition at a place, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// Its citable name.
    #[serde(flatten)]
    pub condition: Condition,
    /// slow, fault or hang.
    pub severity: Severity,
    /// Where it is, in words.
    #[serde(serialize_with = "in_words")]
    #[schemars(with = "String")]
    pub place: Place,
    /// What was found, one sentence.
    pub sentence: String,
    /// What to look at next.
    pub next: String,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// The longest chain of waits that ends here, from the symptom to the cause.
    pub chain: Vec<Step>,
    /// The number of parties that wait for it, directly or through others.
    pub waiting: usize,
    /// possible, likely or certain.
    pub confidence: Confidence,
    /// The party that the others wait for, if it is one.
    #[serde(skip)]
    pub party: Option<Party>,
    /// The waypoint of the core that it is about, if it is known.
    #[serde(skip)]
    pub waypoint: Option<String>,
    /// The target's time at the first snapshot that shows it, or those that wait for it, as they
    /// stand now, in cycles; null if nothing stands.
    pub since_cycles: Option<u64>,
    /// Condition, kernel, waypoint and chain without places: equal for equal hangs.
    pub signature: String,
}

impl Finding {
    /// Takes over who waits for the worst of its consequences, which are faults from then on.
    pub(crate) fn take_over(&mut self, consequences: &mut [Self]) {
        let most = consequences.iter().max_by_key(|it| (it.severity, it.waiting));
        if let Some(most) = most.filter(|it| it.severity > self.severity) {
            (self.severity, self.chain) = (most.severity, most.chain.clone());
            (self.waiting, self.party) = (most.waiting, most.party);
        }
        for it in consequences.iter_mut().filter(|it| it.severity > Severity::Fault) {
            (it.severity, it.chain, it.waiting, it.party) = (Severity::Fault, Vec::new(), 0, None);
        }
    }

    /// Adds to the evidence where the ends or chips of its place stand, if that is known.
    pub(crate) fn add_stands(&mut self, state: &MeshState) {
        let stands = |name: String, value| Evidence { at: None, name, value };
        let end = |end| Some(stands(format!("port of {end}"), state.port(end)?));
        match self.place {
            Place::Link(a, b) => self.evidence.extend([end(a), end(b)].into_iter().flatten()),
            Place::Router(at) | Place::End(at) => self.evidence.extend(end(at)),
            place => self.evidence.extend(place.chips().filter_map(|chip| {
                Some(stands(format!("place of chip {chip}"), state.seat(chip)?.to_string()))
            })),
        }
    }

    /// Returns a certain finding of something that is wrong, and for which nothing waits.
    pub(crate) fn fault(condition: Condition, place: Place, sentence: String) -> Self {
        Self {
            condition,
            severity: Severity::Fault,
            place,
            sentence,
            next: next(condition, place),
            evidence: Vec::new(),
            chain: Vec::new(),
            waiting: 0,
            confidence: Confidence::Certain,
            party: None,
            waypoint: None,
            since_cycles: None,
            signature: String::new(),
        }
    }
}

/// Returns what to look at next at a place.
pub(crate) fn next(condition: Condition, place: Place) -> String {
    condition.explanation().next.replace("PLACE", &place.argument())
}
