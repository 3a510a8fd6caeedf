//! Channels and packets.

use super::{known, node, tile};
use decode::state::{HeadState, ReceiverState, SenderState};
use serde_json::{Value, json};

pub(super) fn sender(channel: &SenderState) -> Value {
    json!({
        "index": channel.index,
        "virtual_channel": channel.virtual_channel,
        "slots": channel.slots,
        "queued": known(&channel.queued),
        "in_flight": known(&channel.in_flight),
        "completions": known(&channel.completions),
        "remote_free_slots": known(&channel.remote_free_slots),
        "sent": known(&channel.sent),
        "completed": known(&channel.completed),
        "dropped": known(&channel.dropped),
        "connection": known(&channel.connection),
        "client": channel.client.map(tile),
        "last_client": channel.last_client.map(tile),
        "head": channel.head.as_ref().map(head),
    })
}

pub(super) fn receiver(channel: &ReceiverState) -> Value {
    json!({
        "index": channel.index,
        "virtual_channel": channel.virtual_channel,
        "slots": channel.slots,
        "arrived": known(&channel.arrived),
        "held": known(&channel.held),
        "received": known(&channel.received),
        "completed": known(&channel.completed),
        "dropped": known(&channel.dropped),
        "waits_for": known(&channel.waits_for),
        "pending": channel.pending.iter().map(|direction| direction.name()).collect::<Vec<_>>(),
        "head": channel.head.as_ref().map(head),
    })
}

pub(super) fn head(head: &HeadState) -> Value {
    let packet = head.packet.known().map(|packet| {
        json!({
            "send_type": packet.send_type.map_or_else(Value::from, Value::from),
            "payload_bytes": packet.payload_bytes,
            "ttl": packet.ttl,
            "source": node(packet.source),
            "destination": packet.destination.map(node),
            "number": packet.number,
            "to": { "tile": tile(packet.noc_address.0), "addr": packet.noc_address.1 },
            "route": packet.route,
        })
    });
    json!({ "addr": head.addr, "packet": packet })
}
