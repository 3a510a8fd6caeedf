//! Routing tables and ways by them.

use super::node;
use crate::shape::end;
use decode::state::{FabricWay, MeshState, TablesState, WayEnd};
use layouts::ChipId;
use machine::fabric::{Entry, FabricNode};
use serde_json::{Value, json};

/// The shape of `fabric tables`.
pub(crate) fn fabric_tables(target: &str, state: &MeshState) -> Value {
    let one = |found: &TablesState| {
        let TablesState { at, place, shape, tables } = found;
        json!({
            "router": end(*at),
            "node": node(tables.node),
            "row": place.0,
            "column": place.1,
            "rows": shape.0,
            "columns": shape.1,
            "l0": tables.intra_mesh.iter().copied().map(entry).collect::<Vec<_>>(),
            "l1": tables.inter_mesh.iter().copied().map(entry).collect::<Vec<_>>(),
            "exit_nodes": tables.exit_nodes,
        })
    };
    let all: Vec<_> = state.fabric.tables.iter().map(one).collect();
    json!({ "target": target, "cycles": state.cycles, "tables": all })
}

/// The shape of `fabric path`.
pub(crate) fn fabric_ways(
    target: &str,
    state: &MeshState,
    from: ChipId,
    to: FabricNode,
    ways: &[FabricWay],
) -> Value {
    let hop = |hop: &decode::state::FabricHop| {
        json!({
            "out": end(hop.out),
            "into": end(hop.into),
            "direction": hop.direction.name(),
            "virtual_channel": hop.virtual_channel,
        })
    };
    let one = |way: &FabricWay| {
        let (word, at) = match way.end {
            WayEnd::Arrived => ("arrived", None),
            WayEnd::NoEntry(at) => ("no_entry", Some(at)),
            WayEnd::NoRouter(at, _) => ("no_router", Some(at)),
            WayEnd::Loop(at) => ("loop", Some(at)),
            WayEnd::Unread(at) => ("unread", Some(at)),
        };
        json!({ "hops": way.hops.iter().map(hop).collect::<Vec<_>>(), "end": word, "at": at.map(end) })
    };
    json!({
        "target": target,
        "cycles": state.cycles,
        "from": from.0,
        "to": node(to),
        "ways": ways.iter().map(one).collect::<Vec<_>>(),
    })
}

/// A direction by name, `here`, or null.
fn entry(entry: Entry) -> Value {
    match entry {
        Entry::To(direction) => direction.name().into(),
        Entry::Here => "here".into(),
        Entry::Absent => Value::Null,
    }
}
