//! The state of the fabric: routers, muxes, clients, and the credits of both ends of each link.

mod clients;
mod parties;
mod stages;
mod tables;
mod waits;

pub use clients::{ClientState, FabricLeads, FabricPort, MuxChannelState, MuxState};
pub use parties::{EdmChannel, PartyStage, kernel_stage};
pub use stages::{
    Actor, CONNECTION, EDM, EDM_CHANNEL, Hold, MUX, PROTOCOLS, Protocol, RING_PING, ROUTER, Sign,
    Stage,
};
pub(crate) use stages::{MET, OPENED, SERVES, SIGNALLED};
pub use tables::{FabricHop, FabricRoute, RouteEnd, TablesState};
pub use waits::{Party, Wait, WaitReason, Waits};

use super::{Activity, known, running};
use images::fabric::{
    EdgeFacts, FactValue, PacketFacts, ReceiverFacts, RouterCounts, RouterFacts, SenderFacts,
    StatusWords,
};
use images::{Reading, UNKNOWN_ROUTER};
use layouts::{EthId, NocXy};
use machine::fabric::Direction;
use schemars::JsonSchema;
use serde::Serialize;

/// The state of the fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FabricState {
    /// Routers, by chip and channel.
    pub routers: Vec<RouterState>,
    /// The credits of each link between two routers, from both ends.
    pub ledgers: Vec<LedgerState>,
    /// Muxes, by core.
    pub muxes: Vec<MuxState>,
    /// Connections of kernels, muxes included, to channels of routers and muxes, by core.
    pub clients: Vec<ClientState>,
    /// Differences between a router's ELF and the fabric manifest, one sentence each.
    pub findings: Vec<String>,
    /// The waits between clients, muxes, routers, links and host.
    pub waits: Waits,
    /// Routing tables, if the read set has them, by chip and channel of their routers.
    pub tables: Vec<TablesState>,
    /// Ranges that this snapshot found: the next one reads them if its read set has them.
    pub leads: FabricLeads,
}

/// The state of a router.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RouterState {
    /// The router's end of its link.
    #[serde(flatten)]
    pub at: EthId,
    /// NOC 0 coordinates of its tile: x, y.
    pub tile: NocXy,
    /// Its routing plane; null if it is spare or if its direction is not known.
    pub plane: Option<usize>,
    /// The name of its image.
    pub image: String,
    /// Whether a kernel runs on its core; null if that is not known.
    #[serde(rename = "running", serialize_with = "running")]
    #[schemars(with = "Option<bool>")]
    pub activity: Reading<Activity>,
    /// The waypoint of its core: up to four letters.
    #[serde(serialize_with = "known")]
    #[schemars(with = "Option<String>")]
    pub waypoint: Reading<String>,
    /// The router's facts.
    #[serde(flatten)]
    pub facts: RouterFacts,
    /// Its counters: packets that it dropped, entries that it reported.
    pub counts: RouterCounts,
    /// Its sender channels; JSON adds their clients.
    #[serde(skip)]
    pub senders: Vec<SenderState>,
    /// Its receiver channels.
    pub receivers: Vec<ReceiverState>,
    /// Its credits for the other routers of its plane on this chip.
    pub downstream: Vec<DownstreamState>,
    /// The newest entries of its status queue that were not drained, the oldest first; empty if it has
    /// none, or if they were not read.
    #[serde(skip)]
    pub status_entries: Vec<StatusWords>,
}

impl RouterState {
    /// Whether neither an image nor a manifest describes it: it shows what it publishes at fixed
    /// addresses.
    pub fn is_unknown(&self) -> bool {
        self.image == UNKNOWN_ROUTER
    }

    /// Returns its stage; none if too few of its facts are known.
    pub fn stage(&self) -> Option<&'static Stage> {
        Stage::find(ROUTER, |fact| self.value(fact))
    }

    /// Returns a fact of [`ROUTER`]: one of its facts, or `running` or `waypoint` of its core.
    fn value(&self, fact: &str) -> Option<FactValue<'_>> {
        match fact {
            "running" => {
                let runs = |activity: &Activity| FactValue::number(*activity == Activity::Running);
                self.activity.known().map(runs)
            }
            "waypoint" => self.waypoint.known().map(|code| FactValue::text(code)),
            own => self.facts.value(own),
        }
    }

    /// Returns the progress of its loop: its counters, some of which it updates rarely while busy or
    /// while packets wait, plus its packets. Base firmware beats only if the loop yields to it.
    pub fn turns(&self) -> Option<u64> {
        let RouterFacts { tx_heartbeat, rx_heartbeat, packets_moved, passes, heartbeat, .. } =
            &self.facts;
        let beats = heartbeat.known().map(|heartbeat| u64::from(heartbeat.count));
        let loops = [tx_heartbeat, rx_heartbeat, packets_moved, passes];
        let loops = loops.map(|it| it.known().copied());
        let known: Vec<u64> = loops.into_iter().chain([beats]).flatten().collect();
        let sent = self.senders.iter().flat_map(|s| [&s.facts.sent, &s.facts.completed]);
        let received = self.receivers.iter().flat_map(|r| [&r.facts.received, &r.facts.completed]);
        let count = |count: &Reading<u64>| count.known().map_or(0, |count| *count);
        let packets = sent.chain(received).map(count).fold(0, u64::wrapping_add);
        (!known.is_empty()).then(|| known.into_iter().fold(packets, u64::wrapping_add))
    }

    /// Returns true if it refused to run.
    pub fn refused(&self) -> bool {
        self.facts.refusal.value().is_some_and(|refusal| refusal != 0)
    }

    /// Returns the name of the reason why it refused to run; none if it did not.
    pub fn refusal_name(&self) -> Option<&str> {
        self.facts.refusal.name().filter(|_| self.refused())
    }
}

/// The state of a sender channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SenderState {
    /// The channel's number; 0 is the local client's.
    pub index: u8,
    /// 0, 1, or 2 for the control channel.
    pub virtual_channel: u8,
    /// Number of slots.
    pub slots: u64,
    /// The channel's facts.
    #[serde(flatten)]
    pub facts: SenderFacts,
    /// If the count of packets in flight is not known: the most that there can be, by the packets at
    /// the peer and the completions that are not processed.
    pub in_flight_at_most: Option<u64>,
    /// The oldest packet, if it holds one.
    pub head: Option<HeadState>,
    /// If it holds packets and the oldest is not known: the headers of all its slots. At most as
    /// many as it holds are of packets that wait.
    #[serde(rename = "at_most")]
    pub candidates: Vec<HeadState>,
}

impl SenderState {
    /// Returns the number of packets in flight, or the most that there can be; 0 if neither is
    /// known.
    pub(crate) fn in_flight(&self) -> u64 {
        self.facts.in_flight.known().copied().or(self.in_flight_at_most).map_or(0, |count| count)
    }

    /// Returns the connected client.
    pub fn client(&self) -> Option<NocXy> {
        let connected = self.facts.connection.value().is_some_and(|value| value != 0);
        self.facts.last_client.known().copied().filter(|_| connected)
    }
}

/// The state of a receiver channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReceiverState {
    /// The channel's number.
    pub index: u8,
    /// 0, 1, or 2 for the control channel.
    pub virtual_channel: u8,
    /// Number of slots.
    pub slots: u64,
    /// The channel's facts.
    #[serde(flatten)]
    pub facts: ReceiverFacts,
    /// The oldest packet, if it holds one.
    pub head: Option<HeadState>,
    /// If it holds packets and the oldest is not known: the headers of all its slots. At most as
    /// many as it holds are of packets that wait.
    #[serde(rename = "at_most")]
    pub candidates: Vec<HeadState>,
}

impl ReceiverState {
    /// Returns the directions to which the head is still to be forwarded.
    pub fn pending(&self) -> &[Direction] {
        self.facts.pending.known().map_or(&[], Vec::as_slice)
    }
}

/// Credits for the router downstream in a direction, in the same plane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DownstreamState {
    /// The direction of that router's link.
    pub direction: Direction,
    /// The virtual channel.
    pub virtual_channel: u8,
    /// Tile and credits.
    #[serde(flatten)]
    pub facts: EdgeFacts,
}

/// The oldest packet of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HeadState {
    /// Address of the header in the tile's L1.
    pub addr: u64,
    /// Size of the header in bytes.
    #[serde(skip)]
    pub bytes: u32,
    /// The header; null in JSON if it was not read.
    #[serde(serialize_with = "known")]
    #[schemars(with = "Option<PacketState>")]
    pub packet: Reading<PacketState>,
}

/// The header of a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PacketState {
    /// The header's facts.
    #[serde(flatten)]
    pub facts: PacketFacts,
    /// The rest of its route in words.
    pub route: String,
}

/// The credits of a virtual channel in one direction of a link, from both ends (tt-metal.md 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LedgerState {
    /// The sending end.
    pub from: EthId,
    /// The receiving end.
    pub to: EthId,
    /// 0, 1, or 2 for the control channel.
    pub virtual_channel: u8,
    /// Slots of the receiver channel.
    pub slots: u64,
    /// Packets in the sender channels.
    pub queued: u64,
    /// Free slots of the receiver channel, as the sender counts; none if the router keeps the count
    /// to itself.
    pub remote_free_slots: Option<u64>,
    /// Packets sent, not completed; none if the router keeps the count to itself: then at least as
    /// many as arrived, at most as many as the receiver has slots.
    pub in_flight: Option<u64>,
    /// Of those, packets that arrived and are not taken.
    pub arrived: u64,
    /// Of those, packets taken, not completed; none if the router keeps the count to itself.
    pub held: Option<u64>,
    /// Sum of both ends' packet counts: unchanged if nothing has moved.
    #[serde(skip)]
    pub mark: u64,
    /// The router whose link carries the packets while this one is lost.
    pub rerouted_by: Option<EthId>,
    /// The meaning of the counts.
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

/// The verdict on a link's credits, from both ends.
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(into = "&'static str")]
#[schemars(with = "String", inline)]
pub enum Verdict {
    /// No packets.
    Empty,
    /// Packets, and free slots.
    Moving,
    /// The link is up again; its ends exchange their counts.
    Returning,
    /// The link is lost; packets take another one.
    Rerouted,
    /// The link is lost; packets wait.
    Lost,
    /// No free slot at the receiver, whose head waits for a router downstream.
    BackPressured,
    /// Packets, and the router at one of the ends is paused.
    Paused,
    /// No free slot at the receiver, for an unknown reason.
    Full,
    /// Slots and packets do not add up while nothing moves: a credit is lost or duplicated.
    Miscounted,
}

impl Verdict {
    /// Returns the word on screen and in JSON.
    pub fn word(self) -> &'static str {
        self.into()
    }
}
