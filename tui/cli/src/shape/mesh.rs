//! The JSON of `mesh` and `links`.

use super::difference::{Differs, Summarized, difference, summarized};
use super::{Missing, value, why};
use decode::state::{ChipState, EthState, LinkState, MeshState};
use diagnosis::expect::Comparison;
use images::Reading;
use layouts::{EthId, NocXy};
use machine::clients::{Client, Holder};
use machine::snapshot::{AccessError, Gap};
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;

/// Chips and links of a mesh.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Mesh<'a> {
    /// The target, as `--target` names it.
    target: &'a str,
    /// The target's own time of the snapshot, in cycles of a nanosecond.
    cycles: u64,
    /// Bus transactions that the snapshot took.
    transactions: u64,
    /// Its chips.
    chips: Vec<Chip<'a>>,
    /// Its links, each once.
    links: Vec<Link<'a>>,
    /// Ranges that were not read.
    gaps: &'a [Gap],
    /// Problems of the mesh, a sentence each.
    problems: &'a [String],
    /// Of a served mesh: the previous client; else null.
    last_client: Option<LastClient<'a>>,
    /// Of a served mesh: the last client that changed it; else null.
    last_writer: Option<LastWriter<'a>>,
    /// Of a served mesh: another client with the right to write; else null.
    writer: Option<&'a Client>,
    /// With --expect: the differences from the descriptor.
    #[serde(skip_serializing_if = "Option::is_none")]
    differences: Option<Vec<Differs>>,
    /// With --expect: the same in sentences, first what is missing as a whole, such as all wraps of an
    /// axis, or all links of a port.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Vec<Summarized<'a>>>,
}

/// A client that has left a served mesh.
#[derive(Serialize, JsonSchema)]
struct LastClient<'a> {
    #[serde(flatten)]
    client: &'a Client,
    /// When it left: host time in microseconds since the Unix epoch.
    until_micros: u64,
    /// Whether its connection was lost before it closed it.
    connection_lost: bool,
}

/// A client that changed a served mesh.
#[derive(Serialize, JsonSchema)]
struct LastWriter<'a> {
    #[serde(flatten)]
    client: &'a Client,
    /// Host time of the change, in microseconds since the Unix epoch.
    at_micros: u64,
    /// The mesh's own time of the change, in cycles of a nanosecond.
    at_cycles: u64,
    /// The change, in words.
    what: &'a str,
}

/// A chip.
#[derive(Serialize, JsonSchema)]
struct Chip<'a> {
    #[serde(flatten)]
    chip: &'a machine::target::Chip,
    /// Of a chip without PCIe: the Ethernet channels through which it is reachable.
    gateway: Option<&'a [EthId]>,
    /// Other processes that have its device open.
    holders: &'a [Holder],
}

/// A link.
#[derive(Serialize, JsonSchema)]
struct Link<'a> {
    #[serde(flatten)]
    state: &'a LinkState,
    /// The values at each end; printed by `links` only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ends: Vec<LinkEnd<'a>>,
}

/// The values at one end of a link.
#[derive(Serialize, JsonSchema)]
struct LinkEnd<'a> {
    #[serde(flatten)]
    at: EthId,
    /// NOC 0 coordinates of its tile: x, y.
    tile: Option<NocXy>,
    /// The waypoint of its core: up to four letters.
    waypoint: Option<String>,
    #[serde(flatten)]
    words: Cow<'a, EthState>,
    /// Reasons for null keys, by key.
    missing: Missing,
}

/// The links of a mesh with the values at each end.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Links<'a> {
    /// The target, as `--target` names it.
    target: &'a str,
    /// The target's own time of the snapshot, in cycles of a nanosecond.
    cycles: u64,
    /// Each link once.
    links: Vec<Link<'a>>,
    /// Ethernet tiles under base firmware whose link never came up, and whose peer is not known.
    no_peer_known: Vec<String>,
    /// Ranges that were not read.
    gaps: &'a [Gap],
}

impl<'a> Mesh<'a> {
    /// The shape of `mesh`.
    pub(crate) fn new(
        target: &'a str,
        state: &'a MeshState,
        compared: Option<&'a Comparison>,
    ) -> Self {
        let before = &state.before;
        Self {
            target,
            cycles: state.cycles,
            transactions: state.transactions,
            chips: state.chips.iter().map(chip).collect(),
            links: state.links.iter().map(|state| Link { state, ends: Vec::new() }).collect(),
            gaps: &state.gaps,
            problems: &state.problems,
            last_client: before.client.as_ref().map(|visit| LastClient {
                client: &visit.client,
                until_micros: visit.until_micros,
                connection_lost: visit.broke_off,
            }),
            last_writer: before.change.as_ref().map(|change| LastWriter {
                client: &change.client,
                at_micros: change.at_micros,
                at_cycles: change.at_cycles,
                what: &change.what,
            }),
            writer: before.writer.as_ref(),
            differences: compared.map(|it| it.differences.iter().map(difference).collect()),
            summary: compared.map(|it| it.summary.iter().map(summarized).collect()),
        }
    }
}

impl<'a> Links<'a> {
    /// The shape of `links`.
    pub(crate) fn new(target: &'a str, state: &'a MeshState) -> Self {
        let ends = |l: &LinkState| vec![link_end(state, l.link.a), link_end(state, l.link.b)];
        Self {
            target,
            cycles: state.cycles,
            links: state.links.iter().map(|l| Link { state: l, ends: ends(l) }).collect(),
            no_peer_known: state.ports_without_peer().iter().map(ToString::to_string).collect(),
            gaps: &state.gaps,
        }
    }
}

fn chip(state: &ChipState) -> Chip<'_> {
    let ChipState { chip, gateways, holders, .. } = state;
    Chip { chip, gateway: chip.gateway.as_ref().map(|_| gateways.as_slice()), holders }
}

fn link_end(state: &MeshState, at: EthId) -> LinkEnd<'_> {
    let tile = state.eth(at);
    let mut missing = Missing::new();
    let unread = || Reading::Unread(AccessError::NotRequested);
    let waypoint = tile.and_then(|t| t.cores.first()).map_or_else(unread, |c| c.waypoint.clone());
    let words = tile.and_then(|tile| tile.eth.as_ref()).map_or_else(
        || Cow::Owned(EthState::unread(at.channel, &AccessError::NotRequested)),
        Cow::Borrowed,
    );
    let waypoint = value("waypoint", &waypoint, &mut missing, Clone::clone);
    for (name, reading) in words.json_readings() {
        missing.extend(why(&reading).map(|why| (name, why)));
    }
    LinkEnd { at, tile: tile.map(|t| t.xy), waypoint, words, missing }
}
