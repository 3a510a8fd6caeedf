//! The state of muxes, and of clients of routers and muxes.

use super::{HeadState, Stage};
use crate::state::Activity;
use images::Reading;
use images::fabric::{ClientFacts, EntryFacts, MuxChannelFacts, MuxFacts};
use layouts::{ChipId, CoreId, EthId, NocXy};
use machine::snapshot::Span;
use schemars::JsonSchema;
use serde::Serialize;

/// Tiles and ranges that a snapshot of the fabric found, to be read next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FabricLeads {
    /// Tiles of clients and muxes.
    pub tiles: Vec<(ChipId, NocXy)>,
    /// Words whose addresses are arguments of muxes and clients.
    pub spans: Vec<Span>,
    /// Routing tables of routers.
    pub tables: Vec<Span>,
}

/// The channel that a client is connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FabricPort {
    /// A sender channel of a router.
    Router(EthId, u8),
    /// A channel of a mux.
    Mux(CoreId, u8),
}

impl FabricPort {
    /// Returns the mux whose channel it is.
    pub(crate) fn mux(self) -> Option<CoreId> {
        match self {
            Self::Mux(core, _) => Some(core),
            Self::Router(..) => None,
        }
    }
}

/// The state of a mux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MuxState {
    /// The mux's core.
    pub at: CoreId,
    /// Name of the image.
    pub image: String,
    /// The core's activity.
    pub activity: Reading<Activity>,
    /// The core's waypoint.
    pub waypoint: Reading<String>,
    /// The mux's facts.
    pub facts: MuxFacts,
    /// The mux's channels.
    pub channels: Vec<MuxChannelState>,
}

impl MuxState {
    /// Whether it leaves the connection word of a client that has closed at
    /// `CLOSE_CONNECTION_REQUEST`: tt-metal's second version serves each client once.
    pub(crate) fn keeps_close_requests(&self) -> bool {
        self.facts.drain_initiated.known().is_some()
    }

    /// Whether one of its channels holds packets.
    pub(crate) fn holds_packets(&self) -> bool {
        let holds = |queued: &Reading<u64>| queued.known().is_some_and(|queued| *queued > 0);
        self.channels.iter().any(|channel| holds(&channel.facts.queued))
    }
}

/// The state of a mux channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MuxChannelState {
    /// The channel's number.
    pub index: u8,
    /// The channel's facts.
    #[serde(flatten)]
    pub facts: MuxChannelFacts,
    /// The oldest packet, if it holds one.
    pub head: Option<HeadState>,
    /// If it holds packets and the oldest is not known: the headers of all its slots. At most as
    /// many as it holds are of packets that wait.
    #[serde(rename = "at_most")]
    pub candidates: Vec<HeadState>,
}

/// A kernel's connection to a channel of a router or mux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientState {
    /// The core of the kernel.
    pub at: CoreId,
    /// Name of the image.
    pub image: String,
    /// The member of the kernel's global, such as `clients[0]`.
    pub name: String,
    /// The core's activity.
    pub activity: Reading<Activity>,
    /// The core's waypoint.
    pub waypoint: Reading<String>,
    /// The connection's facts.
    pub facts: ClientFacts,
    /// The channel that it sends into, if the router or mux is known.
    pub to: Option<FabricPort>,
    /// The router's entry in the connection table of its tile, if a tt-metal kernel uses one.
    pub entry: Option<EntryFacts>,
    /// The stage of the connection and of its mux; none if too few facts are known.
    pub stage: Option<&'static Stage>,
}

impl ClientState {
    /// Returns the mux that it sends through.
    pub fn mux(&self) -> Option<CoreId> {
        self.to?.mux()
    }

    /// Returns the step of its teardown and of its mux's, 1 to 12 (tt-metal.md 5.2); none before it
    /// has opened its channel.
    pub fn step(&self) -> Option<u8> {
        self.stage.map(|stage| stage.rank).filter(|step| *step > 0)
    }
}
