//! The fabric at a moment: routers, muxes, their clients, and the credits of both ends of each link.

mod clients;
mod tables;
mod waits;

pub use clients::{ClientState, FabricLeads, FabricPort, MuxChannelState, MuxState};
pub use tables::{FabricHop, FabricRoute, RouteEnd, TablesState};
pub use waits::{Party, Wait, WaitLine, WaitReason, Waits};

use super::{
    Activity, EdgeFacts, PacketFacts, Reading, ReceiverFacts, RouterCounts, RouterFacts,
    SenderFacts,
};
use layouts::{EthId, NocXy};
use machine::fabric::Direction;

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
    /// What the core does.
    pub activity: Reading<Activity>,
    /// Its waypoint.
    pub waypoint: Reading<String>,
    /// What it says of itself.
    pub facts: RouterFacts,
    /// What it dropped, expired, refused and reported.
    pub counts: RouterCounts,
    /// Its sender channels.
    pub senders: Vec<SenderState>,
    /// Its receiver channels.
    pub receivers: Vec<ReceiverState>,
    /// Its credits for routers downstream, on the same chip.
    pub downstream: Vec<DownstreamState>,
}

impl RouterState {
    /// Did it refuse to run?
    pub fn refused(&self) -> bool {
        self.facts.refusal.value().is_some_and(|refusal| refusal != 0)
    }

    /// The name of the reason why it refused to run; none if it did not.
    pub fn refusal_name(&self) -> Option<&str> {
        self.facts.refusal.name().filter(|_| self.refused())
    }
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
    /// What is said of it.
    pub facts: SenderFacts,
    /// Its oldest packet, if it has one.
    pub head: Option<HeadState>,
}

impl SenderState {
    /// The client that it is connected to.
    pub fn client(&self) -> Option<NocXy> {
        let connected = self.facts.connection.value().is_some_and(|value| value != 0);
        self.facts.last_client.known().copied().filter(|_| connected)
    }
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
    /// What is said of it.
    pub facts: ReceiverFacts,
    /// Its oldest packet, if it has one.
    pub head: Option<HeadState>,
}

impl ReceiverState {
    /// Where the head still has to go.
    pub fn pending(&self) -> &[Direction] {
        self.facts.pending.known().map_or(&[], Vec::as_slice)
    }
}

/// Credits for the router of this plane towards a direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DownstreamState {
    /// Where that router's link leads.
    pub direction: Direction,
    /// The virtual channel.
    pub virtual_channel: u8,
    /// What is known of it.
    pub facts: EdgeFacts,
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
    /// What it says.
    pub facts: PacketFacts,
    /// The rest of its route in words.
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
