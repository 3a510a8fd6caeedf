//! Bounds of counts that a router keeps to itself, from the other end of its link.

use crate::state::ReceiverState;
use images::Reading;
use images::fabric::{Sender, SenderFacts};

/// Returns, for a sender whose count of packets in flight is not known, how many there can be:
/// packets that stand at the peer's receiver, and completions that are not processed.
pub(super) fn most_in_flight(
    sender: &Sender,
    facts: &SenderFacts,
    peer: &[ReceiverState],
) -> Option<u64> {
    if matches!(facts.in_flight, Reading::Known(_)) {
        return None;
    }
    let receiver = peer.iter().find(|it| it.virtual_channel == sender.virtual_channel)?;
    let arrived = *receiver.facts.arrived.known()?;
    let there = if can_hold(receiver, sender.index) { arrived } else { 0 };
    // A completion counts until the router has processed it.
    let completed = facts.completions.known().map_or(0, |completions| *completions);
    Some((there + completed).min(sender.slots))
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
