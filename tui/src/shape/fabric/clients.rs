//! Muxes and who sends through a channel.

use super::channels::head;
use super::{known, tile};
use crate::shape::end;
use decode::state::{Activity, ClientState, FabricPort, MuxChannelState, MuxState, Reading};
use layouts::CoreId;
use serde_json::{Value, json};

pub(super) fn mux(mux: &MuxState) -> Value {
    json!({
        "core": core(mux.at),
        "image": mux.image,
        "policy": mux.policy,
        "running": running(&mux.activity),
        "waypoint": known(&mux.waypoint),
        "status": known(&mux.status),
        "termination": known(&mux.termination),
        "passes": known(&mux.passes),
        "holder": known(&mux.holder),
        "drain_iters": known(&mux.drain_iters),
        "abandoned": known(&mux.abandoned),
        "channels": mux.channels.iter().map(channel).collect::<Vec<_>>(),
    })
}

fn channel(channel: &MuxChannelState) -> Value {
    json!({
        "index": channel.index,
        "slots": known(&channel.slots),
        "queued": known(&channel.queued),
        "connection": known(&channel.connection),
        "connected": known(&channel.connected),
        "client": channel.client.map(tile),
        "forwarded": known(&channel.forwarded),
        "polls": known(&channel.polls),
        "skips": known(&channel.skips),
        "longest_wait_cycles": known(&channel.longest_wait_cycles),
        "closes": known(&channel.closes),
        "head": channel.head.as_ref().map(head),
    })
}

pub(super) fn client(client: &ClientState) -> Value {
    json!({
        "core": core(client.at),
        "image": client.image,
        "name": client.name,
        "running": running(&client.activity),
        "waypoint": known(&client.waypoint),
        "stage": known(&client.stage),
        "waits": known(&client.waits),
        "to_tile": client.to_tile.map(tile),
        "to": client.to.map(port),
        "slots": known(&client.slots),
        "sent": known(&client.sent),
        "used": known(&client.used),
        "teardown": known(&client.teardown),
        "termination": known(&client.termination),
        "mux_clients": known(&client.mux_clients),
        "told": known(&client.told),
        "ending_step": client.ending,
        "ending": client.ending_words(),
    })
}

/// A core by its parts.
pub(super) fn core(core: CoreId) -> Value {
    json!({ "chip": core.chip.0, "tile": tile(core.tile), "core": core.core.name() })
}

fn port(port: FabricPort) -> Value {
    match port {
        FabricPort::Router(at, channel) => {
            json!({ "router": end(at), "channel": channel })
        }
        FabricPort::Mux(at, channel) => json!({ "mux": core(at), "channel": channel }),
    }
}

/// Is a kernel running on the core? Null where that is not known.
pub(super) fn running(activity: &Reading<Activity>) -> Option<bool> {
    activity.known().map(|activity| *activity == Activity::Running)
}
