//! The JSON of `cores` and `images`.

use super::{Merged, Missing, Sought, Why, why};
use console::words;
use decode::profile::CoreProfile;
use decode::state::{CoreState, ImageUse, MemberState, MeshState};
use images::ImageFinding;
use layouts::CoreId;
use machine::snapshot::Gap;
use schemars::JsonSchema;
use serde::Serialize;

/// The cores of a mesh.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Cores<'a> {
    /// The target, as `--target` names it.
    target: &'a str,
    /// The target's own time of the snapshot, in cycles of a nanosecond.
    cycles: u64,
    /// Its cores, or those of the given place.
    cores: Vec<Core<'a>>,
    /// With --merge: these cores by their places, and what moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    merged: Option<Merged<'a>>,
    /// Ranges that were not read.
    gaps: &'a [Gap],
}

/// A core.
#[derive(Serialize, JsonSchema)]
pub(super) struct Core<'a> {
    #[serde(flatten)]
    state: &'a CoreState,
    /// With --words: its decoded words.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<Vec<Word<'a>>>,
    /// With --sample: where it was when it was sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<Profile<'a>>,
    /// Reasons for null keys, by key.
    missing: Missing,
}

/// The sampled program counters of a core.
#[derive(Serialize, JsonSchema)]
struct Profile<'a> {
    #[serde(flatten)]
    profile: &'a CoreProfile,
    /// Why there are fewer samples than ordered.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Why>,
}

/// The images of the cores of a mesh.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Images<'a> {
    /// The target, as `--target` names it.
    target: &'a str,
    /// The target's own time of the snapshot, in cycles of a nanosecond.
    cycles: u64,
    #[serde(flatten)]
    sought: Sought<'a>,
    /// The cores with their images.
    cores: Vec<Loads<'a>>,
    /// Ranges that were not read.
    gaps: &'a [Gap],
}

/// A core and its images.
#[derive(Serialize, JsonSchema)]
struct Loads<'a> {
    #[serde(flatten)]
    id: CoreId,
    /// The images that run on it.
    images: &'a [ImageUse],
    /// Problems of these images, a sentence each.
    findings: &'a [ImageFinding],
}

/// A decoded word.
#[derive(Serialize, JsonSchema)]
struct Word<'a> {
    #[serde(flatten)]
    member: &'a MemberState,
    /// Why it is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Why>,
}

impl<'a> Cores<'a> {
    /// The shape of `cores`, of those that pass.
    pub(crate) fn new(
        target: &'a str,
        state: &'a MeshState,
        with_words: bool,
        passes: impl Fn(&CoreState) -> bool,
    ) -> Self {
        let all = state.chips.iter().flat_map(|c| &c.tiles).flat_map(|t| &t.cores);
        Self {
            target,
            cycles: state.cycles,
            cores: all.filter(|c| passes(c)).map(|c| core(c, with_words)).collect(),
            merged: None,
            gaps: &state.gaps,
        }
    }

    /// The same with the profiles of its cores.
    pub(crate) fn with_profiles(mut self, profiles: &'a [CoreProfile]) -> Self {
        for core in &mut self.cores {
            let of_core = |profile: &&CoreProfile| core.state.id == profile.core;
            core.profile = profiles.iter().find(of_core).map(profile);
        }
        self
    }

    /// The same with the tree of its cores.
    pub(crate) fn with_merged(self, merged: Merged<'a>) -> Self {
        Self { merged: Some(merged), ..self }
    }
}

impl<'a> Images<'a> {
    /// The shape of `images`, of the cores that pass.
    pub(crate) fn new(target: &'a str, state: &'a MeshState, cores: &[&'a CoreState]) -> Self {
        let loads = |core: &&'a CoreState| Loads {
            id: core.id,
            images: &core.images,
            findings: &core.findings,
        };
        Self {
            target,
            cycles: state.cycles,
            sought: Sought::new(state),
            cores: cores.iter().map(loads).collect(),
            gaps: &state.gaps,
        }
    }
}

pub(super) fn core(state: &CoreState, with_words: bool) -> Core<'_> {
    let reasons = [
        ("waypoint", why(&state.waypoint)),
        ("activity", why(&state.activity)),
        ("go", why(&state.go)),
        ("heartbeat", why(&state.heartbeat)),
        ("launch", why(&state.launch)),
    ];
    let reasons = reasons.into_iter().filter_map(|(key, why)| Some((key, why?)));
    let mut missing: Missing = reasons.collect();
    if state.lacks_waypoints() {
        missing.insert("waypoint", Why { reason: "absent", detail: words::NO_WAYPOINTS.into() });
    }
    Core {
        state,
        words: with_words.then(|| state.words.iter().map(word).collect()),
        profile: None,
        missing,
    }
}

fn profile(profile: &CoreProfile) -> Profile<'_> {
    Profile { profile, missing: profile.missing.as_ref().map(Why::from) }
}

fn word(member: &MemberState) -> Word<'_> {
    Word { member, missing: why(&member.value) }
}
