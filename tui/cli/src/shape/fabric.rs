//! The JSON of `fabric`. The keys of a router, a channel, a mux, a client and a packet come from
//! their tables of facts: each row is a key.

mod channels;
mod clients;
mod routes;
mod waits;

pub(crate) use routes::{
    FabricProof, FabricRoutes, FabricTables, fabric_proof, fabric_routes, fabric_tables,
};
pub(crate) use waits::{FabricWaits, fabric_waits};

use channels::Sender;
use clients::Client;
use decode::state::{LedgerState, MeshState, MuxState, RouterState, Stage};
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
    muxes: &'a [MuxState],
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
        muxes: &state.fabric.muxes,
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
    state: &'a RouterState,
    /// Its stage between launch and end; null if too few of its facts are known.
    stage: Option<&'static Stage>,
    /// The name of `postcode`; null if it has none.
    postcode_name: Option<&'a str>,
    /// The name of `refusal`; null if it did not refuse.
    refusal_name: Option<&'a str>,
    /// Its sender channels.
    senders: Vec<Sender<'a>>,
}

impl<'a> Router<'a> {
    fn of(state: &'a RouterState) -> Self {
        Self {
            state,
            stage: state.stage(),
            postcode_name: state.facts.postcode.name(),
            refusal_name: state.refusal_name(),
            senders: state.senders.iter().map(Sender::of).collect(),
        }
    }
}
