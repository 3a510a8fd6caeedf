//! The JSON of `mesh` and `links`.

use super::difference::{Differs, difference};
use super::{Missing, value, why};
use console::words;
use decode::state::{ChipState, EthState, LinkState, MeshState};
use diagnosis::expect::Difference;
use images::Reading;
use layouts::{ChipId, EthId, NocXy};
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
    writer: Option<Writer<'a>>,
    /// With --expect: the differences from the cluster descriptor.
    #[serde(skip_serializing_if = "Option::is_none")]
    differences: Option<Vec<Differs>>,
}

/// A client that has left a served mesh.
#[derive(Serialize, JsonSchema)]
struct LastClient<'a> {
    /// Name of its program.
    name: &'a str,
    /// Its process id.
    pid: u32,
    /// When it left: host time in microseconds since the Unix epoch.
    until_micros: u64,
    /// Whether its connection was lost before it closed it.
    connection_lost: bool,
}

/// A client with the right to write to a served mesh.
#[derive(Serialize, JsonSchema)]
struct Writer<'a> {
    /// Name of its program.
    name: &'a str,
    /// Its process id.
    pid: u32,
}

/// A client that changed a served mesh.
#[derive(Serialize, JsonSchema)]
struct LastWriter<'a> {
    /// Name of its program.
    name: &'a str,
    /// Its process id.
    pid: u32,
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
    /// Its number: chips with PCIe in the order of their devices, then the others by rack, shelf, y
    /// and x.
    id: ChipId,
    /// Its position by its base firmware: x, y, rack, shelf. Null if that is not known.
    coord: Option<[u8; 4]>,
    /// Whether it is a PCIe device itself.
    pcie: bool,
    /// Name of its board, such as `n300 L`.
    board: Option<&'a str>,
    /// Its 64-bit board id.
    unique_id: Option<u64>,
    /// Of a chip without PCIe: the Ethernet channels through which it is reachable.
    gateway: Option<&'a [EthId]>,
    /// NOC 0 rows of Tensix tiles that are fused off; null where they could not be read.
    harvested_rows: Option<&'a [u8]>,
    /// Other processes that have its device open.
    holders: Vec<Holder<'a>>,
}

/// A process other than this one that has the chip's device open.
#[derive(Serialize, JsonSchema)]
struct Holder<'a> {
    /// Its process id.
    pid: u32,
    /// Name of its program.
    name: &'a str,
}

/// A link.
#[derive(Serialize, JsonSchema)]
struct Link<'a> {
    /// One end, the lower one.
    a: EthId,
    /// The other end.
    b: EthId,
    /// The state by both ends: up, down, disagree or unread.
    state: &'static str,
    /// Bytes in flight from a to b, over all channels; null if these are not known.
    a_to_b: Option<u64>,
    /// The same from b to a.
    b_to_a: Option<u64>,
    /// Time between the reads of both ends, in cycles of a nanosecond; null if one was not read.
    apart_cycles: Option<u64>,
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
        differences: Option<&[Difference]>,
    ) -> Self {
        let before = &state.before;
        Self {
            target,
            cycles: state.cycles,
            transactions: state.transactions,
            chips: state.chips.iter().map(chip).collect(),
            links: state.links.iter().map(|l| link(l, Vec::new())).collect(),
            gaps: &state.gaps,
            problems: &state.problems,
            last_client: before.client.as_ref().map(|visit| LastClient {
                name: &visit.client.name,
                pid: visit.client.pid,
                until_micros: visit.until_micros,
                connection_lost: visit.broke_off,
            }),
            last_writer: before.change.as_ref().map(|change| LastWriter {
                name: &change.client.name,
                pid: change.client.pid,
                at_micros: change.at_micros,
                at_cycles: change.at_cycles,
                what: &change.what,
            }),
            writer: before.writer.as_ref().map(|c| Writer { name: &c.name, pid: c.pid }),
            differences: differences.map(|all| all.iter().map(difference).collect()),
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
            links: state.links.iter().map(|l| link(l, ends(l))).collect(),
            no_peer_known: state.ports_without_peer().iter().map(ToString::to_string).collect(),
            gaps: &state.gaps,
        }
    }
}

fn chip(state: &ChipState) -> Chip<'_> {
    let chip = &state.chip;
    Chip {
        id: chip.id,
        coord: chip.coord.map(|c| [c.x, c.y, c.rack, c.shelf]),
        pcie: chip.pcie,
        board: chip.board.as_deref(),
        unique_id: chip.unique_id,
        gateway: chip.gateway.as_ref().map(|_| state.gateways.as_slice()),
        harvested_rows: chip.harvested_rows.as_deref(),
        holders: state.holders.iter().map(|h| Holder { pid: h.pid, name: &h.name }).collect(),
    }
}

fn link<'a>(state: &LinkState, ends: Vec<LinkEnd<'a>>) -> Link<'a> {
    Link {
        a: state.link.a,
        b: state.link.b,
        state: words::link(state.condition),
        a_to_b: state.a_to_b,
        b_to_a: state.b_to_a,
        apart_cycles: state.apart_cycles,
        ends,
    }
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
