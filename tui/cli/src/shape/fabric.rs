//! The JSON of `fabric`. The keys of a router, a channel, a mux, a client and a packet come from
//! their tables of facts: each row is a key.

mod channels;
mod clients;
mod routes;
mod waits;

pub(crate) use routes::{FabricRoutes, FabricTables, fabric_routes, fabric_tables};
pub(crate) use waits::{FabricWaits, fabric_waits};

use channels::Sender;
use clients::{Client, Mux, running};
use decode::state::{DownstreamState, LedgerState, MeshState, ReceiverState, RouterState};
use images::fabric::{RouterCounts, RouterFacts};
use layouts::{EthId, NocXy};
use machine::snapshot::Gap;
use schemars::JsonSchema;
use serde::Serialize;

/// The routers of a fabric with their channels, its muxes, the connections of kernels, and the
/// credits of both ends of each link.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fabric<'a> {
    /// The target, as `--target` names it.
    target: &'a str,
    /// The target's own time of the snapshot, in cycles of a nanosecond.
    cycles: u64,
    /// Its routers.
    routers: Vec<Router<'a>>,
    /// Its muxes.
    muxes: Vec<Mux<'a>>,
    /// The connections of kernels to channels of routers and muxes.
    clients: Vec<Client<'a>>,
    /// The credits of each virtual channel, in each direction of a link.
    links: &'a [LedgerState],
    /// All waits.
    waits: Vec<waits::Wait>,
    /// Differences between the ELFs of routers and fabric manifests, one sentence each.
    findings: &'a [String],
    /// Ranges that were not read.
    gaps: &'a [Gap],
}

/// Builds `fabric`.
pub(crate) fn fabric<'a>(target: &'a str, state: &'a MeshState) -> Fabric<'a> {
    Fabric {
        target,
        cycles: state.cycles,
        routers: state.fabric.routers.iter().map(Router::of).collect(),
        muxes: state.fabric.muxes.iter().map(Mux::of).collect(),
        clients: state.fabric.clients.iter().map(Client::of).collect(),
        links: &state.fabric.ledgers,
        waits: waits::waits(&state.fabric.waits),
        findings: &state.fabric.findings,
        gaps: &state.gaps,
    }
}

/// A router.
#[derive(Serialize, JsonSchema)]
struct Router<'a> {
    #[serde(flatten)]
    at: EthId,
    /// NOC 0 coordinates of its tile: x, y.
    tile: NocXy,
    /// Its routing plane; null if it is spare or if its direction is not known.
    plane: Option<usize>,
    /// The name of its image.
    image: &'a str,
    /// Whether a kernel runs on its core; null if that is not known.
    running: Option<bool>,
    /// The waypoint of its core: up to four letters.
    waypoint: Option<&'a str>,
    /// Its stage between launch and end; null if too few of its facts are known.
    stage: Option<Stage>,
    #[serde(flatten)]
    facts: &'a RouterFacts,
    /// The name of `postcode`; null if it has none.
    postcode_name: Option<&'a str>,
    /// The name of `refusal`; null if it did not refuse.
    refusal_name: Option<&'a str>,
    /// Its sender channels.
    senders: Vec<Sender<'a>>,
    /// Its receiver channels.
    receivers: &'a [ReceiverState],
    /// Its credits for the other routers of its plane on this chip.
    downstream: &'a [DownstreamState],
    /// Its counters.
    counts: &'a RouterCounts,
}

impl<'a> Router<'a> {
    fn of(router: &'a RouterState) -> Self {
        Self {
            at: router.at,
            tile: router.tile,
            plane: router.plane,
            image: &router.image,
            running: running(&router.activity),
            waypoint: router.waypoint.known().map(String::as_str),
            stage: router.stage().map(Stage::of),
            facts: &router.facts,
            postcode_name: router.facts.postcode.name(),
            refusal_name: router.refusal_name(),
            senders: router.senders.iter().map(Sender::of).collect(),
            receivers: &router.receivers,
            downstream: &router.downstream,
            counts: &router.counts,
        }
    }
}

/// A stage of a router.
#[derive(Serialize, JsonSchema)]
struct Stage {
    /// Its name, such as `remote handshake` or `serving`.
    name: &'static str,
    /// The facts that show it.
    signs: Vec<String>,
    /// Who must act before it ends.
    next: String,
    /// What happens in it, and what ends it.
    meaning: &'static str,
}

impl Stage {
    fn of(stage: &decode::state::Stage) -> Self {
        Self {
            name: stage.name,
            signs: stage.signs.iter().map(ToString::to_string).collect(),
            next: stage.next.to_string(),
            meaning: stage.meaning,
        }
    }
}
