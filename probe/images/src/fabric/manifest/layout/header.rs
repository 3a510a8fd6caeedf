//! The packet header of a router that a manifest describes. The manifest gives its type and size;
//! the members are those of tt-metal.md 4.7.

use super::Described;
use crate::fabric::builtin::pair;
use crate::fabric::enumeration::Enumeration;
use crate::fabric::header::{HOPS, Header, PacketLocations, Route};
use crate::fabric::location::{Formula, Location, Word};
use crate::fabric::tables::bytes_at;
use std::sync::Arc;

/// Offsets of a header's members.
const ADDRESS: u64 = 0;
const PAYLOAD_BYTES: u64 = 40;
const SEND_TYPE: u64 = 42;
const SOURCE_CHANNEL: u64 = 43;
const HOPS_AT: u64 = 44;
const ROUTE_BUFFER: u64 = 48;

/// `NocSendType`.
const SEND_TYPES: [(u64, &str); 9] = [
    (0, "NOC_UNICAST_WRITE"),
    (1, "NOC_UNICAST_INLINE_WRITE"),
    (2, "NOC_UNICAST_ATOMIC_INC"),
    (3, "NOC_FUSED_UNICAST_ATOMIC_INC"),
    (4, "NOC_UNICAST_SCATTER_WRITE"),
    (5, "NOC_MULTICAST_WRITE"),
    (6, "NOC_MULTICAST_ATOMIC_INC"),
    (7, "NOC_UNICAST_READ"),
    (8, "NOC_SPARSE_MCAST_WRITE"),
];

fn word(addr: u64, size: u32) -> Formula {
    Formula::Word(Word { addr, size })
}

impl Described<'_> {
    /// Returns the header; none if its size is too small for its members.
    pub(super) fn header(self) -> Option<Header> {
        let context = &self.manifest.context;
        let bytes = u64::from(context.header_bytes);
        let (route, destination, end) = if context.is_2d {
            let route_bytes = u64::from(context.route_bytes?);
            let at = ROUTE_BUFFER + route_bytes;
            let destination = pair(Formula::Halves, word(at, 2), word(at + 2, 2));
            (Route::Map(bytes_at(ROUTE_BUFFER, route_bytes)), destination, at + 4)
        } else {
            let words = 1 + u64::from(context.extension_words?);
            let hops = Some(Arc::new(Enumeration::new(&HOPS)));
            let end = HOPS_AT + 4 * words;
            (Route::Hops(bytes_at(HOPS_AT, 4 * words), hops), None, end)
        };
        let names = Some(Arc::new(Enumeration::new(&SEND_TYPES)));
        (end <= bytes).then(|| Header {
            bytes,
            facts: PacketLocations {
                send_type: Some(Location { formula: word(SEND_TYPE, 1), names }).into(),
                payload_bytes: Some(word(PAYLOAD_BYTES, 2).into()).into(),
                destination: destination.into(),
                source_channel: Some(word(SOURCE_CHANNEL, 1).into()).into(),
                to: Some(word(ADDRESS, 8).into()).into(),
                ..PacketLocations::default()
            },
            route: Some(route),
        })
    }
}
