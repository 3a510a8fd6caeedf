//! Routing tables and routes by them.

use decode::state::{FabricHop, FabricRoute, MeshState, RouteEnd, TablesState};
use diagnosis::{BrokenRoute, ExitsProof, TablesProof};
use images::fabric::{Fact, NodeJson};
use layouts::{ChipId, EthId};
use machine::fabric::{Entry, FabricNode};
use schemars::JsonSchema;
use serde::Serialize;

/// The routing tables in the L1 of routers.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FabricTables<'a> {
    /// The target, as `--target` names it.
    target: &'a str,
    /// The target's own time of the snapshot, in cycles of a nanosecond.
    cycles: u64,
    /// The tables of each router.
    tables: Vec<Tables<'a>>,
}

/// The routing tables of a router.
#[derive(Serialize, JsonSchema)]
struct Tables<'a> {
    /// The router.
    router: EthId,
    /// Its node in the fabric.
    node: NodeJson,
    /// The row of this node in its mesh.
    row: u64,
    /// The column of this node in its mesh.
    column: u64,
    /// Rows of its mesh.
    rows: u64,
    /// Columns of its mesh.
    columns: u64,
    /// By device of its mesh: a direction by name, `here`, or null.
    l0: Vec<Option<&'static str>>,
    /// By mesh: a direction by name, `here`, or null.
    l1: Vec<Option<&'static str>>,
    /// By mesh: the device of this mesh through which it is reached, or null.
    exit_nodes: &'a [Option<u16>],
}

/// Builds `fabric tables`.
pub(crate) fn fabric_tables<'a>(target: &'a str, state: &'a MeshState) -> FabricTables<'a> {
    let tables_of = |found: &'a TablesState| {
        let TablesState { at, place, shape, tables } = found;
        Tables {
            router: *at,
            node: tables.node.json(),
            row: place.0,
            column: place.1,
            rows: shape.0,
            columns: shape.1,
            l0: tables.intra_mesh.iter().copied().map(entry).collect(),
            l1: tables.inter_mesh.iter().copied().map(entry).collect(),
            exit_nodes: &tables.exit_nodes,
        }
    };
    let tables = state.fabric.tables.iter().map(tables_of).collect();
    FabricTables { target, cycles: state.cycles, tables }
}

/// The routes of a packet by the tables in the L1 of the routers on them.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FabricRoutes<'a> {
    /// The target, as `--target` names it.
    target: &'a str,
    /// The target's own time of the snapshot, in cycles of a nanosecond.
    cycles: u64,
    /// The id of the chip that sends.
    from: ChipId,
    /// The destination node.
    to: NodeJson,
    /// Its route in each routing plane.
    routes: Vec<Route<'a>>,
}

/// The route of a packet.
#[derive(Serialize, JsonSchema)]
struct Route<'a> {
    /// Its links, in order.
    hops: &'a [FabricHop],
    /// arrived, or why it ends: no_entry, no_router, loop or unread.
    end: &'static str,
    /// Where it ends; null if it arrives.
    at: Option<EthId>,
}

/// Builds `fabric path`.
pub(crate) fn fabric_routes<'a>(
    target: &'a str,
    state: &MeshState,
    from: ChipId,
    to: FabricNode,
    routes: &'a [FabricRoute],
) -> FabricRoutes<'a> {
    let shape = |route: &'a FabricRoute| {
        let (end, at) = end(route.end);
        Route { hops: &route.hops, end, at }
    };
    FabricRoutes {
        target,
        cycles: state.cycles,
        from,
        to: to.json(),
        routes: routes.iter().map(shape).collect(),
    }
}

/// The proof of routing tables.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FabricProof<'a> {
    /// The target, as `--target` names it.
    target: &'a str,
    /// The target's own time of the snapshot, in cycles of a nanosecond.
    cycles: u64,
    /// Whether nothing speaks against the tables that were read.
    proved: bool,
    /// The number of nodes.
    nodes: usize,
    /// Ordered pairs of nodes whose packets the tables must carry. In one dimension those of two rows
    /// and columns are none.
    pairs: usize,
    /// The number of routes: one of each pair and routing plane.
    routes: usize,
    /// Hops of the longest route that arrives.
    longest: usize,
    /// The number of routes whose end was not read.
    unread: usize,
    /// The routes that do not arrive.
    broken: Vec<Broken>,
    /// The number of channels on the routes.
    channels: usize,
    /// The number of waits that are possible between two of them.
    dependencies: usize,
    /// Channels that can wait for each other in a circle.
    circle: &'a [FabricHop],
    /// The pairs of meshes that links join.
    exits: Vec<Exits<'a>>,
}

/// A route that does not arrive.
#[derive(Serialize, JsonSchema)]
struct Broken {
    /// The node that sends.
    from: NodeJson,
    /// The destination.
    to: NodeJson,
    /// The routing plane.
    plane: usize,
    /// no_entry, no_router or loop.
    end: &'static str,
    /// Where it ends.
    at: Option<EthId>,
}

/// The exits between two meshes.
#[derive(Serialize, JsonSchema)]
struct Exits<'a> {
    /// The meshes.
    meshes: [u16; 2],
    /// Number of pairs of nodes that links join.
    exits: usize,
    /// Both ends of each link that opposite flows share.
    shared: &'a [(EthId, EthId)],
}

/// Builds `fabric check`.
pub(crate) fn fabric_proof<'a>(
    target: &'a str,
    state: &MeshState,
    proof: &'a TablesProof,
) -> FabricProof<'a> {
    let broken = |it: &BrokenRoute| {
        let (end, at) = end(it.end);
        Broken { from: it.from.json(), to: it.to.json(), plane: it.plane, end, at }
    };
    let exits = |it: &'a ExitsProof| Exits {
        meshes: [it.meshes.0, it.meshes.1],
        exits: it.exits,
        shared: &it.shared,
    };
    FabricProof {
        target,
        cycles: state.cycles,
        proved: proof.holds() && proof.unread == 0,
        nodes: proof.nodes,
        pairs: proof.pairs,
        routes: proof.routes,
        longest: proof.longest,
        unread: proof.unread,
        broken: proof.broken.iter().map(broken).collect(),
        channels: proof.channels,
        dependencies: proof.dependencies,
        circle: &proof.circle,
        exits: proof.exits.iter().map(exits).collect(),
    }
}

/// The word for the end of a route, and where it is.
fn end(end: RouteEnd) -> (&'static str, Option<EthId>) {
    match end {
        RouteEnd::Arrived => ("arrived", None),
        RouteEnd::NoEntry(at) => ("no_entry", Some(at)),
        RouteEnd::NoRouter(at, _) => ("no_router", Some(at)),
        RouteEnd::Loop(at) => ("loop", Some(at)),
        RouteEnd::Unread(at) => ("unread", Some(at)),
    }
}

/// A direction by name, `here`, or null.
fn entry(entry: Entry) -> Option<&'static str> {
    match entry {
        Entry::To(direction) => Some(direction.name()),
        Entry::Here => Some("here"),
        Entry::Absent => None,
    }
}
