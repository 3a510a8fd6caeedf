//! Muxes and clients.

use decode::state::{Activity, ClientState, FabricPort, MuxChannelState, MuxState};
use images::Reading;
use images::fabric::{ClientFacts, EntryFacts, MuxFacts};
use layouts::{CoreId, EthId};
use schemars::JsonSchema;
use serde::Serialize;

/// A mux.
#[derive(Serialize, JsonSchema)]
pub(super) struct Mux<'a> {
    /// The core that it runs on.
    core: CoreId,
    /// The name of its image.
    image: &'a str,
    /// Whether a kernel runs on the core; null if that is not known.
    running: Option<bool>,
    /// The waypoint of the core: up to four letters.
    waypoint: Option<&'a str>,
    #[serde(flatten)]
    facts: &'a MuxFacts,
    /// Its channels.
    channels: &'a [MuxChannelState],
}

impl<'a> Mux<'a> {
    pub(super) fn of(mux: &'a MuxState) -> Self {
        Self {
            core: mux.at,
            image: &mux.image,
            running: running(&mux.activity),
            waypoint: mux.waypoint.known().map(String::as_str),
            facts: &mux.facts,
            channels: &mux.channels,
        }
    }
}

/// A kernel's connection to a channel of a router or mux.
#[derive(Serialize, JsonSchema)]
pub(super) struct Client<'a> {
    /// The core that it runs on.
    core: CoreId,
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
            core: client.at,
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

/// The channel that a client is connected to.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Port {
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

impl Port {
    fn of(port: FabricPort) -> Self {
        match port {
            FabricPort::Router(at, channel) => Self::Router { router: at, channel },
            FabricPort::Mux(at, channel) => Self::Mux { mux: at, channel },
        }
    }
}

/// Whether a kernel runs on the core; null if that is not known.
pub(super) fn running(activity: &Reading<Activity>) -> Option<bool> {
    activity.known().map(|activity| *activity == Activity::Running)
}
