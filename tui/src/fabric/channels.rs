//! The channels of a router.

use super::word;
use crate::glyph::Glyphs;
use crate::output::Columns;
use crate::reading::short;
use decode::state::{
    HeadState, LedgerState, PacketState, Reading, ReceiverState, RouterState, SenderState,
};
use layouts::NocXy;

const CHANNELS: [&str; 8] =
    ["CHANNEL", "VC", "SLOTS", "QUEUED", "IN FLIGHT", "CONNECTION", "WAITS FOR", "HEAD"];
const LEDGERS: [&str; 9] =
    ["FROM", "TO", "VC", "SLOTS", "QUEUED", "FREE", "IN FLIGHT", "ARRIVED+HELD", "VERDICT"];
/// `connection_t`.
pub(super) const CONNECTIONS: [&str; 3] = ["unused", "open", "close requested"];
/// `fabric_wait_t`.
const WAITS: [&str; 4] = ["-", "downstream", "NoC", "TXQ"];

pub(crate) fn channel_table(glyphs: Glyphs, router: &RouterState) -> String {
    let mut table = Columns::new(&CHANNELS);
    let count = |reading: &Reading<u64>| short(glyphs, reading, u64::to_string);
    for channel in &router.senders {
        table.row(vec![
            format!("sender {}", channel.index),
            channel.virtual_channel.to_string(),
            channel.slots.to_string(),
            count(&channel.queued),
            count(&channel.in_flight),
            connection(glyphs, channel),
            "-".to_owned(),
            head(glyphs, channel.head.as_ref()),
        ]);
    }
    for channel in &router.receivers {
        table.row(vec![
            format!("receiver {}", channel.index),
            channel.virtual_channel.to_string(),
            channel.slots.to_string(),
            count(&channel.arrived),
            count(&channel.held),
            "-".to_owned(),
            receiver_wait(glyphs, channel),
            head(glyphs, channel.head.as_ref()),
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

/// The credits of both ends of links.
pub(crate) fn ledger_table<'a>(ledgers: impl Iterator<Item = &'a LedgerState>) -> String {
    let mut table = Columns::new(&LEDGERS);
    for ledger in ledgers {
        table.row(vec![
            ledger.from.to_string(),
            ledger.to.to_string(),
            ledger.virtual_channel.to_string(),
            ledger.slots.to_string(),
            ledger.queued.to_string(),
            ledger.remote_free_slots.to_string(),
            ledger.in_flight.to_string(),
            format!("{}+{}", ledger.arrived, ledger.held),
            ledger.words(),
        ]);
    }
    table.text()
}

/// What the oldest packet of a receiver channel waits for.
pub(crate) fn receiver_wait(glyphs: Glyphs, channel: &ReceiverState) -> String {
    let towards: Vec<_> = channel.pending.iter().map(|direction| direction.name()).collect();
    let waits = short(glyphs, &channel.waits_for, |wait| word(&WAITS, *wait));
    format!("{waits} {}", towards.join("+")).trim_end().to_owned()
}

fn connection(glyphs: Glyphs, channel: &SenderState) -> String {
    let state = short(glyphs, &channel.connection, |state| word(&CONNECTIONS, *state));
    match channel.client {
        Some(client) => format!("{state} {client}"),
        None => state,
    }
}

pub(crate) fn head(glyphs: Glyphs, head: Option<&HeadState>) -> String {
    head.map_or("-".to_owned(), |head| short(glyphs, &head.packet, packet))
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
