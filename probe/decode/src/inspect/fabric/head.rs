//! The header of a packet (tt-metal.md 4.7).

use crate::images::HeaderFields;
use crate::state::{PacketState, Reading};
use layouts::NocXy;
use machine::fabric::FabricNode;
use symbols::Field;

/// Bits of an address in `noc_address`; x and y have six bits each above them (tt-metal's `NOC_XY_ADDR`).
const ADDRESS_BITS: u32 = 36;
const COORDINATE_MASK: u64 = 0x3F;
/// What a hop of the 1D route does, by its two bits.
const HOPS: [&str; 4] = ["-", "write", "forward", "write+forward"];
/// Letters of a 2D action, by its bits.
const ACTIONS: [(u64, char); 5] = [(1, 'E'), (2, 'W'), (4, 'N'), (8, 'S'), (0x20, '*')];

/// Decodes a header.
pub(super) fn decode(fields: &HeaderFields, header: &[u8]) -> Reading<PacketState> {
    let read = |field: Option<Field>| field.and_then(|field| field.read(header));
    // A header without what says where its packet goes is none.
    let (Some(send_type), Some(address)) = (read(fields.send_type), read(fields.noc_address))
    else {
        return Reading::Absent;
    };
    let number = |field: Option<Field>| read(field).map_or(0, |value| value);
    let named = fields.send_types.iter().find(|(value, _)| *value == send_type);
    let coordinate = |shift: u32| (address >> shift & COORDINATE_MASK) as u8;
    let destination = read(fields.dst_device).zip(read(fields.dst_mesh));
    let node = |(device, mesh)| FabricNode { mesh: mesh as u16, device: device as u16 };
    Reading::Known(PacketState {
        send_type: named.map_or(Err(send_type), |(_, name)| Ok(*name)),
        payload_bytes: number(fields.payload),
        ttl: number(fields.ttl),
        source: node((number(fields.src_device), number(fields.src_mesh))),
        destination: destination.map(node).filter(|_| fields.two_dimensional),
        number: number(fields.number),
        noc_address: (
            NocXy { x: coordinate(ADDRESS_BITS), y: coordinate(ADDRESS_BITS + 6) },
            address & ((1 << ADDRESS_BITS) - 1),
        ),
        route: if fields.two_dimensional {
            map(fields
                .route_buffer
                .and_then(|field| field.bytes(header))
                .map_or(&[][..], |map| map))
        } else {
            hops(number(fields.routing))
        },
    })
}

/// The hops that are left of a 1D route, this router's first.
fn hops(mut routing: u64) -> String {
    let mut words = Vec::new();
    while routing != 0 {
        words.push(HOPS[(routing & 3) as usize]);
        routing >>= 2;
    }
    words.join(", ")
}

/// The entries of a 2D map that say something: number and letters.
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
