//! The decoded state of the mesh, as screens and verbs show it: plain data.

mod eth;
mod fabric;

pub use eth::EthState;
pub(crate) use eth::EthWords;
pub use fabric::*;

use images::inspector::{Operation, Told};
use images::{
    Comparison, GoSignal, ImageFinding, ImageRole, Outline, Provenance, Reading, SourceLine,
};
use layouts::{ChipId, ChipKind, ChipLayout, CoreId, EthId, NocXy, Seat, TileKind};
use machine::clients::{Holder, MetalProcess, ServedHistory};
use machine::snapshot::Gap;
use machine::target::{Chip, Link, Mesh};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// The state of the whole mesh at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeshState {
    /// The kind of the chips.
    pub kind: ChipKind,
    /// The target's time when the snapshot began, in device cycles.
    pub cycles: u64,
    /// All chips, by id.
    pub chips: Vec<ChipState>,
    /// All links, each with both ends.
    pub links: Vec<LinkState>,
    /// The fabric, if the read set has it.
    pub fabric: FabricState,
    /// The ranges that could not be read.
    pub gaps: Vec<Gap>,
    /// Problems that discovery or decoding found, one sentence each.
    pub problems: Vec<String>,
    /// How many of them are damage of the file that is read: they say nothing of the mesh.
    pub damage: usize,
    /// Bus transactions of the snapshot.
    pub transactions: u64,
    /// The processes that run tt-metal on the mesh and whose ELFs and logs were looked for.
    pub processes: Vec<MetalProcess>,
    /// Without such a process, or one that tells its files: the usual places where they were looked for.
    pub usual_places: Vec<PathBuf>,
    /// The operations that run, by their ids in the launch messages, of those that Inspectors name.
    pub operations: Arc<BTreeMap<u64, Operation>>,
    /// The global semaphores and the sockets of which Inspectors told when an operation was new.
    pub objects: Arc<Told>,
    /// Earlier clients of the mesh, if a server that holds it for its clients reports them.
    pub before: ServedHistory,
}

/// The state of one chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChipState {
    /// The chip as discovery found it.
    pub chip: Chip,
    /// For a far chip, the Ethernet tiles of the chip with PCIe over which it is reached: gateways
    /// whose links are not known to be down, and that were not quarantined.
    pub gateways: Vec<EthId>,
    /// The newest target time of the chip's ranges, in device cycles, if any was read.
    pub cycles: Option<u64>,
    /// Other processes that had the chip's device open.
    pub holders: Vec<Holder>,
    /// All tiles, by coordinate, harvested ones included.
    pub tiles: Vec<TileState>,
}

/// The state of one tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileState {
    /// NOC 0 coordinate.
    pub xy: NocXy,
    /// The kind of the tile.
    pub kind: TileKind,
    /// Whether the tile is fused off.
    pub harvested: bool,
    /// Channel and link words of an Ethernet tile.
    pub eth: Option<EthState>,
    /// The tile's cores.
    pub cores: Vec<CoreState>,
}

/// The activity of a core, derived from its words; in JSON by the words of screens, but for `done`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(with = "String", inline)]
pub enum Activity {
    /// Held in reset.
    #[serde(rename = "in reset")]
    InReset,
    /// Base firmware runs and no application was launched.
    #[serde(rename = "base firmware")]
    BaseFirmware,
    /// Application firmware waits for a go message.
    #[serde(rename = "never started")]
    Waiting,
    /// A kernel was launched and has not finished.
    #[serde(rename = "launched")]
    Running,
    /// The last kernel finished.
    Done,
}

/// A reading in JSON: null if the value is not known.
fn known<T: Serialize, S: Serializer>(reading: &Reading<T>, to: S) -> Result<S::Ok, S::Error> {
    reading.known().serialize(to)
}

/// An activity in JSON: whether a kernel runs; null if that is not known.
fn running<S: Serializer>(activity: &Reading<Activity>, to: S) -> Result<S::Ok, S::Error> {
    activity.known().map(|activity| *activity == Activity::Running).serialize(to)
}

/// The state of one core.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CoreState {
    /// The core.
    #[serde(flatten)]
    pub id: CoreId,
    /// in reset, base firmware (an Ethernet core without an application), never started, launched or
    /// done. A launched core has its go message; whether it makes progress is the matter of `why`.
    #[serde(serialize_with = "known")]
    #[schemars(with = "Option<Activity>")]
    pub activity: Reading<Activity>,
    /// Its waypoint: up to four letters.
    #[serde(serialize_with = "known")]
    #[schemars(with = "Option<String>")]
    pub waypoint: Reading<String>,
    /// The source lines of its waypoint, innermost function first; if several places in the code
    /// set it, the lines that they share.
    pub location: Vec<SourceLine>,
    /// The source lines of each place, if several places set it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Vec<SourceLine>>,
    /// The go message: DONE, INIT, GO, RESET_READ_PTR, RESET_READ_PTR_FROM_HOST or REPLAY_TRACE.
    #[serde(serialize_with = "known")]
    #[schemars(with = "Option<GoSignal>")]
    pub go: Reading<GoSignal>,
    /// The current launch message of the core.
    #[serde(serialize_with = "known")]
    #[schemars(with = "Option<LaunchState>")]
    pub launch: Reading<LaunchState>,
    /// The heartbeat of base firmware.
    pub heartbeat: Reading<u32>,
    /// The images that run on it.
    pub images: Vec<ImageUse>,
    /// Problems of these images, a sentence each.
    pub findings: Vec<ImageFinding>,
    /// The channels of its Ethernet application.
    pub channels: Vec<ChannelState>,
    /// Decoded words of the core's mailbox and counters, in display order.
    #[serde(skip)]
    pub words: Vec<MemberState>,
    /// Every structure that the core's images describe, to decode from the snapshot.
    #[serde(skip)]
    pub outlines: Vec<Outline>,
}

/// A decoded member with its address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemberState {
    /// Member path, such as `mailboxes.launch_msg_rd_ptr`.
    pub name: Arc<str>,
    /// Tile-local address.
    pub addr: u64,
    /// Size in bytes.
    pub size: u32,
    /// The value.
    pub value: Reading<u64>,
}

/// The launch message at the core's read pointer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LaunchState {
    /// The slot of the launch ring: `launch_msg_rd_ptr`.
    pub rd_ptr: u32,
    /// `kernel_config.enables`, a bit per processor.
    pub enables: u32,
    /// `kernel_config.mode`: 0 device dispatch, 1 host dispatch.
    pub mode: u8,
    /// `kernel_config.host_assigned_id`.
    pub host_assigned_id: u32,
    /// `kernel_config.watcher_kernel_ids` of this core.
    pub kernel_id: u16,
    #[serde(skip)]
    /// The address of the program's first semaphore; none if the mailbox does not tell.
    pub semaphores: Option<u64>,
    #[serde(skip)]
    /// The addresses of the kernel's unique and its common runtime arguments; none if the mailbox does
    /// not tell.
    pub arguments: Option<[u64; 2]>,
    #[serde(skip)]
    /// The NoC that BRISC uses, and NCRISC the other; none if it is not known, or each uses both.
    pub noc: Option<u8>,
    #[serde(skip)]
    /// The circular buffers of a compute tile; none if the mailbox does not tell.
    pub circular_buffers: Option<CircularBuffers>,
}

/// Where the circular buffers of a program are described (tt-metal.md 1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CircularBuffers {
    /// The address of the first one's configuration: start, size, pages, bytes of a page.
    pub config: u64,
    /// A bit for each that the program uses.
    pub mask: u64,
}

/// An image on a core, with its provenance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImageUse {
    /// base firmware, application or kernel.
    pub role: ImageRole,
    /// Its name.
    pub name: String,
    /// The address of its text: in L1, or in instruction RAM if no copy in L1 is known.
    pub load_addr: u32,
    /// The address from which the core runs the text: another one if firmware copies it to
    /// instruction RAM.
    pub run_addr: u32,
    /// Its provenance: stated (this process loaded it, or the command line states it), recorded (a
    /// file of the host or the recording states it), sampled (samples of its text were found in
    /// L1), verified (its whole text or its build id was found in L1), mismatch (L1 holds another
    /// text).
    #[serde(rename = "provenance")]
    pub evidence: Provenance,
    /// The file of `--elfs` that it is from; null if it is built in.
    pub path: Option<String>,
    /// Whether the recording has it attached: what such an ELF names on the host is not opened.
    #[serde(skip)]
    pub attached: bool,
    /// Run address less link address of its code, modulo 2^32.
    pub bias: u32,
    /// The comparison of the image's text with L1.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// Other images with the same text.
    #[serde(rename = "same_text")]
    pub also: Vec<String>,
}

/// A channel of an Ethernet application: tt-metal's `eth_channel_sync_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChannelState {
    /// Channel number, 0 to 7.
    pub index: u8,
    /// Bytes that were sent and are not acknowledged as done.
    pub bytes_sent: u32,
    /// 1 when the receiver has seen them.
    pub receiver_ack: u32,
    /// The number of the sending channel.
    pub src_id: u32,
    /// The meaning of both ends' words together: idle; sent, unacknowledged; arrived, unserviced;
    /// acknowledged, not done; completion under way.
    pub meaning: ChannelMeaning,
}

/// The meaning of a channel's words at both ends (tt-metal.md 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(into = "&'static str")]
#[schemars(with = "String", inline)]
pub enum ChannelMeaning {
    /// Nothing in flight.
    Idle,
    /// Sent here; the peer's words do not show it, or were not read.
    SentUnacknowledged,
    /// Sent and arrived; the receiver has not serviced it.
    ArrivedUnserviced,
    /// First-level acknowledge came back; the buffer downstream is not free.
    AcknowledgedNotDone,
    /// The receiver freed it; the completion has not arrived at the sender.
    CompletionUnderway,
}

impl ChannelMeaning {
    /// What the channel holds, on screen and in JSON.
    pub fn words(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::SentUnacknowledged => "sent, unacknowledged",
            Self::ArrivedUnserviced => "arrived, unserviced",
            Self::AcknowledgedNotDone => "acknowledged, not done",
            Self::CompletionUnderway => "completion under way",
        }
    }
}

impl From<ChannelMeaning> for &'static str {
    fn from(meaning: ChannelMeaning) -> Self {
        meaning.words()
    }
}

/// A link's state, derived from both ends. Each variant has a colour and a letter.
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(with = "String", inline)]
pub enum LinkCondition {
    /// Both ends are up.
    Up,
    /// An end failed, or trains: it had a peer, or it would be no link.
    Down,
    /// The ends disagree.
    Disagree,
    /// An end could not be read.
    Unread,
}

impl LinkCondition {
    /// Whether the link carries nothing, as far as is known: a finding.
    pub fn is_dead(self) -> bool {
        matches!(self, Self::Down | Self::Disagree)
    }
}

/// The state of one link, both ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LinkState {
    /// The two ends.
    #[serde(flatten)]
    pub link: Link,
    /// The state by both ends: up, down, disagree or unread.
    #[serde(rename = "state")]
    pub condition: LinkCondition,
    /// Bytes in flight from a to b, over all channels; null if these are not known.
    pub a_to_b: Option<u64>,
    /// The same from b to a.
    pub b_to_a: Option<u64>,
    /// Time between the reads of both ends, in cycles of a nanosecond; null if one was not read.
    pub apart_cycles: Option<u64>,
}

/// The waypoints of firmware that runs a kernel, and of a kernel that has begun (tt-metal.md 1.3).
const RUNS_KERNEL: [&str; 2] = ["R", "K"];

impl CoreState {
    /// Whether the images on the core are known, and none was built with waypoints.
    pub fn lacks_waypoints(&self) -> bool {
        self.waypoint == Reading::Absent && self.go != Reading::Absent
    }

    /// Whether its waypoint cannot tell what its kernel waits for: no image sets one, the kernel has set
    /// none but its first, or its last wait has ended.
    pub fn waypoint_tells_no_wait(&self) -> bool {
        // Shorter codes that end so are no waits' ends: GD, KD.
        let runs =
            |code: &str| RUNS_KERNEL.contains(&code) || code.len() > 2 && code.ends_with('D');
        self.lacks_waypoints() || self.waypoint.known().is_some_and(|code| runs(code))
    }
}

impl CoreState {
    /// Returns the host-assigned id of its launch message while it runs. 0 is none: tt-metal gives it
    /// to its own routers and dispatchers.
    pub fn running_operation(&self) -> Option<u32> {
        let runs = self.activity == Reading::Known(Activity::Running);
        let launch = self.launch.known().filter(|_| runs)?;
        Some(launch.host_assigned_id).filter(|id| *id != 0)
    }
}

impl ChipState {
    /// Returns the ids of the operations that its cores run.
    pub fn running_operations(&self) -> BTreeSet<u32> {
        let cores = self.tiles.iter().flat_map(|tile| &tile.cores);
        cores.filter_map(CoreState::running_operation).collect()
    }
}

impl MeshState {
    /// Returns the mesh whose state it is.
    pub fn mesh(&self) -> Mesh {
        Mesh {
            kind: self.kind,
            chips: self.chips.iter().map(|chip| chip.chip.clone()).collect(),
            links: self.links.iter().map(|link| link.link).collect(),
            ..Mesh::default()
        }
    }

    /// Returns where a chip stands, if that is known.
    pub fn seat(&self, chip: ChipId) -> Option<&Seat> {
        self.chips.iter().find(|it| it.chip.id == chip)?.chip.seat.as_deref()
    }

    /// Returns the host, the tray and the port of an end, if they are known.
    pub fn port(&self, at: EthId) -> Option<String> {
        let seat = self.seat(at.chip)?;
        Some(format!("{} {}", seat.host_in_words(), seat.port(at.channel)))
    }

    /// Returns the name of an operation after its id, if an Inspector tells it.
    pub fn operation(&self, id: u32) -> String {
        let named = self.operations.get(&id.into());
        named.map_or_else(|| id.to_string(), |operation| format!("{id} {}", operation.name))
    }

    /// Returns the layout of the mesh's chips.
    pub fn layout(&self) -> &'static ChipLayout {
        self.kind.layout()
    }

    /// Returns the tile at this coordinate.
    pub fn tile(&self, chip: ChipId, xy: NocXy) -> Option<&TileState> {
        let chip = self.chips.iter().find(|c| c.chip.id == chip)?;
        chip.tiles.iter().find(|t| t.xy == xy)
    }

    /// Returns the Ethernet tile of this link end.
    pub fn eth(&self, end: EthId) -> Option<&TileState> {
        let chip = self.chips.iter().find(|c| c.chip.id == end.chip)?;
        chip.tiles.iter().find(|t| t.eth.as_ref().is_some_and(|e| e.channel == end.channel))
    }

    /// Returns the Ethernet tiles under base firmware whose link never came up, and whose peer is not
    /// known: free ports, or such that lead to a chip that is dead.
    pub fn ports_without_peer(&self) -> Vec<EthId> {
        let has_link =
            |end: &EthId| self.links.iter().any(|it| [it.link.a, it.link.b].contains(end));
        let trains = |eth: &&EthState| {
            eth.train_status == Reading::Known(0)
                && eth.firmware_version.known().is_some_and(|version| *version != (0, 0, 0))
        };
        let of_chip = |chip: &ChipState| -> Vec<EthId> {
            let ports = chip.tiles.iter().filter_map(|tile| tile.eth.as_ref()).filter(trains);
            ports.map(|eth| EthId { chip: chip.chip.id, channel: eth.channel }).collect()
        };
        self.chips.iter().flat_map(of_chip).filter(|end| !has_link(end)).collect()
    }

    /// Returns the cores on which a kernel runs.
    pub fn running(&self) -> impl Iterator<Item = CoreId> {
        let tiles = self.chips.iter().flat_map(|chip| &chip.tiles);
        let runs = |core: &&CoreState| core.activity == Reading::Known(Activity::Running);
        tiles.flat_map(|tile| &tile.cores).filter(runs).map(|core| core.id)
    }

    /// Returns the state of this core.
    pub fn core(&self, id: CoreId) -> Option<&CoreState> {
        self.tile(id.chip, id.tile)?.cores.iter().find(|c| c.id == id)
    }
}
