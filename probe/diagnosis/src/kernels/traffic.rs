//! The traffic worker of the fabric: a list of packets, each with its destination and its route.

use crate::look::{Kernel, Look};
use layouts::NocAddr;
use machine::fabric::FabricNode;
use machine::snapshot::Span;

/// `sizeof(fabric_traffic_packet_t)`, and the offsets of its members.
const PACKET_BYTES: u64 = 32;
const TO_MESH: usize = 4;
const TO_DEVICE: usize = 6;
const HOPS: usize = 28;

/// The last packet that a worker on a line has sent.
pub(crate) struct Packet {
    /// Its entry in the list.
    pub(crate) at: NocAddr,
    pub(crate) connection: u8,
    pub(crate) to: FabricNode,
    pub(crate) hops: u8,
}

/// Returns the last packet that a worker has sent to one chip of a line.
pub(crate) fn last_packet(look: Look<'_>, worker: &Kernel<'_>) -> Option<Packet> {
    let span = span(worker)?;
    let bytes = look.snapshot.bytes(span.addr, span.len).ok()?;
    let half = |at: usize| Some(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    let (first, hops) = (*bytes.get(HOPS)?, *bytes.get(HOPS + 1)?);
    (first == hops && hops > 0).then_some(Packet {
        at: span.addr,
        connection: *bytes.first()?,
        to: FabricNode { mesh: half(TO_MESH)?, device: half(TO_DEVICE)? },
        hops,
    })
}

/// Returns where the last packet is listed that a worker on a line has sent.
pub(super) fn span(worker: &Kernel<'_>) -> Option<Span> {
    let state = |member: &str| worker.number(&format!("fabric_traffic_state.{member}"));
    if worker.name() != Some("fabric_traffic") || state("args.is_2d")? != 0 {
        return None;
    }
    let last = state("packets_sent")?.checked_sub(1)?;
    let at = state("args.packets_address")?.checked_add(last.checked_mul(PACKET_BYTES)?)?;
    Some(Span { addr: worker.place().at(at), len: PACKET_BYTES as u32 })
}
