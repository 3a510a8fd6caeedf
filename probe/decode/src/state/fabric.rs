//! The fabric at a moment: routers, muxes, their clients, and the credits of both ends of each link.

mod clients;
mod tables;
mod waits;

pub use clients::{ClientState, FabricLeads, FabricPort, MuxChannelState, MuxState};
pub use tables::{FabricHop, FabricRoute, RouteEnd, TablesState};
pub use waits::{Party, Wait, WaitLine, WaitReason, Waits};

use super::{Activity, Reading};
use layouts::{EthId, NocXy};
use machine::fabric::{Direction, FabricNode};

/// All that runs of the fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FabricState {
    /// Routers, by chip and channel.
    pub routers: Vec<RouterState>,
    /// What both ends of each link with two routers say together.
    pub ledgers: Vec<LedgerState>,
    /// Muxes, by core.
    pub muxes: Vec<MuxState>,
    /// Connections of kernels to channels of routers and muxes, by core; those of muxes too.
    pub clients: Vec<ClientState>,
    /// Who waits for whom.
    pub waits: Waits,
    /// Routing tables, if the look was asked for them, by chip and channel of their routers.
    pub tables: Vec<TablesState>,
    /// What else there is to read: the next look does if its interest has them.
    pub leads: FabricLeads,
}

/// One router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouterState {
    /// Its end of the link.
    pub at: EthId,
    /// Its tile.
    pub tile: NocXy,
    /// The image that runs there.
    pub image: String,
    /// `Linear`, `Ring`, `Mesh` or `Torus`.
    pub topology: Option<&'static str>,
    /// Whose router it is.
    pub node: Reading<FabricNode>,
    /// Where its link leads.
    pub direction: Reading<Direction>,
    /// What the core does.
    pub activity: Reading<Activity>,
    /// Its waypoint.
    pub waypoint: Reading<String>,
    /// It is the one of its chip that the host talks to.
    pub master: Reading<bool>,
    /// What arrives over its link goes on in virtual channel 1.
    pub dateline: Reading<bool>,
    /// `EDMStatus` by name.
    pub status: Reading<&'static str>,
    /// How far its bring-up got (tt-metal.md 4.1).
    pub postcode: Reading<u32>,
    /// 0 run, 1 graceful, 2 immediate.
    pub termination: Reading<u32>,
    /// Why it refused to run, by the number of the reason; 0 it did not.
    pub refusal: Reading<u32>,
    /// `fabric_refusal_t` by name; `Absent` if it did not refuse.
    pub refusal_name: Reading<&'static str>,
    /// The word by which the routers of a chip meet: at the master those that have come, in the end at all how many there are.
    pub local_sync: Reading<u32>,
    /// Routers of its chip, as it was told.
    pub local_routers: Reading<u32>,
    /// Which link it uses: 0 its own.
    pub link: Reading<u32>,
    /// Changes of link so far.
    pub epoch: Reading<u32>,
    /// The router whose link it uses.
    pub fallback: Option<NocXy>,
    /// Passes of its loop.
    pub passes: Reading<u64>,
    /// What it dropped, expired, refused and reported, by the names of its members.
    pub counts: Vec<(&'static str, Reading<u64>)>,
    /// Its sender channels.
    pub senders: Vec<SenderState>,
    /// Its receiver channels.
    pub receivers: Vec<ReceiverState>,
    /// Its credits for routers downstream, on the same chip.
    pub downstream: Vec<DownstreamState>,
}

/// A sender channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderState {
    /// Its number; 0 is the local client's.
    pub index: u8,
    /// 0, 1, or 2 for the control channel.
    pub virtual_channel: u8,
    /// How many packets it holds at most.
    pub slots: u64,
    /// Packets that its producer put in and that were not handed to the link: slots less free slots.
    pub queued: Reading<u64>,
    /// Packets on the link or at the peer: sent and not completed.
    pub in_flight: Reading<u64>,
    /// Completions that arrived and were not taken.
    pub completions: Reading<u64>,
    /// Slots that the peer's receiver channel has left for it.
    pub remote_free_slots: Reading<u64>,
    /// Packets that left the head: sent or dropped.
    pub sent: Reading<u64>,
    /// Packets of which the peer has said that they have left it.
    pub completed: Reading<u64>,
    /// Packets dropped.
    pub dropped: Reading<u64>,
    /// `connection_t`: 0 unused, 1 open, 2 close requested.
    pub connection: Reading<u32>,
    /// The client that it is connected to.
    pub client: Option<NocXy>,
    /// The client that opened it last, whether or not it has closed it.
    pub last_client: Option<NocXy>,
    /// Its oldest packet, if it has one.
    pub head: Option<HeadState>,
}

/// A receiver channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverState {
    /// Its number.
    pub index: u8,
    /// 0, 1, or 2 for the control channel.
    pub virtual_channel: u8,
    /// How many packets it holds at most.
    pub slots: u64,
    /// Packets that arrived and were not taken.
    pub arrived: Reading<u64>,
    /// Packets taken and not completed.
    pub held: Reading<u64>,
    /// Packets taken so far.
    pub received: Reading<u64>,
    /// Packets whose completion was sent.
    pub completed: Reading<u64>,
    /// Packets dropped.
    pub dropped: Reading<u64>,
    /// What the head waits for: 0 nothing, 1 a router downstream, 2 the NoC, 3 the transmit queue.
    pub waits_for: Reading<u32>,
    /// Where the head still has to go.
    pub pending: Vec<Direction>,
    /// Its oldest packet, if it has one.
    pub head: Option<HeadState>,
}

/// Credits for the router of this plane towards a direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DownstreamState {
    /// Where that router's link leads.
    pub direction: Direction,
    /// The virtual channel.
    pub virtual_channel: u8,
    /// Its tile, if there is one.
    pub tile: Option<NocXy>,
    /// Free slots of its sender channel that this router may fill.
    pub credits: Reading<u64>,
}

/// The oldest packet of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadState {
    /// Where its header stands in the tile's L1.
    pub addr: u64,
    /// Bytes of a header.
    pub bytes: u32,
    /// The header, if this look read it.
    pub packet: Reading<PacketState>,
}

/// The header of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketState {
    /// `NocSendType` by name, or its number.
    pub send_type: Result<&'static str, u64>,
    /// Bytes behind the header.
    pub payload_bytes: u64,
    /// Hops that it may still make.
    pub ttl: u64,
    /// Who sent it.
    pub source: FabricNode,
    /// Where it goes, if its header says so (2D).
    pub destination: Option<FabricNode>,
    /// Its number, counted by who sent it.
    pub number: u64,
    /// Tile and address there.
    pub noc_address: (NocXy, u64),
    /// The rest of its way in words.
    pub route: String,
}

/// The credits of one virtual channel in one direction of a link, both ends joined (tt-metal.md 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerState {
    /// The sending end.
    pub from: EthId,
    /// The receiving end.
    pub to: EthId,
    /// 0, 1, or 2 for the control channel.
    pub virtual_channel: u8,
    /// Slots of the receiver channel.
    pub slots: u64,
    /// Packets waiting in the sender channels.
    pub queued: u64,
    /// Slots that the sender may still fill.
    pub remote_free_slots: u64,
    /// Packets sent and not completed.
    pub in_flight: u64,
    /// Of those: arrived and not taken.
    pub arrived: u64,
    /// Of those: taken and not completed.
    pub held: u64,
    /// What both ends have counted so far, together: the same later, and nothing has moved.
    pub mark: u64,
    /// The router whose link carries the packets while this one is lost.
    pub rerouted_by: Option<EthId>,
    /// What that means.
    pub verdict: Verdict,
}

impl LedgerState {
    /// The verdict in words: of packets that go over another link, over which.
    pub fn words(&self) -> String {
        match self.rerouted_by {
            Some(by) => format!("{} by e{}", self.verdict.word(), by.channel),
            None => self.verdict.word().to_owned(),
        }
    }
}

impl FabricState {
    /// A look takes a while, and counts of what moves meanwhile do not add up: they are miscounted only if nothing has moved
    /// since the look before.
    pub fn settle(&mut self, before: &[LedgerState]) {
        for ledger in self.ledgers.iter_mut().filter(|l| l.verdict == Verdict::Miscounted) {
            let stands =
                |old: &LedgerState| LedgerState { verdict: old.verdict, ..*ledger } == *old;
            if !before.iter().any(stands) {
                ledger.verdict = Verdict::Moving;
            }
        }
    }
}

/// What the two ends of a link say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Nothing is there.
    Empty,
    /// Packets are there, and there is room.
    Moving,
    /// The link is back; its ends tell each other over it what they have.
    Returning,
    /// The link is lost, and packets go over another one.
    Rerouted,
    /// The link is lost, and packets wait.
    Lost,
    /// No room at the receiver, whose head waits for a router downstream.
    BackPressured,
    /// No room at the receiver, whose head does not say why.
    Full,
    /// Slots and packets do not add up while nothing moves: a credit is lost, or was given twice.
    Miscounted,
}

impl Verdict {
    /// A word for people and scripts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Moving => "moving",
            Self::Returning => "returning",
            Self::Rerouted => "rerouted",
            Self::Lost => "lost",
            Self::BackPressured => "back-pressured",
            Self::Full => "full",
            Self::Miscounted => "miscounted",
        }
    }
}
