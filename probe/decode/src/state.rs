//! What the bytes mean: the mesh state that screens and verbs show. Plain data, no addresses to follow.

mod fabric;

pub use fabric::*;

pub use crate::fabric::{
    ClientFacts, Code, EdgeFacts, Enumerator, MuxChannelFacts, MuxFacts, NocTarget, PacketFacts,
    ReceiverFacts, RouterCounts, RouterFacts, SenderFacts,
};
use crate::images::Outline;
pub use crate::images::{
    Comparison, Difference, GoSignal, ImageFinding, ImageRole, Provenance, SourceLine, TextCheck,
};
pub use crate::reading::Reading;
use layouts::{ChipId, ChipKind, ChipLayout, CoreId, EthId, NocXy, TileKind};
use machine::bar::Holder;
use machine::clients::Before;
use machine::snapshot::Gap;
use machine::target::{Chip, Link};

/// A moment of the whole mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshState {
    /// The kind of its chips.
    pub kind: ChipKind,
    /// The target's time when the look began, in device cycles.
    pub cycles: u64,
    /// All chips, by id.
    pub chips: Vec<ChipState>,
    /// All links, both ends each.
    pub links: Vec<LinkState>,
    /// Routers, if the look was asked for them.
    pub fabric: FabricState,
    /// What could not be read.
    pub gaps: Vec<Gap>,
    /// What discovery or decoding found wrong, one sentence each.
    pub problems: Vec<String>,
    /// Bus transactions that the look cost.
    pub transactions: u64,
    /// Who had the mesh before us, as far as somebody who holds it for its clients tells.
    pub before: Before,
}

/// One chip at that moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChipState {
    /// What discovery knows of it.
    pub chip: Chip,
    /// Of a far chip, the Ethernet tiles of the chip with PCIe over which it is reached: gateways of links that are not known
    /// to be down, and that were not given up.
    pub gateways: Vec<EthId>,
    /// Newest target time of its ranges, in device cycles, if any was read.
    pub cycles: Option<u64>,
    /// Who else had its device open then.
    pub holders: Vec<Holder>,
    /// All tiles, by coordinate, harvested ones included.
    pub tiles: Vec<TileState>,
}

/// One tile at that moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileState {
    /// Its place on NOC 0.
    pub xy: NocXy,
    /// What it is.
    pub kind: TileKind,
    /// Fused off.
    pub harvested: bool,
    /// Channel and link words, if it is an Ethernet tile.
    pub eth: Option<EthState>,
    /// Its cores.
    pub cores: Vec<CoreState>,
}

/// What a core is doing, as far as its words tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activity {
    /// Held in reset.
    InReset,
    /// Base firmware runs and no application was launched.
    BaseFirmware,
    /// Application firmware waits for a go message.
    Waiting,
    /// A kernel was told to go and has not finished.
    Running,
    /// The last kernel finished.
    Done,
}

/// One core at that moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreState {
    /// Which core.
    pub id: CoreId,
    /// What it is doing.
    pub activity: Reading<Activity>,
    /// Its waypoint, 1 to 4 characters.
    pub waypoint: Reading<String>,
    /// Where the running image sets that waypoint (or where the pc is), innermost first.
    pub location: Vec<SourceLine>,
    /// The go message's signal.
    pub go: Reading<GoSignal>,
    /// The launch message the core looks at.
    pub launch: Reading<LaunchState>,
    /// Heartbeat word of the firmware that beats on this core.
    pub heartbeat: Reading<u32>,
    /// What is known to run there.
    pub images: Vec<ImageUse>,
    /// What is wrong with that.
    pub findings: Vec<ImageFinding>,
    /// The channels of `erisc_info_t`, if the application firmware has them.
    pub channels: Vec<ChannelState>,
    /// Decoded words of the core's mailbox and counters, in the order in which they are shown.
    pub words: Vec<NamedWord>,
    /// Every structure that the core's images describe, to be decoded out of what was read.
    pub outlines: Vec<Outline>,
}

/// A decoded member with where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedWord {
    /// Member path, such as `mailboxes.launch_msg_rd_ptr`.
    pub name: String,
    /// Tile-local address.
    pub addr: u64,
    /// Size in bytes.
    pub size: u32,
    /// The value.
    pub value: Reading<u64>,
}

/// The launch message that the core looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchState {
    /// `launch_msg_rd_ptr`.
    pub rd_ptr: u32,
    /// `kernel_config.enables`, a bit per processor.
    pub enables: u32,
    /// `kernel_config.mode`: 0 device dispatch, 1 host dispatch.
    pub mode: u8,
    /// `kernel_config.host_assigned_id`.
    pub host_assigned_id: u32,
    /// `kernel_config.watcher_kernel_ids` of this core.
    pub kernel_id: u16,
}

/// An image on a core, and how that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageUse {
    /// Base firmware, application or kernel.
    pub role: ImageRole,
    /// Its name.
    pub name: String,
    /// Where it was loaded, as the core sees it.
    pub load_addr: u32,
    /// How that is known.
    pub evidence: Provenance,
    /// The file of a directory that it came from.
    pub path: Option<String>,
    /// What is added to a linked address of its code to get where it runs, modulo 2^32.
    pub bias: u32,
    /// How its text compares with L1.
    pub comparison: Comparison,
    /// Other images with the same text, by name.
    pub also: Vec<String>,
}

/// One `eth_channel_sync_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelState {
    /// Channel number, 0 to 7.
    pub index: u8,
    /// `bytes_sent`.
    pub bytes_sent: u32,
    /// `receiver_ack`.
    pub receiver_ack: u32,
    /// `src_id`.
    pub src_id: u32,
    /// What the two ends together say.
    pub meaning: ChannelMeaning,
}

/// What a channel's words at both ends mean (tt-metal.md 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChannelMeaning {
    /// Nothing under way.
    Idle,
    /// Sent here; the peer's words do not show it (or were not read).
    SentUnacknowledged,
    /// Sent and arrived; the receiver has not serviced it.
    ArrivedUnserviced,
    /// First-level acknowledge came back; the buffer downstream is not free.
    AcknowledgedNotDone,
    /// The receiver freed it; the completion has not arrived at the sender.
    CompletionUnderway,
}

/// The link words of an Ethernet tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EthState {
    /// Ethernet channel.
    pub channel: u8,
    /// 0x1104: 0 training, 1 up, 2 failed, 3 not connected.
    pub train_status: Reading<u32>,
    /// 0x1ED4: 6 is up.
    pub link_status: Reading<u32>,
    /// 0x1EDC.
    pub retrain_count: Reading<u32>,
    /// 0x1F7C.
    pub crc_errors: Reading<u32>,
    /// 0x1F90/94, corrected codewords.
    pub corrected_codewords: Reading<u64>,
    /// 0x1F98/9C, uncorrected codewords.
    pub uncorrected_codewords: Reading<u64>,
    /// Packets sent, as the results block counts them.
    pub packets_sent: Reading<u64>,
    /// Packets received, as the results block counts them.
    pub packets_received: Reading<u64>,
    /// Base firmware version: major, minor, patch.
    pub firmware_version: Reading<(u8, u8, u16)>,
}

/// A link's state as both ends tell it; each has a colour and a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkCondition {
    /// Both ends say up.
    Up,
    /// An end is training.
    Training,
    /// An end failed.
    Down,
    /// The ends disagree.
    Disagree,
    /// An end could not be read.
    Unread,
}

/// One link at that moment, both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkState {
    /// The two ends.
    pub link: Link,
    /// What both ends together say.
    pub condition: LinkCondition,
    /// The sum of `bytes_sent` under way from a to b, if channels are known.
    pub a_to_b: Option<u64>,
    /// The sum of `bytes_sent` under way from b to a.
    pub b_to_a: Option<u64>,
    /// Time between the reads of both ends' counters, in cycles of the target; none where one was not read.
    pub apart_cycles: Option<u64>,
}

impl MeshState {
    /// What is where on its chips.
    pub fn layout(&self) -> &'static ChipLayout {
        self.kind.layout()
    }

    /// The tile at this place.
    pub fn tile(&self, chip: ChipId, xy: NocXy) -> Option<&TileState> {
        let chip = self.chips.iter().find(|c| c.chip.id == chip)?;
        chip.tiles.iter().find(|t| t.xy == xy)
    }

    /// The Ethernet tile of this link end.
    pub fn eth(&self, end: EthId) -> Option<&TileState> {
        let chip = self.chips.iter().find(|c| c.chip.id == end.chip)?;
        chip.tiles.iter().find(|t| t.eth.as_ref().is_some_and(|e| e.channel == end.channel))
    }

    /// This core.
    pub fn core(&self, id: CoreId) -> Option<&CoreState> {
        self.tile(id.chip, id.tile)?.cores.iter().find(|c| c.id == id)
    }
}
