//! Muxes, and who sends through a channel of a router or mux.

use super::HeadState;
use crate::state::{Activity, ClientFacts, MuxChannelFacts, MuxFacts, Reading};
use layouts::{ChipId, CoreId, EthId, NocXy};
use machine::snapshot::Span;

/// What a look at the fabric found out that there is, and could not know before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FabricLeads {
    /// Tiles of clients and muxes.
    pub tiles: Vec<(ChipId, NocXy)>,
    /// Words that muxes and clients were told the address of.
    pub spans: Vec<Span>,
    /// Routing tables of routers.
    pub tables: Vec<Span>,
}

/// A sender channel of a router, or a channel of a mux: what a client is connected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FabricPort {
    /// Of a router.
    Router(EthId, u8),
    /// Of a mux.
    Mux(CoreId, u8),
}

/// One mux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MuxState {
    /// Its core.
    pub at: CoreId,
    /// The image that runs there.
    pub image: String,
    /// What the core does.
    pub activity: Reading<Activity>,
    /// Its waypoint.
    pub waypoint: Reading<String>,
    /// What it says of itself.
    pub facts: MuxFacts,
    /// Its channels.
    pub channels: Vec<MuxChannelState>,
}

/// A channel of a mux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MuxChannelState {
    /// Its number.
    pub index: u8,
    /// What is said of it.
    pub facts: MuxChannelFacts,
    /// Its oldest packet, if it has one.
    pub head: Option<HeadState>,
}

/// A kernel's connection to a channel of a router or mux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientState {
    /// The core of the kernel.
    pub at: CoreId,
    /// The image that runs there.
    pub image: String,
    /// The member of the kernel's global that it is, such as `clients[0]`.
    pub name: String,
    /// What the core does.
    pub activity: Reading<Activity>,
    /// Its waypoint.
    pub waypoint: Reading<String>,
    /// What is said of it.
    pub facts: ClientFacts,
    /// The channel that it sends into, if that router or mux is known.
    pub to: Option<FabricPort>,
    /// How far its end, and that of its mux, has come: 1 to 12 (tt-metal.md 5.2); none before it has opened its channel.
    pub ending: Option<u8>,
}

impl ClientState {
    /// The mux that it sends through.
    pub fn mux(&self) -> Option<CoreId> {
        match self.to? {
            FabricPort::Mux(core, _) => Some(core),
            FabricPort::Router(..) => None,
        }
    }

    /// The step of [`ClientState::ending`] in words: who did what last, or has to do what.
    pub fn ending_words(&self) -> &'static str {
        match self.ending {
            None => "not open",
            Some(1) => "sends",
            Some(2 | 3) => "asks to close, the mux has to see it",
            Some(4) => "its close is answered, it has to see it",
            Some(5) => "has closed",
            Some(6) => "has told the termination master",
            Some(7) => "waits for the other clients",
            Some(8) => "tells the mux to end",
            Some(9) => "the mux drains its channels",
            Some(10) => "the mux leaves its loop",
            Some(11) => "the mux closes its connection",
            Some(_) => "the mux has ended",
        }
    }
}
