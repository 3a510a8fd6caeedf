//! Decodes the header of a packet (tt-metal.md 4.7).

use crate::state::PacketState;
use images::Reading;
use images::fabric::{Enumeration, Header, HeaderBytes, Locations as _, Route};

/// Letters of a 2D action, by its bits.
const ACTIONS: [(u64, char); 5] = [(1, 'E'), (2, 'W'), (4, 'N'), (8, 'S'), (0x20, '*')];

/// Decodes a header; absent if it has no send type or no destination address.
pub(super) fn decode(header: &Header, bytes: &[u8]) -> Reading<PacketState> {
    let facts = header.facts.read(&HeaderBytes(bytes));
    if facts.send_type.known().is_none() || facts.to.known().is_none() {
        return Reading::Absent;
    }
    let route = match &header.route {
        Some(Route::Hops(field, names)) => {
            field.read(bytes).map(|routing| hops(routing, names.as_deref()))
        }
        Some(Route::Map(field)) => field.bytes(bytes).map(map),
        None => None,
    };
    Reading::Known(PacketState { facts, route: route.unwrap_or_else(|| "?".to_owned()) })
}

/// Returns the remaining hops of a 1D route, this router's first.
fn hops(mut routing: u64, names: Option<&Enumeration>) -> String {
    let mut words = Vec::new();
    while routing != 0 {
        let hop = routing & 3;
        words.push(names.map_or_else(|| hop.to_string(), |names| names.of_value(hop).short()));
        routing >>= 2;
    }
    words.join(", ")
}

/// Returns the non-empty entries of a 2D map: number and letters.
fn map(entries: &[u8]) -> String {
    let words = entries.iter().enumerate().filter(|(_, action)| **action != 0);
    let letters = |action: u64| -> String {
        ACTIONS.iter().filter(|(bit, _)| action & bit != 0).map(|(_, letter)| *letter).collect()
    };
    words
        .map(|(at, action)| format!("{at}:{}", letters((*action).into())))
        .collect::<Vec<_>>()
        .join(" ")
}
