//! The JSON of `cores` and `images`.

use super::{Merged, Missed, Missing, Source, Why, missed, value, why, xy};
use console::words;
use decode::profile::{CoreProfile, ProfilePlace};
use decode::state::{ChannelState, CoreState, ImageUse, MemberState, MeshState};
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
    /// The chip's id.
    chip: u16,
    /// NOC 0 coordinates of its tile: x, y.
    tile: [u8; 2],
    /// erisc, brisc, ncrisc, trisc0, trisc1 or trisc2.
    core: &'static str,
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
    launch: Option<Launch>,
    /// The source lines of its waypoint, innermost function first; if several places in the code
    /// set it, the lines that they share.
    location: Vec<Source<'a>>,
    /// The source lines of each place, if several places set it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<Vec<Source<'a>>>,
    /// The images that run on it.
    images: Vec<Image<'a>>,
    /// Problems of these images, a sentence each.
    findings: Vec<String>,
    /// The channels of its Ethernet application.
    channels: Vec<Channel>,
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
    /// Number of samples.
    samples: u32,
    /// From the first sample to the last, in cycles of a nanosecond.
    span_cycles: u64,
    /// The places at which it was, the most frequent first.
    places: Vec<Sampled<'a>>,
    /// Whether the samples may have come through this core: an Ethernet core of a chip without PCIe
    /// that has a link. The one that relays a sample is seen relaying it.
    relays: bool,
    /// Why there are fewer samples than ordered.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Why>,
}

/// A place at which a core was sampled.
#[derive(Serialize, JsonSchema)]
struct Sampled<'a> {
    /// Number of samples.
    count: u32,
    /// Number of samples whose program counter is certainly that of an instruction in flight; the
    /// others are recent ones.
    certain: u32,
    /// The program counters, each once, in order.
    pcs: &'a [u32],
    /// The name of the image with the code; null if no image that is known there has it.
    image: Option<&'a str>,
    /// The inlined functions there, innermost first, then the function itself; empty if they are
    /// not known.
    frames: Vec<Source<'a>>,
}

/// A launch message, with tt-metal's names of its members.
#[derive(Serialize, JsonSchema)]
struct Launch {
    /// The slot of the launch ring.
    rd_ptr: u32,
    /// A bit for each enabled processor.
    enables: u32,
    /// 0 dispatched by the device, 1 by the host.
    mode: u8,
    /// The host's id of the run.
    host_assigned_id: u32,
    /// The kernel id of this core in `watcher_kernel_ids`.
    kernel_id: u16,
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
    /// The chip's id.
    chip: u16,
    /// NOC 0 coordinates of its tile: x, y.
    tile: [u8; 2],
    /// erisc, brisc, ncrisc, trisc0, trisc1 or trisc2.
    core: &'static str,
    /// The images that run on it.
    images: Vec<Image<'a>>,
    /// Problems of these images, a sentence each.
    findings: Vec<String>,
}

/// A channel of an Ethernet application: tt-metal's `eth_channel_sync_t`.
#[derive(Serialize, JsonSchema)]
struct Channel {
    /// Its number.
    index: u8,
    /// Bytes that were sent and are not acknowledged as done.
    bytes_sent: u32,
    /// 1 when the receiver has seen them.
    receiver_ack: u32,
    /// The number of the sending channel.
    src_id: u32,
    /// The meaning of these values together: idle; sent, unacknowledged; arrived, unserviced;
    /// acknowledged, not done; completion under way.
    meaning: &'static str,
}

/// A decoded word.
#[derive(Serialize, JsonSchema)]
struct Word<'a> {
    /// Its name in the firmware.
    name: &'a str,
    /// Its address in the tile.
    addr: u64,
    /// Its size in bytes.
    size: u32,
    /// Its value; null if it was not read.
    value: Option<u64>,
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
            let of_core = |profile: &&CoreProfile| {
                let CoreId { chip, tile, core: kind } = profile.core;
                (core.chip, core.tile, core.core) == (chip.0, xy(tile), kind.name())
            };
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
            chip: core.id.chip.0,
            tile: xy(core.id.tile),
            core: core.id.core.name(),
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
    let launch = value("launch", &state.launch, &mut missing, |l| Launch {
        rd_ptr: l.rd_ptr,
        enables: l.enables,
        mode: l.mode,
        host_assigned_id: l.host_assigned_id,
        kernel_id: l.kernel_id,
    });
    let waypoint = value("waypoint", &state.waypoint, &mut missing, Clone::clone);
    if state.lacks_waypoints() {
        missing.insert("waypoint", Why { reason: "absent", detail: words::NO_WAYPOINTS.into() });
    }
    Core {
        chip: state.id.chip.0,
        tile: xy(state.id.tile),
        core: state.id.core.name(),
        waypoint,
        activity: value("activity", &state.activity, &mut missing, |a| words::activity_value(*a)),
        go: value("go", &state.go, &mut missing, |g| words::go(*g)),
        heartbeat: value("heartbeat", &state.heartbeat, &mut missing, |h| *h),
        launch,
        location: state.location.iter().map(source).collect(),
        candidates: state.candidates.iter().map(|c| c.iter().map(source).collect()).collect(),
        images: state.images.iter().map(image).collect(),
        findings: state.findings.iter().map(ToString::to_string).collect(),
        channels: state.channels.iter().map(channel).collect(),
        words: with_words.then(|| state.words.iter().map(word).collect()),
        profile: None,
        missing,
    }
}

fn profile(profile: &CoreProfile) -> Profile<'_> {
    let reason = |why: &AccessError| Why { reason: words::reason(why), detail: why.to_string() };
    Profile {
        samples: profile.samples,
        span_cycles: profile.span_cycles,
        places: profile.places.iter().map(sampled).collect(),
        relays: profile.relays,
        missing: profile.missing.as_ref().map(reason),
    }
}

fn sampled(place: &ProfilePlace) -> Sampled<'_> {
    Sampled {
        count: place.count,
        certain: place.certain,
        pcs: &place.pcs,
        image: place.image.as_deref(),
        frames: place.lines.iter().map(source).collect(),
    }
}

fn source(line: &SourceLine) -> Source<'_> {
    let function = line.function.as_deref().map(Into::into);
    Source { function, file: line.file.as_deref(), line: line.line }
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

fn channel(channel: &ChannelState) -> Channel {
    Channel {
        index: channel.index,
        bytes_sent: channel.bytes_sent,
        receiver_ack: channel.receiver_ack,
        src_id: channel.src_id,
        meaning: words::channel(channel.meaning),
    }
}

fn word(word: &MemberState) -> Word<'_> {
    let missing = why(&word.value);
    Word {
        name: &word.name,
        addr: word.addr,
        size: word.size,
        value: word.value.known().copied(),
        missing,
    }
}
