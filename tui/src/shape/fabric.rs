//! The shape of `fabric`.

mod channels;
mod clients;
mod routes;
mod waits;

pub(crate) use routes::{fabric_tables, fabric_ways};
pub(crate) use waits::fabric_waits;

use super::{end, missed};
use channels::{receiver, sender};
use clients::{client, mux, running};
use decode::state::{LedgerState, MeshState, Reading, RouterState};
use layouts::NocXy;
use machine::fabric::FabricNode;
use serde_json::{Map, Value, json};

/// The shape of `fabric`: routers with their channels, muxes, connections of kernels, and the credits of both ends of each link.
pub(crate) fn fabric(target: &str, state: &MeshState) -> Value {
    json!({
        "target": target,
        "cycles": state.cycles,
        "routers": state.fabric.routers.iter().map(router).collect::<Vec<_>>(),
        "muxes": state.fabric.muxes.iter().map(mux).collect::<Vec<_>>(),
        "clients": state.fabric.clients.iter().map(client).collect::<Vec<_>>(),
        "links": state.fabric.ledgers.iter().map(ledger).collect::<Vec<_>>(),
        "waits": waits::waits(&state.fabric.waits),
        "gaps": missed(&state.gaps),
    })
}

/// The value; null where it could not be known.
fn known<T: Clone + Into<Value>>(reading: &Reading<T>) -> Value {
    reading.known().cloned().map_or(Value::Null, Into::into)
}

fn tile(xy: NocXy) -> Value {
    json!([xy.x, xy.y])
}

fn node(node: FabricNode) -> Value {
    json!({ "mesh": node.mesh, "device": node.device })
}

fn router(router: &RouterState) -> Value {
    let counts: Map<String, Value> =
        router.counts.iter().map(|(name, count)| ((*name).to_owned(), known(count))).collect();
    let downstream = router.downstream.iter().map(|edge| {
        json!({
            "direction": edge.direction.name(),
            "virtual_channel": edge.virtual_channel,
            "tile": edge.tile.map(tile),
            "credits": known(&edge.credits),
        })
    });
    json!({
        "chip": router.at.chip.0,
        "channel": router.at.channel,
        "tile": tile(router.tile),
        "image": router.image,
        "topology": router.topology,
        "node": router.node.known().copied().map(node),
        "direction": router.direction.known().map(|direction| direction.name()),
        "running": running(&router.activity),
        "waypoint": known(&router.waypoint),
        "master": known(&router.master),
        "dateline": known(&router.dateline),
        "status": known(&router.status),
        "postcode": known(&router.postcode),
        "termination": known(&router.termination),
        "refusal": known(&router.refusal),
        "refusal_name": known(&router.refusal_name),
        "local_sync": known(&router.local_sync),
        "local_routers": known(&router.local_routers),
        "link": known(&router.link),
        "epoch": known(&router.epoch),
        "fallback": router.fallback.map(tile),
        "passes": known(&router.passes),
        "senders": router.senders.iter().map(sender).collect::<Vec<_>>(),
        "receivers": router.receivers.iter().map(receiver).collect::<Vec<_>>(),
        "downstream": downstream.collect::<Vec<_>>(),
        "counts": counts,
    })
}

fn ledger(ledger: &LedgerState) -> Value {
    json!({
        "from": end(ledger.from),
        "to": end(ledger.to),
        "virtual_channel": ledger.virtual_channel,
        "slots": ledger.slots,
        "queued": ledger.queued,
        "remote_free_slots": ledger.remote_free_slots,
        "in_flight": ledger.in_flight,
        "arrived": ledger.arrived,
        "held": ledger.held,
        "rerouted_by": ledger.rerouted_by.map(end),
        "verdict": ledger.verdict.word(),
    })
}
