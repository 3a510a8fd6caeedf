//! The channels of a router.

use super::word;
use crate::output::Columns;
use crate::verbs::{Style, cell};
use layouts::NocXy;
use probe::state::{HeadState, PacketState, Reading, RouterState, SenderState};

const CHANNELS: [&str; 8] =
    ["CHANNEL", "VC", "SLOTS", "QUEUED", "IN FLIGHT", "CONNECTION", "WAITS FOR", "HEAD"];
/// `connection_t`.
pub(super) const CONNECTIONS: [&str; 3] = ["unused", "open", "close requested"];
/// `fabric_wait_t`.
const WAITS: [&str; 4] = ["-", "downstream", "NoC", "TXQ"];

pub(super) fn channel_table(style: Style, router: &RouterState) -> String {
    let mut table = Columns::new(&CHANNELS);
    let count = |reading: &Reading<u64>| cell(style, reading, u64::to_string);
    for channel in &router.senders {
        table.row(vec![
            format!("sender {}", channel.index),
            channel.virtual_channel.to_string(),
            channel.slots.to_string(),
            count(&channel.queued),
            count(&channel.in_flight),
            connection(style, channel),
            "-".to_owned(),
            head(style, channel.head.as_ref()),
        ]);
    }
    for channel in &router.receivers {
        let towards: Vec<_> = channel.pending.iter().map(|direction| direction.name()).collect();
        let waits = cell(style, &channel.waits_for, |wait| word(&WAITS, *wait));
        table.row(vec![
            format!("receiver {}", channel.index),
            channel.virtual_channel.to_string(),
            channel.slots.to_string(),
            count(&channel.arrived),
            count(&channel.held),
            "-".to_owned(),
            format!("{waits} {}", towards.join("+")).trim_end().to_owned(),
            head(style, channel.head.as_ref()),
        ]);
    }
    for edge in &router.downstream {
        let tile = edge.tile.map_or_else(String::new, |tile: NocXy| tile.to_string());
        let credits = count(&edge.credits);
        table.row(vec![
            format!("to {} {tile}", edge.direction.name()),
            edge.virtual_channel.to_string(),
            String::new(),
            format!("{credits} free"),
        ]);
    }
    table.text()
}

fn connection(style: Style, channel: &SenderState) -> String {
    let state = cell(style, &channel.connection, |state| word(&CONNECTIONS, *state));
    match channel.client {
        Some(client) => format!("{state} {client}"),
        None => state,
    }
}

pub(super) fn head(style: Style, head: Option<&HeadState>) -> String {
    head.map_or("-".to_owned(), |head| cell(style, &head.packet, packet))
}

/// A packet in a line.
fn packet(packet: &PacketState) -> String {
    let kind = packet.send_type.map_or_else(|number| format!("type {number}"), str::to_owned);
    let (tile, addr) = packet.noc_address;
    let from = packet.source;
    format!(
        "{kind} {} B from {from} #{} to {tile}:{addr:#x} ttl {} [{}]",
        packet.payload_bytes, packet.number, packet.ttl, packet.route
    )
}
