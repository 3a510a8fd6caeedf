//! Routing tables and routes by them.

use decode::state::{FabricHop, FabricRoute, MeshState, RouteEnd, TablesState};
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
        let (word, at) = match route.end {
            RouteEnd::Arrived => ("arrived", None),
            RouteEnd::NoEntry(at) => ("no_entry", Some(at)),
            RouteEnd::NoRouter(at, _) => ("no_router", Some(at)),
            RouteEnd::Loop(at) => ("loop", Some(at)),
            RouteEnd::Unread(at) => ("unread", Some(at)),
        };
        Route { hops: &route.hops, end: word, at }
    };
    FabricRoutes {
        target,
        cycles: state.cycles,
        from,
        to: to.json(),
        routes: routes.iter().map(shape).collect(),
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
