//! Muxes, and who sends through a channel of a router or mux.

use super::HeadState;
use crate::state::{Activity, Reading};
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
    /// `fabric_mux_policy_t` by name.
    pub policy: Option<&'static str>,
    /// What the core does.
    pub activity: Reading<Activity>,
    /// Its waypoint.
    pub waypoint: Reading<String>,
    /// `EDMStatus` by name.
    pub status: Reading<&'static str>,
    /// 0 run, 1 graceful, 2 immediate.
    pub termination: Reading<u32>,
    /// Turns of its loop.
    pub passes: Reading<u64>,
    /// The channel that waits for a slot of the router; `Absent` while none does.
    pub holder: Reading<u64>,
    /// Passes since it was told to end.
    pub drain_iters: Reading<u64>,
    /// Packets that it left behind when it ended.
    pub abandoned: Reading<u64>,
    /// Its channels.
    pub channels: Vec<MuxChannelState>,
}

/// A channel of a mux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MuxChannelState {
    /// Its number.
    pub index: u8,
    /// How many packets it holds at most.
    pub slots: Reading<u64>,
    /// Packets that its client put in and that were not forwarded.
    pub queued: Reading<u64>,
    /// What the client wrote, `connection_t`: 0 unused, 1 open, 2 close requested.
    pub connection: Reading<u32>,
    /// The mux has seen that its client opened it, and has not answered a close.
    pub connected: Reading<bool>,
    /// The client that opened it last.
    pub client: Option<NocXy>,
    /// Packets handed to the router.
    pub forwarded: Reading<u64>,
    /// Polls for a slot of the router.
    pub polls: Reading<u64>,
    /// Waits that were given up.
    pub skips: Reading<u64>,
    /// Cycles from the first poll without a slot until the packet was forwarded, at most.
    pub longest_wait_cycles: Reading<u64>,
    /// Closes of clients that were answered.
    pub closes: Reading<u64>,
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
    /// `fabric_client_stage_t` by name.
    pub stage: Reading<&'static str>,
    /// It waits for a free slot of the channel.
    pub waits: Reading<bool>,
    /// The tile of the router or mux.
    pub to_tile: Option<NocXy>,
    /// The channel there, if that router or mux is known.
    pub to: Option<FabricPort>,
    /// Slots of that channel.
    pub slots: Reading<u64>,
    /// Packets put into it so far, by this client and those before it.
    pub sent: Reading<u64>,
    /// Packets put into it whose slots it has not been given back.
    pub used: Reading<u64>,
    /// Its teardown word: counted up when its close is answered.
    pub teardown: Reading<u64>,
    /// What it does at the end for a mux that it shares, `fabric_traffic_termination_t` by name.
    pub termination: Reading<&'static str>,
    /// Clients of that mux.
    pub mux_clients: Reading<u64>,
    /// How many of them have told their termination master that they have closed.
    pub told: Reading<u64>,
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
