//! Bounds of counts that a router keeps to itself, from the other end of its link.

use crate::state::{ReceiverState, RouterState, SenderState};
use images::Reading;
use machine::target::Mesh;

/// Finds, for senders whose count of packets in flight is not known, how many there can be: packets
/// that stand at the peer's receiver, and completions that are not processed.
pub(super) fn find(mesh: &Mesh, routers: &mut [RouterState]) {
    let bound = |router: &RouterState, sender: &SenderState| {
        if matches!(sender.facts.in_flight, Reading::Known(_)) {
            return None;
        }
        let peer = super::peer(mesh, router.at)?;
        let peer = routers.iter().find(|other| other.at == peer)?;
        let mut receivers = peer.receivers.iter();
        let receiver = receivers.find(|it| it.virtual_channel == sender.virtual_channel)?;
        let arrived = *receiver.facts.arrived.known()?;
        let there = if can_hold(receiver, sender.index) { arrived } else { 0 };
        // A completion counts until the router has processed it.
        let completed = sender.facts.completions.known().map_or(0, |completions| *completions);
        Some((there + completed).min(sender.slots))
    };
    let of_router = |router: &RouterState| {
        router.senders.iter().map(|sender| bound(router, sender)).collect::<Vec<_>>()
    };
    let bounds: Vec<_> = routers.iter().map(of_router).collect();
    for (router, bounds) in routers.iter_mut().zip(bounds) {
        for (sender, bound) in router.senders.iter_mut().zip(bounds) {
            sender.in_flight_at_most = bound;
        }
    }
}

/// Whether a packet of this sender channel can be in the receiver: as long as a slot was not read,
/// or names no channel, it can.
fn can_hold(receiver: &ReceiverState, sender: u8) -> bool {
    let of = |packet: &crate::state::PacketState| packet.facts.source_channel.known().copied();
    let slots = receiver.candidates.iter();
    let mut sources = slots.map(|slot| slot.packet.known().and_then(of));
    receiver.candidates.is_empty()
        || sources.any(|source| source.is_none_or(|source| source == u64::from(sender)))
}
