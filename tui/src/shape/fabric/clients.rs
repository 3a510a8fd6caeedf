//! Muxes and who sends through a channel.

use super::channels::Head;
use super::tile;
use crate::shape::End;
use crate::shape::build::end;
use decode::state::{
    Activity, ClientFacts, ClientState, FabricPort, MuxChannelFacts, MuxChannelState, MuxFacts,
    MuxState, Reading,
};
use layouts::CoreId;
use serde::Serialize;

/// A mux.
#[derive(Serialize)]
pub(super) struct Mux<'a> {
    core: Core,
    image: &'a str,
    running: Option<bool>,
    waypoint: Option<&'a str>,
    #[serde(flatten)]
    facts: &'a MuxFacts,
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
#[derive(Serialize)]
struct Channel<'a> {
    index: u8,
    #[serde(flatten)]
    facts: &'a MuxChannelFacts,
    head: Option<Head<'a>>,
}

impl<'a> Channel<'a> {
    fn of(channel: &'a MuxChannelState) -> Self {
        let head = channel.head.as_ref().map(Head::of);
        Self { index: channel.index, facts: &channel.facts, head }
    }
}

/// A kernel's connection to a channel of a router or mux.
#[derive(Serialize)]
pub(super) struct Client<'a> {
    core: Core,
    image: &'a str,
    name: &'a str,
    running: Option<bool>,
    waypoint: Option<&'a str>,
    #[serde(flatten)]
    facts: &'a ClientFacts,
    to: Option<Port>,
    ending_step: Option<u8>,
    ending: &'static str,
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
            ending_step: client.ending,
            ending: client.ending_words(),
        }
    }
}

/// A core by its parts.
#[derive(Serialize)]
pub(super) struct Core {
    chip: u16,
    tile: [u8; 2],
    core: &'static str,
}

impl Core {
    pub(super) fn of(core: CoreId) -> Self {
        Self { chip: core.chip.0, tile: tile(core.tile), core: core.core.name() }
    }
}

/// What a client is connected to.
#[derive(Serialize)]
#[serde(untagged)]
enum Port {
    /// A sender channel of a router.
    Router { router: End, channel: u8 },
    /// A channel of a mux.
    Mux { mux: Core, channel: u8 },
}

impl Port {
    fn of(port: FabricPort) -> Self {
        match port {
            FabricPort::Router(at, channel) => Self::Router { router: end(at), channel },
            FabricPort::Mux(at, channel) => Self::Mux { mux: Core::of(at), channel },
        }
    }
}

/// Is a kernel running on the core? Null where that is not known.
pub(super) fn running(activity: &Reading<Activity>) -> Option<bool> {
    activity.known().map(|activity| *activity == Activity::Running)
}
