//! The state of muxes, and of clients of routers and muxes.

use super::{HeadState, Stage};
use crate::state::{Activity, known, running};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FabricPort {
    /// A sender channel of a router.
    Router {
        /// The router.
        router: EthId,
        /// Its sender channel.
        channel: u8,
    },
    /// A channel of a mux.
    Mux {
        /// The mux's core.
        mux: CoreId,
        /// Its channel.
        channel: u8,
    },
}

impl FabricPort {
    /// Returns the mux whose channel it is.
    pub(crate) fn mux(self) -> Option<CoreId> {
        match self {
            Self::Mux { mux, .. } => Some(mux),
            Self::Router { .. } => None,
        }
    }
}

/// The state of a mux.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MuxState {
    /// The core that it runs on.
    #[serde(rename = "core")]
    pub at: CoreId,
    /// The name of its image.
    pub image: String,
    /// Whether a kernel runs on the core; null if that is not known.
    #[serde(rename = "running", serialize_with = "running")]
    #[schemars(with = "Option<bool>")]
    pub activity: Reading<Activity>,
    /// The waypoint of the core: up to four letters.
    #[serde(serialize_with = "known")]
    #[schemars(with = "Option<String>")]
    pub waypoint: Reading<String>,
    /// The mux's facts.
    #[serde(flatten)]
    pub facts: MuxFacts,
    /// Its channels.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClientState {
    /// The core that it runs on.
    #[serde(rename = "core")]
    pub at: CoreId,
    /// The name of its image.
    pub image: String,
    /// The name of the connection in this image, such as `clients[0]`.
    pub name: String,
    /// Whether a kernel runs on the core; null if that is not known.
    #[serde(rename = "running", serialize_with = "running")]
    #[schemars(with = "Option<bool>")]
    pub activity: Reading<Activity>,
    /// The waypoint of the core: up to four letters.
    #[serde(serialize_with = "known")]
    #[schemars(with = "Option<String>")]
    pub waypoint: Reading<String>,
    /// The connection's facts.
    #[serde(flatten)]
    pub facts: ClientFacts,
    /// The channel that it is connected to; null if that is not known.
    pub to: Option<FabricPort>,
    /// The router's entry in the connection table of its tile; null if it does not use one.
    pub entry: Option<EntryFacts>,
    /// The stage of the connection and of its mux; none if too few facts are known.
    #[serde(skip)]
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
