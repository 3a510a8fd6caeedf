//! Muxes and clients.

use super::channels::Head;
use crate::shape::{End, end, xy};
use decode::state::{Activity, ClientState, FabricPort, MuxChannelState, MuxState};
use images::Reading;
use images::fabric::{ClientFacts, EntryFacts, MuxChannelFacts, MuxFacts};
use layouts::CoreId;
use schemars::JsonSchema;
use serde::Serialize;

/// A mux.
#[derive(Serialize, JsonSchema)]
pub(super) struct Mux<'a> {
    /// The core that it runs on.
    core: Core,
    /// The name of its image.
    image: &'a str,
    /// Whether a kernel runs on the core; null if that is not known.
    running: Option<bool>,
    /// The waypoint of the core: up to four letters.
    waypoint: Option<&'a str>,
    #[serde(flatten)]
    facts: &'a MuxFacts,
    /// Its channels.
    channels: Vec<Channel<'a>>,
}

impl<'a> Mux<'a> {
    pub(super) fn of(mux: &'a MuxState) -> Self {
        Self {
            core: Core::of(mux.at),
            image: &mux.image,
            running: running(&mux.activity),
            waypoint: mux.waypoint.known().map(String::as_str),
            facts: &mux.facts,
            channels: mux.channels.iter().map(Channel::of).collect(),
        }
    }
}

/// A channel of a mux.
#[derive(Serialize, JsonSchema)]
struct Channel<'a> {
    /// Its number.
    index: u8,
    #[serde(flatten)]
    facts: &'a MuxChannelFacts,
    /// Its oldest packet; null if it has none or if the oldest is not known.
    head: Option<Head<'a>>,
    /// If it holds packets and the oldest is not known: all its slots, of which at most as many hold
    /// a packet as it holds.
    at_most: Vec<Head<'a>>,
}

impl<'a> Channel<'a> {
    fn of(channel: &'a MuxChannelState) -> Self {
        Self {
            index: channel.index,
            facts: &channel.facts,
            head: channel.head.as_ref().map(Head::of),
            at_most: channel.candidates.iter().map(Head::of).collect(),
        }
    }
}

/// A kernel's connection to a channel of a router or mux.
#[derive(Serialize, JsonSchema)]
pub(super) struct Client<'a> {
    /// The core that it runs on.
    core: Core,
    /// The name of its image.
    image: &'a str,
    /// The name of the connection in this image.
    name: &'a str,
    /// Whether a kernel runs on the core; null if that is not known.
    running: Option<bool>,
    /// The waypoint of the core: up to four letters.
    waypoint: Option<&'a str>,
    #[serde(flatten)]
    facts: &'a ClientFacts,
    /// The channel that it is connected to; null if that is not known.
    to: Option<Port>,
    /// The router's entry in the connection table of its tile; null if it does not use one.
    entry: Option<&'a EntryFacts>,
    /// The current step of its teardown, from 1 (it sends) to 12 (the mux has ended); null if it is
    /// not open.
    ending_step: Option<u8>,
    /// The step in words.
    ending: &'static str,
    /// Who must act before the step ends; null if that is not known.
    next: Option<String>,
}

impl<'a> Client<'a> {
    pub(super) fn of(client: &'a ClientState) -> Self {
        Self {
            core: Core::of(client.at),
            image: &client.image,
            name: &client.name,
            running: running(&client.activity),
            waypoint: client.waypoint.known().map(String::as_str),
            facts: &client.facts,
            to: client.to.map(Port::of),
            entry: client.entry.as_ref(),
            ending_step: client.step(),
            ending: client.stage.map_or("not open", |stage| stage.meaning),
            next: client.stage.map(|stage| stage.next.to_string()),
        }
    }
}

/// A core.
#[derive(Serialize, JsonSchema)]
pub(super) struct Core {
    /// The chip's id.
    chip: u16,
    /// NOC 0 coordinates of its tile: x, y.
    tile: [u8; 2],
    /// erisc, brisc, ncrisc, trisc0, trisc1 or trisc2.
    core: &'static str,
}

impl Core {
    pub(super) fn of(core: CoreId) -> Self {
        Self { chip: core.chip.0, tile: xy(core.tile), core: core.core.name() }
    }
}

/// The channel that a client is connected to.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Port {
    /// A sender channel of a router.
    Router {
        /// The router.
        router: End,
        /// Its sender channel.
        channel: u8,
    },
    /// A channel of a mux.
    Mux {
        /// The mux's core.
        mux: Core,
        /// Its channel.
        channel: u8,
    },
}

impl Port {
    fn of(port: FabricPort) -> Self {
        match port {
            FabricPort::Router(at, channel) => Self::Router { router: end(at), channel },
            FabricPort::Mux(at, channel) => Self::Mux { mux: Core::of(at), channel },
        }
    }
}

/// Whether a kernel runs on the core; null if that is not known.
pub(super) fn running(activity: &Reading<Activity>) -> Option<bool> {
    activity.known().map(|activity| *activity == Activity::Running)
}
