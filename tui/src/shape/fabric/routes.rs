//! Routing tables and routes by them.

use crate::shape::End;
use crate::shape::build::end;
use decode::fabric::{Fact, NodeJson};
use decode::state::{FabricHop, FabricRoute, MeshState, RouteEnd, TablesState};
use layouts::ChipId;
use machine::fabric::{Entry, FabricNode};
use serde::Serialize;

/// The shape of `fabric tables`.
#[derive(Serialize)]
pub(crate) struct FabricTables<'a> {
    target: &'a str,
    cycles: u64,
    tables: Vec<Tables<'a>>,
}

/// The routing tables in a router.
#[derive(Serialize)]
struct Tables<'a> {
    router: End,
    node: NodeJson,
    row: u64,
    column: u64,
    rows: u64,
    columns: u64,
    /// By device of its mesh: a direction by name, `here`, or null.
    l0: Vec<Option<&'static str>>,
    /// By mesh: a direction by name, `here`, or null.
    l1: Vec<Option<&'static str>>,
    /// By mesh: the device of this mesh by which it is reached, or null.
    exit_nodes: &'a [Option<u16>],
}

/// The shape of `fabric tables`.
pub(crate) fn fabric_tables<'a>(target: &'a str, state: &'a MeshState) -> FabricTables<'a> {
    let one = |found: &'a TablesState| {
        let TablesState { at, place, shape, tables } = found;
        Tables {
            router: end(*at),
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
    let tables = state.fabric.tables.iter().map(one).collect();
    FabricTables { target, cycles: state.cycles, tables }
}

/// The shape of `fabric path`.
#[derive(Serialize)]
pub(crate) struct FabricRoutes<'a> {
    target: &'a str,
    cycles: u64,
    from: u16,
    to: NodeJson,
    ways: Vec<Route>,
}

/// The route of a packet.
#[derive(Serialize)]
struct Route {
    hops: Vec<Hop>,
    /// `arrived`, or why it ends.
    end: &'static str,
    /// Where it ends; null if it arrives.
    at: Option<End>,
}

/// A link that a packet takes.
#[derive(Serialize)]
struct Hop {
    out: End,
    into: End,
    direction: &'static str,
    virtual_channel: u8,
}

/// The shape of `fabric path`.
pub(crate) fn fabric_routes<'a>(
    target: &'a str,
    state: &MeshState,
    from: ChipId,
    to: FabricNode,
    routes: &[FabricRoute],
) -> FabricRoutes<'a> {
    let hop = |hop: &FabricHop| Hop {
        out: end(hop.out),
        into: end(hop.into),
        direction: hop.direction.name(),
        virtual_channel: hop.virtual_channel,
    };
    let one = |route: &FabricRoute| {
        let (word, at) = match route.end {
            RouteEnd::Arrived => ("arrived", None),
            RouteEnd::NoEntry(at) => ("no_entry", Some(at)),
            RouteEnd::NoRouter(at, _) => ("no_router", Some(at)),
            RouteEnd::Loop(at) => ("loop", Some(at)),
            RouteEnd::Unread(at) => ("unread", Some(at)),
        };
        Route { hops: route.hops.iter().map(hop).collect(), end: word, at: at.map(end) }
    };
    FabricRoutes {
        target,
        cycles: state.cycles,
        from: from.0,
        to: to.json(),
        ways: routes.iter().map(one).collect(),
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
