//! Waits of router channels: for each other, for the link and the NoC.

use super::stages::{is_stopped, stop_reason};
use super::{CONTROL, Search, count};
use crate::state::{
    DownstreamState, Party, ReceiverState, RouterState, SenderState, Wait, WaitReason,
};
use images::Reading;
use layouts::EthId;
use machine::fabric::Direction;

/// Whether the router downstream has no free slot.
fn is_full(edge: &DownstreamState) -> bool {
    edge.facts.credits == Reading::Known(0)
}

impl Search<'_> {
    pub(super) fn routers(&mut self) {
        for router in &self.fabric.routers {
            if let Some(words) = stop_reason(router) {
                self.note(Party::Router(router.at), words);
            }
            self.stage(router);
            // Its counters are of an earlier router, or of none.
            if router.facts.status.name() == Some("NOT_STARTED") {
                continue;
            }
            for channel in router.senders.iter().filter(|s| s.virtual_channel != CONTROL) {
                self.sender(router, channel);
            }
            for channel in router.receivers.iter().filter(|r| r.virtual_channel != CONTROL) {
                self.receiver(router, channel);
            }
        }
        self.host();
    }

    fn sender(&mut self, router: &RouterState, channel: &SenderState) {
        let who = Party::Sender(router.at, channel.index);
        let (queued, in_flight) = (count(&channel.facts.queued), channel.in_flight());
        if queued + in_flight == 0 {
            return;
        }
        let starved = queued > 0 && self.is_starved(router, channel);
        let full = in_flight > 0 && queued + in_flight >= channel.slots;
        let reason = if starved { WaitReason::Credit } else { WaitReason::Completion };
        let marks = [&channel.facts.sent, &channel.facts.completed];
        if is_stopped(router) {
            self.add(who, Party::Router(router.at), WaitReason::Router, marks);
        } else if let Some(ailment) = self.ailment(router) {
            self.note(Party::Link(router.at), ailment);
            self.add(who, Party::Link(router.at), WaitReason::Link, marks);
        } else if count(&channel.facts.completions) > 0 {
            self.turn(who, router);
        } else if starved || full {
            let receiver = self.receiver_of(router, channel.virtual_channel);
            self.add(who, receiver.unwrap_or(Party::Link(router.at)), reason, marks);
        } else if queued > 0 {
            self.turn(who, router);
        }
    }

    /// Whether the receiver at the other end has no free slot. If the router keeps the count to
    /// itself, it has none when a packet stands in each.
    fn is_starved(&self, router: &RouterState, channel: &SenderState) -> bool {
        match channel.facts.remote_free_slots {
            Reading::Known(free) => free == 0,
            _ => {
                self.peer_receiver(router, channel.virtual_channel).is_some_and(|(_, receiver)| {
                    receiver.facts.arrived.known().is_some_and(|arrived| *arrived >= receiver.slots)
                })
            }
        }
    }

    /// Returns the receiver channel at the other end, if it holds packets.
    fn receiver_of(&self, router: &RouterState, virtual_channel: u8) -> Option<Party> {
        let (at, found) = self.peer_receiver(router, virtual_channel)?;
        let holds = count(&found.facts.arrived) + count(&found.facts.held) > 0;
        holds.then_some(Party::Receiver(at, found.index))
    }

    fn peer_receiver(
        &self,
        router: &RouterState,
        virtual_channel: u8,
    ) -> Option<(EthId, &ReceiverState)> {
        let peer = self.router(self.peer(router.at)?)?;
        let found = peer.receivers.iter().find(|r| r.virtual_channel == virtual_channel)?;
        Some((peer.at, found))
    }

    fn receiver(&mut self, router: &RouterState, channel: &ReceiverState) {
        let who = Party::Receiver(router.at, channel.index);
        if count(&channel.facts.arrived) + count(&channel.facts.held) == 0 {
            return;
        }
        let marks = [&channel.facts.received, &channel.facts.completed];
        if is_stopped(router) {
            self.add(who, Party::Router(router.at), WaitReason::Router, marks);
            return;
        }
        match channel.facts.waits_for.name() {
            Some("WAITS_FOR_DOWNSTREAM") => {
                for direction in channel.pending() {
                    let on = self.downstream(router, channel, *direction);
                    let on = on.unwrap_or(Party::Router(router.at));
                    self.add(who, on, WaitReason::Downstream(*direction), marks);
                }
            }
            // The router keeps its reason to itself: each full edge is one.
            None if router.downstream.iter().any(is_full) => {
                for edge in router.downstream.iter().filter(|edge| is_full(edge)) {
                    let on = self.downstream(router, channel, edge.direction);
                    let on = on.unwrap_or(Party::Router(router.at));
                    self.add(who, on, WaitReason::Downstream(edge.direction), marks);
                }
            }
            Some("WAITS_FOR_NOC") => self.add(who, Party::Noc(router.at), WaitReason::Noc, marks),
            // All packets have left; only the completion cannot.
            _ if count(&channel.facts.arrived) == 0 => {
                if let Some(ailment) = self.ailment(router) {
                    self.note(Party::Link(router.at), ailment);
                    self.add(who, Party::Link(router.at), WaitReason::Link, marks);
                }
            }
            _ => self.turn(who, router),
        }
    }

    /// Adds a wait for the router itself: it lasts only if the router's loop does not turn.
    fn turn(&mut self, waiter: Party, router: &RouterState) {
        let on = Party::Router(router.at);
        // Where nothing counts its rounds, nothing would tell that it stands.
        if let Some(mark) = router.turns() {
            self.note(on, "its loop does not turn");
            self.all.push(Wait { waiter, on, reason: WaitReason::Router, mark });
        }
    }

    /// Returns the sender channel downstream that a packet enters next (tt-metal.md 4.4).
    fn downstream(
        &self,
        router: &RouterState,
        channel: &ReceiverState,
        towards: Direction,
    ) -> Option<Party> {
        let mine = *router.facts.direction.known()?;
        let edge = router.downstream.iter().find(|edge| edge.direction == towards)?;
        let next = self.router_on(router.at.chip, *edge.facts.tile.known()?)?;
        let over = channel.virtual_channel == 1 || router.facts.dateline == Reading::Known(true);
        let mut edges = router.downstream.iter();
        let has_second = edges.any(|edge| edge.direction == towards && edge.virtual_channel == 1);
        let two_dimensional = router.facts.two_dimensional == Reading::Known(true);
        let index = match (two_dimensional, mine.index() > towards.index()) {
            (false, _) => 1,
            (true, true) => mine.index(),
            (true, false) => mine.index() + 1,
        };
        if !over || !has_second {
            return Some(Party::Sender(next.at, index as u8));
        }
        // Of rings only the opposite router has a channel there.
        let second = next.senders.iter().filter(|sender| sender.virtual_channel == 1);
        let second: Vec<&SenderState> = second.collect();
        let place = if second.len() == 1 { 0 } else { index - 1 };
        second.get(place).map(|sender| Party::Sender(next.at, sender.index))
    }
}
