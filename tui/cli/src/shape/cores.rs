//! The JSON of `cores` and `images`.

use super::{Merged, Missed, Missing, Why, missed, value, why};
use console::words;
use decode::profile::CoreProfile;
use decode::state::{ChannelState, CoreState, ImageUse, LaunchState, MemberState, MeshState};
use images::SourceLine;
use layouts::CoreId;
use machine::snapshot::AccessError;
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
    gaps: Vec<Missed>,
}

/// A core.
#[derive(Serialize, JsonSchema)]
pub(super) struct Core<'a> {
    #[serde(flatten)]
    id: CoreId,
    /// Its waypoint: up to four letters.
    waypoint: Option<String>,
    /// in reset, base firmware (an Ethernet core without an application), never started, launched or
    /// done. A launched core has its go message; whether it makes progress is the matter of `why`.
    activity: Option<&'static str>,
    /// The go message: DONE, INIT, GO, RESET_READ_PTR, RESET_READ_PTR_FROM_HOST or REPLAY_TRACE.
    go: Option<&'static str>,
    /// The heartbeat of base firmware.
    heartbeat: Option<u32>,
    /// The current launch message of the core.
    launch: Option<&'a LaunchState>,
    /// The source lines of its waypoint, innermost function first; if several places in the code
    /// set it, the lines that they share.
    location: &'a [SourceLine],
    /// The source lines of each place, if several places set it.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    candidates: &'a [Vec<SourceLine>],
    /// The images that run on it.
    images: Vec<Image<'a>>,
    /// Problems of these images, a sentence each.
    findings: Vec<String>,
    /// The channels of its Ethernet application.
    channels: &'a [ChannelState],
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

/// An image on a core.
#[derive(Serialize, JsonSchema)]
struct Image<'a> {
    /// base firmware, application or kernel.
    role: &'static str,
    /// Its name.
    name: &'a str,
    /// The address of its text: in L1, or in instruction RAM if no copy in L1 is known.
    load_addr: u32,
    /// The address from which the core runs the text: another one if firmware copies it to
    /// instruction RAM.
    run_addr: u32,
    /// Its provenance: stated (this process loaded it, or the command line states it), recorded (a
    /// file of the host or the recording states it), sampled (samples of its text were found in
    /// L1), verified (its whole text or its build id was found in L1), mismatch (L1 holds another
    /// text).
    provenance: &'static str,
    /// The file of `--elfs` that it is from; null if it is built in.
    path: Option<&'a str>,
    /// Run address less link address of its code, modulo 2^32.
    bias: u32,
    /// Number of bytes compared with L1: of its text, or of its build id.
    compared_bytes: u32,
    /// Length of its text in bytes.
    text_bytes: u32,
    /// The result of the comparison: equal (of the whole text), build-id (only that was compared,
    /// and found), differs, iram (it runs from instruction RAM, which only the core itself can
    /// read), or the reason of `gaps` for which L1 was not read. Null: nothing was compared.
    check: Option<&'static str>,
    /// Other images with the same text.
    same_text: &'a [String],
}

/// The images of the cores of a mesh.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Images<'a> {
    /// The target, as `--target` names it.
    target: &'a str,
    /// The target's own time of the snapshot, in cycles of a nanosecond.
    cycles: u64,
    /// The cores with their images.
    cores: Vec<Loads<'a>>,
    /// Ranges that were not read.
    gaps: Vec<Missed>,
}

/// A core and its images.
#[derive(Serialize, JsonSchema)]
struct Loads<'a> {
    #[serde(flatten)]
    id: CoreId,
    /// The images that run on it.
    images: Vec<Image<'a>>,
    /// Problems of these images, a sentence each.
    findings: Vec<String>,
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
            gaps: missed(&state.gaps),
        }
    }

    /// The same with the profiles of its cores.
    pub(crate) fn with_profiles(mut self, profiles: &'a [CoreProfile]) -> Self {
        for core in &mut self.cores {
            let of_core = |profile: &&CoreProfile| core.id == profile.core;
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
            images: core.images.iter().map(image).collect(),
            findings: core.findings.iter().map(ToString::to_string).collect(),
        };
        Self {
            target,
            cycles: state.cycles,
            cores: cores.iter().map(loads).collect(),
            gaps: missed(&state.gaps),
        }
    }
}

pub(super) fn core(state: &CoreState, with_words: bool) -> Core<'_> {
    let mut missing = Missing::new();
    missing.extend(why(&state.launch).map(|why| ("launch", why)));
    let waypoint = value("waypoint", &state.waypoint, &mut missing, Clone::clone);
    if state.lacks_waypoints() {
        missing.insert("waypoint", Why { reason: "absent", detail: words::NO_WAYPOINTS.into() });
    }
    Core {
        id: state.id,
        waypoint,
        activity: value("activity", &state.activity, &mut missing, |a| words::activity_value(*a)),
        go: value("go", &state.go, &mut missing, |g| words::go(*g)),
        heartbeat: value("heartbeat", &state.heartbeat, &mut missing, |h| *h),
        launch: state.launch.known(),
        location: &state.location,
        candidates: &state.candidates,
        images: state.images.iter().map(image).collect(),
        findings: state.findings.iter().map(ToString::to_string).collect(),
        channels: &state.channels,
        words: with_words.then(|| state.words.iter().map(word).collect()),
        profile: None,
        missing,
    }
}

fn profile(profile: &CoreProfile) -> Profile<'_> {
    let reason = |why: &AccessError| Why { reason: words::reason(why), detail: why.to_string() };
    Profile { profile, missing: profile.missing.as_ref().map(reason) }
}

fn image(image: &ImageUse) -> Image<'_> {
    Image {
        role: image.role.name(),
        name: &image.name,
        load_addr: image.load_addr,
        run_addr: image.run_addr,
        provenance: words::evidence_word(image.evidence),
        path: image.path.as_deref(),
        bias: image.bias,
        compared_bytes: image.comparison.compared_bytes,
        text_bytes: image.comparison.text_bytes,
        check: words::check(&image.comparison.check),
        same_text: &image.also,
    }
}

fn word(member: &MemberState) -> Word<'_> {
    Word { member, missing: why(&member.value) }
}
