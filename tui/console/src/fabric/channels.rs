//! The channels of a router.

use super::code;
use crate::glyph::Glyphs;
use crate::reading::short;
use crate::table::Columns;
use decode::state::{HeadState, LedgerState, PacketState, ReceiverState, RouterState, SenderState};
use images::Reading;
use images::fabric::{Enumerator, NocTarget, PacketFacts};
use layouts::NocXy;

const CHANNELS: [&str; 8] =
    ["CHANNEL", "VC", "SLOTS", "QUEUED", "IN FLIGHT", "CONNECTION", "WAITS FOR", "HEAD"];
const LEDGERS: [&str; 9] =
    ["FROM", "TO", "VC", "SLOTS", "QUEUED", "FREE", "IN FLIGHT", "ARRIVED+HELD", "VERDICT"];
/// A channel that exists and that its router does not serve.
const NOT_SERVICED: &str = "not serviced";
/// A count that the router keeps to itself.
const UNKNOWN: &str = "?";

/// The channels of a router, with their credits.
pub fn channel_table(glyphs: Glyphs, router: &RouterState) -> Columns {
    let mut table = Columns::new(&CHANNELS);
    let count = |reading: &Reading<u64>| short(glyphs, reading, u64::to_string);
    for channel in &router.senders {
        table.row(vec![
            format!("sender {}", channel.index),
            channel.virtual_channel.to_string(),
            channel.slots.to_string(),
            count(&channel.facts.queued),
            channel
                .in_flight_at_most
                .filter(|_| channel.facts.in_flight.known().is_none())
                .map_or_else(
                    || count(&channel.facts.in_flight),
                    |most| if most == 0 { most.to_string() } else { format!("<={most}") },
                ),
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
            count(&channel.facts.arrived),
            count(&channel.facts.held),
            match channel.facts.serviced.known() {
                Some(false) => NOT_SERVICED.to_owned(),
                _ => "-".to_owned(),
            },
            receiver_wait(glyphs, channel),
            head(glyphs, channel.head.as_ref()),
        ]);
    }
    for edge in &router.downstream {
        let tile = edge.facts.tile.known().map_or_else(String::new, NocXy::to_string);
        let credits = count(&edge.facts.credits);
        table.row(vec![
            format!("to {} {tile}", edge.direction.name()),
            edge.virtual_channel.to_string(),
            String::new(),
            format!("{credits} free"),
        ]);
    }
    table
}

/// The credits of both ends of links.
pub fn ledger_table<'a>(ledgers: impl Iterator<Item = &'a LedgerState>) -> Columns {
    let mut table = Columns::new(&LEDGERS);
    for ledger in ledgers {
        table.row(vec![
            ledger.from.to_string(),
            ledger.to.to_string(),
            ledger.virtual_channel.to_string(),
            ledger.slots.to_string(),
            ledger.queued.to_string(),
            ledger.remote_free_slots.map_or_else(|| UNKNOWN.to_owned(), |free| free.to_string()),
            ledger.in_flight.map_or_else(|| format!(">={}", ledger.arrived), |all| all.to_string()),
            ledger.held.map_or_else(
                || ledger.arrived.to_string(),
                |held| format!("{}+{held}", ledger.arrived),
            ),
            ledger.words(),
        ]);
    }
    table
}

/// What the oldest packet of a receiver channel waits for.
pub fn receiver_wait(glyphs: Glyphs, channel: &ReceiverState) -> String {
    let towards: Vec<_> = channel.pending().iter().map(|direction| direction.name()).collect();
    let waits = &channel.facts.waits_for;
    let waits = if waits.is("WAITS_FOR_NOTHING") { "-".to_owned() } else { code(glyphs, waits) };
    format!("{waits} {}", towards.join("+")).trim_end().to_owned()
}

fn connection(glyphs: Glyphs, channel: &SenderState) -> String {
    if channel.facts.serviced == Reading::Known(false) {
        return NOT_SERVICED.to_owned();
    }
    let state = code(glyphs, &channel.facts.connection);
    match channel.client() {
        Some(client) => format!("{state} {client}"),
        None => state,
    }
}

pub(super) fn head(glyphs: Glyphs, head: Option<&HeadState>) -> String {
    head.map_or("-".to_owned(), |head| short(glyphs, &head.packet, |it| packet(glyphs, it)))
}

/// A packet in a line.
fn packet(glyphs: Glyphs, packet: &PacketState) -> String {
    let PacketFacts { send_type, payload_bytes, ttl, source, number, to, .. } = &packet.facts;
    let count = |reading: &Reading<u64>| short(glyphs, reading, u64::to_string);
    let to = short(glyphs, to, |NocTarget { tile, addr }| format!("{tile}:{addr:#x}"));
    format!(
        "{} {} B from {} #{} to {to} ttl {} [{}]",
        short(glyphs, send_type, Enumerator::to_string),
        count(payload_bytes),
        short(glyphs, source, ToString::to_string),
        count(number),
        count(ttl),
        packet.route
    )
}
